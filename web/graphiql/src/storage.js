// GraphiQL keeps its tabs in localStorage. The prefix keeps them apart from those of another GraphiQL
// that was once served on the same host and port.
const prefix = 'plaza:';

function keys() {
  return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
}

export const storage = {
  getItem: (key) => localStorage.getItem(prefix + key),
  setItem: (key, value) => localStorage.setItem(prefix + key, value),
  removeItem: (key) => localStorage.removeItem(prefix + key),
  clear: () => keys().forEach((key) => localStorage.removeItem(key)),
  get length() {
    return keys().length;
  },
};
