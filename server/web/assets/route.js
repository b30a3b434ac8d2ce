// Addresses within the page: #/studies/NAME/VIEW and the like.

// address is that of a page, by its parts.
export function address(...parts) {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

// here are the parts of the present address.
export function here() {
  return location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decode);
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
