// How entries get into lists that are loaded: docs/frontends.md, "Adding and removing".

const has = (list, edge) => list.edges.some(({ node }) => node.id === edge.node.id);

function withEdges(list, edges) {
  const { startCursor, endCursor } = list.pageInfo; // they stay valid when the last entry goes
  const pageInfo = { ...list.pageInfo, startCursor: edges.at(0)?.cursor ?? startCursor, endCursor: edges.at(-1)?.cursor ?? endCursor };
  return { ...list, edges, pageInfo };
}

// What belongs to a page that is not loaded comes with it.
export const atStart = (list, edge) => (has(list, edge) || list.pageInfo.hasPreviousPage ? list : withEdges(list, [edge, ...list.edges]));
export const atEnd = (list, edge) => (has(list, edge) || list.pageInfo.hasNextPage ? list : withEdges(list, [...list.edges, edge]));

// backwards is a list that was read from its end: the last entry comes first, and the next page is
// the one before.
export function backwards(list) {
  if (!list) return list;
  const { hasPreviousPage, startCursor } = list.pageInfo;
  return { ...list, edges: list.edges.toReversed(), pageInfo: { ...list.pageInfo, hasNextPage: hasPreviousPage, endCursor: startCursor } };
}

// inThread: in THREADED order, a comment follows its parent and all that is under it.
export function inThread(list, edge) {
  const parent = edge.node.path.split('/').slice(0, -1).join('/');
  const last = parent ? list.edges.findLastIndex(({ node }) => `${node.path}/`.startsWith(`${parent}/`)) : list.edges.length - 1;
  if (last === list.edges.length - 1) return atEnd(list, edge);
  if (last < 0 || has(list, edge)) return list;
  return withEdges(list, list.edges.toSpliced(last + 1, 0, edge));
}

// toFront moves a notification to the start of its list.
export const toFront = (list, edge) => atStart({ ...list, edges: list.edges.filter(({ node }) => node.id !== edge.node.id) }, edge);
