// GraphiQL's tabs of an earlier visit, in its own format.
const tabsKey = 'graphiql:tabState';
const queryKey = 'graphiql:query';
const variablesKey = 'graphiql:variables';
// The values that the examples were filled in with then: a list of { query, variables }.
const filledKey = 'filled';

function read(storage, key) {
  try {
    return JSON.parse(storage.getItem(key));
  } catch {
    return null;
  }
}

// write does without storing if the browser has no room, or blocks cookies.
function write(storage, key, value) {
  try {
    storage.setItem(key, value);
  } catch {}
}

// renewTabs fills in again the examples that a visitor has not changed, because ids and handles of an earlier visit may be gone,
// or taken, by now. Tabs that the visitor has changed stay.
export function renewTabs(storage, examples) {
  const filled = [read(storage, filledKey)].flat().filter(Boolean);
  const renew = (tab) => {
    const before = filled.find((example) => example.query === tab.query && (example.variables ?? '') === (tab.variables ?? ''));
    const now = before && examples.find((example) => nameOf(example.query) === nameOf(before.query));
    return now ? { ...tab, query: now.query, variables: now.variables ?? null } : tab;
  };
  const stored = read(storage, tabsKey);
  const isStored = Array.isArray(stored?.tabs) && stored.tabs.every(Boolean);
  const tabs = isStored ? stored.tabs.map(renew) : examples;
  if (isStored) write(storage, tabsKey, JSON.stringify({ ...stored, tabs }));
  // GraphiQL begins with these, shows no variables without them, and opens another tab if no tab has them.
  const open = tabs[stored?.activeTabIndex ?? 0] ?? tabs[0];
  write(storage, queryKey, open?.query ?? '');
  write(storage, variablesKey, open?.variables ?? '');
  write(storage, filledKey, JSON.stringify(examples));
}

function nameOf(query) {
  return /^(?:query|mutation|subscription) (\w+)/m.exec(query)?.[1];
}
