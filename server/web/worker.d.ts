// What the server puts before worker.js.
declare const version: string;
declare const files: string[];
