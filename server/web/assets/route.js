// @ts-check
// Addresses within the page: #/studies/NAME/VIEW, and after a question mark what is seen there.

// address is that of a page, by its parts.
export function address(...parts) {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

// here are the parts of the present address.
export function here() {
  return location.hash.split("?")[0].replace(/^#\/?/, "").split("/").filter(Boolean).map(decode);
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// seen is what the present address says of the view.
export function seen() {
  return new URLSearchParams(location.hash.split("?")[1] ?? "");
}

// note writes to the address what is seen, so that it can be shared; null removes a word. The
// back button undoes a step, and nothing else.
export function note(words, { step = false } = {}) {
  const query = seen();
  for (const [name, value] of Object.entries(words)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString().replaceAll("%2C", ",");
  const to = location.hash.split("?")[0] + (text && `?${text}`);
  if (to === location.hash) return;
  if (step) history.pushState(null, "", to);
  else history.replaceState(null, "", to);
}
