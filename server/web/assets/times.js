// @ts-check
// Times that people have. Tests of the page take more.

export const times = { undo: 15_000 }; // milliseconds for which what was done can be undone
