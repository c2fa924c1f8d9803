// The normalized cache: what the API's objects are, which lists there are, and what mutations and
// live updates change in them.
import { cacheExchange } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import schema from 'virtual:schema';
import { atEnd, atStart, inThread, toFront } from './lists.js';
import { AccessTokens, Circles, Discussion, Incoming, Me, News, Notifications, Thread, Wall } from './operations.js';

const postTypes = ['CheckinPost', 'LinkPost', 'PhotoPost', 'PollPost', 'StatusPost'];
const keyless = [
  'Audience', 'CaseReport', 'IdentityProvider', 'MentionEntity', 'Moderation', 'NotificationSetting', 'Picture', 'PostVersion', 'ReactionCount',
  'ReasonCount', 'ReplyPolicy', 'ReportedContent', 'Standing', 'SuggestedUser', 'TagEntity', 'UserError',
];

const pagesOfList = relayPagination();

// list joins the pages of a list, and leaves out what is gone from the cache: to evict an object,
// invalidating it is enough.
function list(parent, args, cache, info) {
  const all = pagesOfList(parent, args, cache, info);
  const isThere = (edge) => cache.resolve(cache.resolve(edge, 'node'), '__typename');
  return all && { ...all, edges: all.edges.filter(isThere) };
}

const resolvers = {
  Circle: { members: list },
  Comment: { discussion: list },
  Moderation: { auditLog: list, cases: list },
  Query: { usersByName: list },
  User: { followers: list, following: list, wall: list },
  Viewer: { blockedUsers: list, circles: list, incoming: list, mutedUsers: list, news: list, notifications: list, wall: list },
  ...Object.fromEntries(postTypes.map((type) => [type, { comments: list }])),
};

// edited returns data with one part replaced, unless there is none.
function edited(data, [name, ...path], change) {
  if (!data?.[name]) return data;
  return { ...data, [name]: path.length ? edited(data[name], path, change) : change(data[name]) };
}

// change changes a list of a query that is in the cache.
const change = (cache, query, variables, path, how) => cache.updateQuery({ query, variables }, (data) => edited(data, path, how));

const entry = (type, cursor, node) => ({ __typename: type, cursor, node });

// Posts that are added to the news bring no ads.
const toNews = (cache, edge) => change(cache, News, {}, ['viewer', 'news'], (news) => atStart(news, { ...edge, sponsored: null }));

function readAgain(cache, object, ...fields) {
  for (const { fieldName, arguments: args } of cache.inspectFields(object)) {
    if (fields.includes(fieldName)) cache.invalidate(object, fieldName, args);
  }
}

const readViewerAgain = (cache, ...fields) => readAgain(cache, cache.resolve('Query', 'viewer'), ...fields);

function evictPost(cache, id) {
  for (const __typename of postTypes) cache.invalidate({ __typename, id });
}

function insertComment(cache, { oldest, newest, threaded, comment }) {
  for (const [order, edge, place] of [['OLDEST', oldest, atEnd], ['NEWEST', newest, atStart], ['THREADED', threaded, inThread]]) {
    change(cache, Thread, { id: comment.post.id, order }, ['post', 'comments'], (comments) => place(comments, { ...edge, node: comment }));
  }
  for (const slug of comment.path.split('/')) { // the permalinks of all that it replies to
    change(cache, Discussion, { id: comment.post.id, slug }, ['post', 'comment', 'discussion'], (comments) => inThread(comments, { ...threaded, node: comment }));
  }
}

// After a follow or a change of circles, older posts appear in the news or leave them: they are
// read again from the top.
function afterCircles(result, { input }, cache) {
  readViewerAgain(cache, 'news', 'circles');
  if (input.circleId) readAgain(cache, { __typename: 'Circle', id: input.circleId }, 'members');
}

function afterMute(result, args, cache) {
  readViewerAgain(cache, 'news', 'incoming', 'wall', 'mutedUsers', 'notifications');
}

const readNotificationsAgain = (payload, args, cache) => readViewerAgain(cache, 'notifications');

// What moderators see is not live. When the first page of a list is read again, the further pages
// are out of date, and are read again after it.
function dropFurtherPages(result, { state, after, before }, cache, { parentKey, fieldName }) {
  if (after || before) return;
  for (const { fieldName: name, arguments: args } of cache.inspectFields(parentKey)) {
    if (name === fieldName && args.state === state && (args.after || args.before)) cache.invalidate(parentKey, name, args);
  }
}

// unlessRefused applies an update only to a payload without userErrors.
const unlessRefused = (update) => (result, args, cache) => {
  const payload = Object.values(result).find((value) => value?.userErrors);
  if (payload?.userErrors.length === 0) update(payload, args, cache);
};

