// GraphiQL keeps its tabs in localStorage. The prefix keeps them apart from those of another GraphiQL
// that was once served on the same host and port.
const prefix = 'plaza:';

// read returns what a browser that blocks cookies, and so throws at any use of localStorage, has stored: nothing.
function read(action, nothing) {
  try {
    return action();
  } catch {
    return nothing;
  }
}

function keys() {
  return read(() => Object.keys(localStorage).filter((key) => key.startsWith(prefix)), []);
}

export const storage = {
  getItem: (key) => read(() => localStorage.getItem(prefix + key), null),
  setItem: (key, value) => localStorage.setItem(prefix + key, value), // may throw: GraphiQL then makes room
  removeItem: (key) => read(() => localStorage.removeItem(prefix + key)),
  clear: () => keys().forEach((key) => localStorage.removeItem(key)),
  get length() {
    return keys().length;
  },
};
