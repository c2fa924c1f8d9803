// What people have written and not sent yet, by person and place. It is in the tab until they send
// it, sign out, or close the tab.
const prefix = 'plaza draft ';

export function clearDrafts() {
  for (const key of Object.keys(storage())) if (key.startsWith(prefix)) storage().removeItem(key);
}

// openDraft returns { read, write, drop } for an object of values by their names, which are those
// of a form's fields.
export function openDraft(userId, place) {
  const key = `${prefix}${userId} ${place}`;
  const read = () => JSON.parse(storage().getItem?.(key) ?? '{}');
  function store(values) {
    try {
      storage().setItem?.(key, JSON.stringify(values));
    } catch { // it is full: drafts are a convenience
    }
  }
  return {
    read,
    write: (values) => store({ ...read(), ...values }),
    drop: (names) => store(Object.fromEntries(Object.entries(read()).filter(([name]) => !names.includes(name)))),
  };
}

// Browsers that refuse cookies refuse this, too.
function storage() {
  try {
    return sessionStorage;
  } catch {
    return {};
  }
}