const Mutation = {
  createPost({ post, newsEdge, wallEdge }, args, cache) {
    toNews(cache, { ...newsEdge, node: post });
    if (post.wallOwner) change(cache, Wall, { handle: post.wallOwner.handle }, ['user', 'wall'], (wall) => atStart(wall, { ...wallEdge, node: post }));
    readViewerAgain(cache, 'wall');
  },
  deletePost: ({ deletedPostId }, args, cache) => evictPost(cache, deletedPostId),
  addComment: (payload, args, cache) => insertComment(cache, payload),
  deleteComment({ removedCommentIds }, args, cache) {
    for (const id of removedCommentIds) cache.invalidate({ __typename: 'Comment', id });
  },
  createCircle: ({ edge }, args, cache) => change(cache, Circles, {}, ['viewer', 'circles'], (circles) => atEnd(circles, edge)),
  deleteCircle({ deletedCircleId }, args, cache) {
    cache.invalidate({ __typename: 'Circle', id: deletedCircleId });
    readViewerAgain(cache, 'news', 'circles');
  },
  createAccessToken: ({ accessToken }, args, cache) => change(cache, AccessTokens, {}, ['viewer', 'accessTokens'], (tokens) => [accessToken, ...tokens.filter(({ id }) => id !== accessToken.id)]),
  followUser: afterCircles,
  unfollowUser: afterCircles,
  addToCircle: afterCircles,
  removeFromCircle: afterCircles,
  muteUser: afterMute,
  unmuteUser: afterMute,
  muteThread: readNotificationsAgain,
  unmuteThread: readNotificationsAgain,
  markNotificationsRead: readNotificationsAgain,
  updateProfile(payload, { input }, cache) {
    change(cache, Me, {}, ['viewer'], (viewer) => ({ ...viewer, wallPolicy: input.wallPolicy }));
  },
};

// whenAdded puts a live post at the start of its list. After a gap, the list is read again.
const whenAdded = (field, insert, readFromTop) => (result, args, cache) => {
  const { event, cursor, post } = result[field];
  if (event === 'ADDED') insert(cache, entry('PostEdge', cursor, post));
  if (event === 'GAP') readFromTop(cache, args);
};

const Subscription = {
  newsItemAdded: whenAdded('newsItemAdded', toNews, (cache) => readViewerAgain(cache, 'news')),
  incomingAdded: whenAdded('incomingAdded', (cache, edge) => change(cache, Incoming, {}, ['viewer', 'incoming'], (incoming) => atStart(incoming, edge)), (cache) => readViewerAgain(cache, 'incoming')),
  wallPostAdded: whenAdded(
    'wallPostAdded',
    (cache, edge) => {
      change(cache, Wall, { handle: edge.node.wallOwner?.handle }, ['user', 'wall'], (wall) => atStart(wall, edge));
      readViewerAgain(cache, 'wall');
    },
    (cache, { userId }) => {
      readAgain(cache, { __typename: 'User', id: userId }, 'wall');
      readViewerAgain(cache, 'wall');
    },
  ),
  postChanged({ postChanged: { event, postId } }, args, cache) {
    if (event !== 'REMOVED') return;
    evictPost(cache, postId);
    readViewerAgain(cache, 'notifications'); // those about the post are gone, too
  },
  commentAdded({ commentAdded }, { postId }, cache) {
    if (commentAdded.event === 'ADDED') insertComment(cache, commentAdded);
    if (commentAdded.event === 'GAP') readThreadAgain(cache, postId);
  },
  commentChanged({ commentChanged: { event, commentId } }, { postId }, cache) {
    if (event === 'REMOVED') cache.invalidate({ __typename: 'Comment', id: commentId });
    if (event === 'GAP') readThreadAgain(cache, postId);
  },
  notificationAdded({ notificationAdded: { event, cursor, notificationId, notification, isInFront } }, args, cache) {
    if (event === 'REMOVED') cache.invalidate({ __typename: 'Notification', id: notificationId });
    if (isInFront) change(cache, Notifications, {}, ['viewer', 'notifications'], (all) => toFront(all, entry('NotificationEdge', cursor, notification)));
  },
};

function readThreadAgain(cache, id) {
  for (const __typename of postTypes) readAgain(cache, { __typename, id }, 'comments');
}

export const createCache = () => cacheExchange({
  schema, // with only `possibleTypes`, updates would not find lists of an interface
  keys: Object.fromEntries(keyless.map((name) => [name, () => null])),
  resolvers,
  updates: {
    Moderation: { auditLog: dropFurtherPages, cases: dropFurtherPages },
    Mutation: Object.fromEntries(Object.entries(Mutation).map(([name, update]) => [name, unlessRefused(update)])),
    Subscription,
  },
});
