// @ts-check
// What the user may do on this server: the role of the token, or nothing but look.

const roles = ["look", "measure", "run"]; // each allows what those before it do

export function may(meta, role) {
  return !meta.read_only && roles.indexOf(meta.role) >= roles.indexOf(role);
}

// limitOf says why something is not offered.
export function limitOf(meta) {
  return meta.read_only ? "read-only" : `your role: ${meta.role}`;
}
