// The steps that a normalized cache is put through. After each, every page is read from the cache
// alone, and compared with the server's answer. docs/frontends.md says what each step does.
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { parse } from 'graphql'
import { example } from './guide.mjs'
import { otherToken, patience, post, token, within } from './scenario.mjs'

const { withEdges, atStart, atEnd, inThread } = await example('adding', 'withEdges', 'atStart', 'atEnd', 'inThread')()
const { withoutAuthor } = await example('hiding', 'withoutAuthor')({ withEdges })

const shown = `fragment Shown on Post {
  id text editedAt commentCount viewerReaction reactionCounts { kind count } audience { kind } author { id handle viewerFollows }
  ... on PollPost { votesCount viewerVote options { id index text votesCount } }
  ... on PhotoPost { url alt } ... on LinkPost { url title } ... on CheckinPost { place latitude longitude }
}`
const comment = `fragment Said on Comment { id path text isDeleted editedAt repliesCount author { id handle } }`
const circle = `fragment Circled on Circle { id name isDefault membersCount }`

// pages are the queries of the pages that are open.
export const pages = {
  news: `query News { viewer { id user { id followingCount } news(first: 50) { edges { cursor node { ...Shown } } pageInfo { hasPreviousPage hasNextPage startCursor endCursor } } } } ${shown}`,
  bob: `query Bob { user(handle: "bob") { id handle followersCount followingCount viewerFollows } }`,
  thread: `query Thread($post: ID!) { post(id: $post) { ...Shown comments(first: 50, order: OLDEST) { edges { cursor node { ...Said } } pageInfo { hasPreviousPage hasNextPage startCursor endCursor } } } } ${shown} ${comment}`,
  wall: `query Wall { viewer { id user { id wall(first: 50) { edges { cursor node { ...Shown } } pageInfo { hasPreviousPage hasNextPage startCursor endCursor } } } } } ${shown}`,
  incoming: `query Incoming { viewer { id incoming(first: 50) { edges { cursor node { ...Shown } } pageInfo { hasPreviousPage hasNextPage startCursor endCursor } } } } ${shown}`,
  circles: `query Circles { viewer { id circles(first: 50) { edges { cursor node { ...Circled } } pageInfo { hasPreviousPage hasNextPage startCursor endCursor } } } } ${circle}`,
  newest: `query Newest($post: ID!) { post(id: $post) { id comments(first: 50, order: NEWEST) { edges { cursor node { ...Said } } pageInfo { hasPreviousPage hasNextPage startCursor endCursor } } } } ${comment}`,
  threaded: `query Threaded($post: ID!) { post(id: $post) { id comments(first: 50, order: THREADED) { edges { cursor node { ...Said } } pageInfo { hasPreviousPage hasNextPage startCursor endCursor } } } } ${comment}`,
  notifications: `query Notifications { viewer { id unreadNotificationsCount notifications(first: 50) {
    edges { cursor node { id kind actorsCount actors { id handle } isRead updatedAt } } pageInfo { hasPreviousPage hasNextPage startCursor endCursor } } } }`,
}

// parts are lists of which only the beginning is loaded, until someone asks for more.
const part = (order) => `query ${order}($post: ID!, $first: Int = 3, $after: String) { post(id: $post) { id comments(first: $first, order: ${order}, after: $after) {
  edges { cursor node { ...Said } } pageInfo { hasPreviousPage hasNextPage startCursor endCursor } } } } ${comment}`
const parts = { partOldest: part('OLDEST'), partNewest: part('NEWEST'), partThreaded: part('THREADED') }
export const queries = { ...pages, ...parts }

// given returns the variables of a query.
export const given = (name, { post, long }) => name in parts ? { post: long } : queries[name].includes('$post') ? { post } : {}

const inserting = (page, path) => (edge) => [page, (data) => edited(data, path, (list) => atStart(list, edge))]
const appending = (page, path) => (edge) => [page, (data) => edited(data, path, (list) => atEnd(list, edge))]
const insertPost = inserting('news', ['viewer', 'news'])
const insertOnWall = inserting('wall', ['viewer', 'user', 'wall'])
const insertIncoming = inserting('incoming', ['viewer', 'incoming'])
// inserted puts a comment into its lists, given its entries by their orders.
function inserted({ oldest, newest, threaded }, { update }, [intoOldest, intoNewest, intoThreaded]) {
  const comments = (list, place, edge) => update(list, (data) => edited(data, ['post', 'comments'], (list) => place(list, edge)))
  comments(intoOldest, atEnd, oldest)
  comments(intoNewest, atStart, newest)
  comments(intoThreaded, inThread, threaded)
}
const whole = ['thread', 'newest', 'threaded']
const entries = 'oldest: edge(order: OLDEST) { cursor node { ...Said } } newest: edge(order: NEWEST) { cursor node { ...Said } } threaded: edge(order: THREADED) { cursor node { ...Said } }'
const appendCircle = appending('circles', ['viewer', 'circles'])
const moveToTop = (edge) => ['notifications', (data) => edited(data, ['viewer', 'notifications'], (list) => (
  atStart({ ...list, edges: list.edges.filter((e) => e.node.id !== edge.node.id) }, edge)))]

// edited returns data with one part replaced.
function edited(data, [name, ...path], change) {
  return data && { ...data, [name]: path.length ? edited(data[name], path, change) : change(data[name]) }
}

// onLive is what the guide says about each event. cache.update(page, change) changes a page, and
// cache.evict(object) removes an object.
export const onLive = {
  newsItemAdded: ({ event, cursor, post }, cache) => {
    if (event === 'ADDED') cache.update(...insertPost({ __typename: 'PostEdge', cursor, node: post }))
  },
  postChanged: ({ event, postId }, cache, { typeOf }) => {
    if (event === 'REMOVED') cache.evict({ __typename: typeOf(postId), id: postId })
  },
  wallPostAdded: ({ event, cursor, post }, cache) => {
    if (event === 'ADDED') cache.update(...insertOnWall({ __typename: 'PostEdge', cursor, node: post }))
  },
  incomingAdded: ({ event, cursor, post }, cache) => {
    if (event === 'ADDED') cache.update(...insertIncoming({ __typename: 'PostEdge', cursor, node: post }))
  },
  commentAdded: ({ event, comment, ...edges }, cache, w) => {
    if (event === 'ADDED') inserted(edges, cache, comment.post.id === w.variables.long ? Object.keys(parts) : whole)
  },
  commentChanged: ({ event, commentId }, cache) => {
    if (event === 'REMOVED') cache.evict({ __typename: 'Comment', id: commentId })
  },
  notificationAdded: ({ event, cursor, notificationId, notification, isInFront }, cache) => {
    if (event === 'REMOVED') cache.evict({ __typename: 'Notification', id: notificationId })
    if (isInFront) cache.update(...moveToTop({ __typename: 'NotificationEdge', cursor, node: notification }))
  },
}

const subscriptions = {
  newsItemAdded: `subscription { newsItemAdded { cursor event post { ...Shown } } } ${shown}`,
  wallPostAdded: `subscription($me: ID!) { wallPostAdded(userId: $me) { cursor event post { ...Shown } } } ${shown}`,
  incomingAdded: `subscription { incomingAdded { cursor event post { ...Shown } } } ${shown}`,
  commentAdded: `subscription($post: ID!) { commentAdded(postId: $post) { event ${entries} comment { id parent { id repliesCount } post { id commentCount } } } } ${comment}`,
  commentChanged: `subscription($post: ID!) { commentChanged(postId: $post) { event commentId comment { ...Said } } } ${comment}`,
  notificationAdded: `subscription { notificationAdded { cursor event notificationId isInFront notification { id kind actorsCount actors { id handle } isRead updatedAt } viewer { id unreadNotificationsCount } } }`,
  postChanged: `subscription($posts: [ID!]!) { postChanged(postIds: $posts, current: true) { event postId post { ...Shown } } } ${shown}`,
}

// mutation writes a mutation that takes one input.
const mutation = (name, fields) => `mutation($in: ${name[0].toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $in) { ${fields} userErrors { code message } } }`
const withShown = (name, fields = 'post { ...Shown }') => `${mutation(name, fields)} ${shown}`
const status = (text) => ({ status: { text } })

const follow = 'user { id followersCount viewerFollows } viewer { id user { id followingCount } }'
const everyone = { kind: 'PUBLIC' }

const said = `${mutation('addComment', `comment { id parent { id repliesCount } post { id commentCount } } ${entries}`)} ${comment}`

// hide takes what someone wrote out of pages.
const hide = (cache, id, from) => { for (const page of from) cache.update(page, (data) => data && withoutAuthor(data, id)) }

// mine are the steps of the person whose cache it is: document, input, what to do with the payload,
// and the pages that the guide says to read again.
const mine = (name, document, input, { apply, reread = [] } = {}) => ({ name, run: async (w) => {
  const payload = (await w.client.mutate(document, { in: await input(w) }, apply && ((data, cache) => apply(data, cache, w))))[document.match(/\{ (\w+)\(/)[1]]
  assert.deepEqual(payload.userErrors, [], name)
  w.last = payload
  for (const page of reread) await w.client.fetch(page, w.variables)
} })

// theirs are the steps of someone else, which arrive as live events.
const theirs = (name, mutationName, input, { fields = '', notifies = false } = {}) => ({ name, run: async (w) => {
  const before = await notifications()
  const payload = (await post(mutation(mutationName, fields), { in: input(w) }))[mutationName]
  assert.deepEqual(payload.userErrors, [], name)
  w.last = payload
  while (notifies && (await notifications()).length === before.length) await pause(20)
} })
const notifications = async () => (await post(pages.notifications, {}, token)).viewer.notifications.edges
const remember = (name, step) => ({ ...step, run: async (w) => { await step.run(w); w[name] = (w.last.post ?? w.last.comment ?? w.last.circle).id } })

const steps = [
  mine('follow', mutation('followUser', follow), (w) => ({ userId: w.bob }), { reread: ['news', 'circles'] }),
  remember('mine', mine('post', withShown('createPost', 'post { ...Shown } newsEdge { cursor node { ...Shown } } wallEdge { cursor node { ...Shown } }'), () => ({ content: status('new'), audience: everyone }),
    { apply: ({ newsEdge, wallEdge }, cache) => { cache.update(...insertPost(newsEdge)); cache.update(...insertOnWall(wallEdge)) } })),
  mine('edit', withShown('editPost'), (w) => ({ postId: w.mine, content: status('edited') })),
  mine('narrow the audience', withShown('setPostAudience'), (w) => ({ postId: w.mine, audience: { kind: 'ONLY_ME' } })),
  mine('react', withShown('addReaction'), (w) => ({ postId: w.theirs, kind: 'LOVE' })),
  mine('react again', withShown('addReaction'), (w) => ({ postId: w.theirs, kind: 'LIKE' })),
  mine('take the reaction back', withShown('removeReaction'), (w) => ({ postId: w.theirs })),
  mine('vote', withShown('votePoll'), (w) => ({ postId: w.poll, option: 1 })),
  remember('said', mine('comment', said, (w) => ({ postId: w.thread, text: 'said' }), { apply: (edges, cache) => inserted(edges, cache, whole) })),
  remember('reply', mine('reply', said, (w) => ({ postId: w.thread, parentId: w.said, text: 'reply' }), { apply: (edges, cache) => inserted(edges, cache, whole) })),
  mine('edit a comment', `${mutation('editComment', 'comment { ...Said }')} ${comment}`, (w) => ({ commentId: w.said, text: 'said better' })),
  ...[['delete a comment with a reply', 'said'], ['delete a comment', 'reply']].map(([name, which]) =>
    mine(name, `${mutation('deleteComment', 'removedCommentIds comment { ...Said } post { id commentCount } parent { id repliesCount }')} ${comment}`, (w) => ({ commentId: w[which] }),
      { apply: ({ removedCommentIds }, cache) => { for (const id of removedCommentIds) cache.evict({ __typename: 'Comment', id }) } })),

  remember('friends', mine('create a circle', `${mutation('createCircle', 'circle { id } edge { cursor node { ...Circled } }')} ${circle}`, () => ({ name: 'Friends' }),
    { apply: ({ edge }, cache) => cache.update(...appendCircle(edge)) })),
  mine('rename it', `${mutation('renameCircle', 'circle { ...Circled }')} ${circle}`, (w) => ({ circleId: w.friends, name: 'Close friends' })),
  mine('add to it', `${mutation('addToCircle', `circle { ...Circled } ${follow}`)} ${circle}`, (w) => ({ circleId: w.friends, userId: w.bob })),
  mine('remove from it', `${mutation('removeFromCircle', `circle { ...Circled } ${follow}`)} ${circle}`, (w) => ({ circleId: w.friends, userId: w.bob })),
  mine('delete it', mutation('deleteCircle', 'deletedCircleId'), (w) => ({ circleId: w.friends }),
    { apply: ({ deletedCircleId }, cache) => cache.evict({ __typename: 'Circle', id: deletedCircleId }) }),
  mine('mute', mutation('muteUser', 'user { id viewerIsMuting }'), (w) => ({ userId: w.bob }),
    { apply: (_, cache, w) => hide(cache, w.bob, ['news', 'incoming', 'wall']), reread: ['notifications'] }),
  mine('unmute', mutation('unmuteUser', 'user { id viewerIsMuting }'), (w) => ({ userId: w.bob }), { reread: ['news', 'incoming', 'wall', 'notifications'] }),

  theirs('they post', 'createPost', () => ({ content: status('live'), audience: everyone })),
  theirs('they post a photo', 'createPost', () => ({ content: { photo: { url: 'https://site.example/a.png', alt: 'a' } }, audience: everyone })),
  theirs('they post a link', 'createPost', () => ({ content: { link: { url: 'https://site.example/', title: 'b' } }, audience: everyone })),
  theirs('they check in', 'createPost', () => ({ content: { checkin: { place: 'Ulm', latitude: 48.4, longitude: 9.99 } }, audience: everyone })),
  theirs('they post on the wall', 'createPost', (w) => ({ content: status('hello'), audience: everyone, wallOwnerId: w.me }), { notifies: true }),
  theirs('they edit', 'editPost', (w) => ({ postId: w.theirs, content: status('edited by bob') })),
  theirs('they react', 'addReaction', (w) => ({ postId: w.thread, kind: 'LOVE' }), { notifies: true }),
  theirs('they take the reaction back', 'removeReaction', (w) => ({ postId: w.thread })),
  theirs('they vote', 'votePoll', (w) => ({ postId: w.poll, option: 0 })),
  remember('heard', theirs('they comment', 'addComment', (w) => ({ postId: w.thread, text: 'heard' }), { fields: 'comment { id }', notifies: true })),
  theirs('they edit a comment', 'editComment', (w) => ({ commentId: w.heard, text: 'heard better' })),
  theirs('they delete a comment', 'deleteComment', (w) => ({ commentId: w.heard })),
  remember('asked', theirs('they comment again', 'addComment', (w) => ({ postId: w.thread, text: 'asked' }), { fields: 'comment { id }', notifies: true })),
  remember('answered', theirs('they reply', 'addComment', (w) => ({ postId: w.thread, parentId: w.asked, text: 'answered' }), { fields: 'comment { id }' })),
  remember('added', theirs('they reply again', 'addComment', (w) => ({ postId: w.thread, parentId: w.asked, text: 'added' }), { fields: 'comment { id }' })),
  theirs('they delete a reply', 'deleteComment', (w) => ({ commentId: w.added })),
  theirs('they delete a comment with a reply', 'deleteComment', (w) => ({ commentId: w.asked })),
  theirs('they delete the last reply of a tombstone', 'deleteComment', (w) => ({ commentId: w.answered })),
  mine('comment in a long thread', said, (w) => ({ postId: w.long, text: '6' }), { apply: (edges, cache) => inserted(edges, cache, Object.keys(parts)) }),
  mine('reply in a long thread', said, (w) => ({ postId: w.long, parentId: w.first, text: 'another reply' }), { apply: (edges, cache) => inserted(edges, cache, Object.keys(parts)) }),
  theirs('they comment in a long thread', 'addComment', (w) => ({ postId: w.long, text: '7' })),
  theirs('they reply in a long thread', 'addComment', (w) => ({ postId: w.long, parentId: w.first, text: 'the last reply' })),
  { name: 'read the rest of a long thread', run: (w) => within(readOn(w), 'the rest of a long thread') },

  theirs('they narrow the audience', 'setPostAudience', (w) => ({ postId: w.narrowed, audience: { kind: 'ONLY_ME' } })),
  theirs('they delete a post', 'deletePost', (w) => ({ postId: w.deleted })),

  mine('read notifications', mutation('markNotificationsRead', 'viewer { id unreadNotificationsCount notifications(first: 50) { edges { cursor node { id isRead } } pageInfo { hasPreviousPage hasNextPage startCursor endCursor } } }'),
    async () => ({ upTo: (await notifications())[0].cursor })),
  mine('delete', mutation('deletePost', 'deletedPostId'), (w) => ({ postId: w.mine }),
    { apply: ({ deletedPostId }, cache) => cache.evict({ __typename: 'StatusPost', id: deletedPostId }) }),
  // so that there is something to hide
  theirs('they post on the wall again', 'createPost', (w) => ({ content: status('hello again'), audience: everyone, wallOwnerId: w.me })),
  remember('ours', theirs('they comment once more', 'addComment', (w) => ({ postId: w.thread, text: 'once more' }), { fields: 'comment { id }' })),
  mine('reply to them', said, (w) => ({ postId: w.thread, parentId: w.ours, text: 'below' }), { apply: (edges, cache) => inserted(edges, cache, whole) }),
  mine('mute again', mutation('muteUser', 'user { id viewerIsMuting }'), (w) => ({ userId: w.bob }),
    { apply: (_, cache, w) => hide(cache, w.bob, ['news', 'incoming', 'wall']), reread: ['notifications'] }),
  mine('unmute again', mutation('unmuteUser', 'user { id viewerIsMuting }'), (w) => ({ userId: w.bob }), { reread: ['news', 'incoming', 'wall', 'notifications'] }),
  mine('block a followed user', mutation('blockUser', 'user { id } viewer { id user { id followingCount } }'), (w) => ({ userId: w.bob }),
    { apply: (_, cache, w) => hide(cache, w.bob, Object.keys(pages)), reread: ['circles', 'notifications', 'bob'] }),
  mine('unblock', mutation('unblockUser', 'user { id }'), (w) => ({ userId: w.bob }), { reread: Object.keys(pages) }),
  mine('follow again', mutation('followUser', follow), (w) => ({ userId: w.bob }), { reread: ['news', 'circles'] }),
  mine('unfollow', mutation('unfollowUser', follow), (w) => ({ userId: w.bob }), { reread: ['news', 'circles'] }),
  mine('block', mutation('blockUser', 'user { id } viewer { id user { id followingCount } }'), (w) => ({ userId: w.bob }),
    { apply: (_, cache, w) => hide(cache, w.bob, Object.keys(pages)), reread: ['circles', 'notifications', 'bob'] }),
]

async function world(client) {
  const create = async (as, content) => {
    const { createPost } = await post(mutation('createPost', 'post { id }'), { in: { content, audience: everyone } }, as)
    return createPost.post.id
  }
  const { bob, me } = await post('{ bob: user(handle: "bob") { id } me: user(handle: "ada") { id } }')
  const w = { client, bob: bob.id, me: me.id }
  w.thread = await create(token, status('the thread'))
  w.poll = await create(otherToken, { poll: { question: 'Which?', options: ['this', 'that'] } })
  for (const name of ['theirs', 'narrowed', 'deleted']) w[name] = await create(otherToken, status(name))
  w.long = await create(token, status('a long thread'))
  const say = async (text, parentId) => (await post(mutation('addComment', 'comment { id }'), { in: { postId: w.long, text, parentId } })).addComment.comment.id
  w.first = await say('1')
  for (const text of ['2', '3', '4', '5']) await say(text)
  await say('a reply', w.first)
  w.variables = { post: w.thread, long: w.long }
  w.typeOf = (id) => id === w.poll ? 'PollPost' : 'StatusPost'
  return w
}

// plain removes what the comparison leaves out: the names of types, which a client adds. After a
// removal, clients may keep a cursor of the entry that was at an end, also in an empty list: it is
// still a position, where the list ends.
const plain = (value) => JSON.parse(JSON.stringify(value, (key, part) => key === '__typename' ? undefined : part?.pageInfo ? { ...part, pageInfo: tidy(part) } : part))
function tidy({ edges, pageInfo }) {
  const { startCursor, endCursor, ...rest } = pageInfo
  const at = (cursor, end) => !edges.length || end?.cursor === cursor || gone(cursor) ? 'the end' : `another place: ${cursor}`
  return { ...rest, startCursor: at(startCursor, edges.at(0)), endCursor: at(endCursor, edges.at(-1)) }
}

// gone tells whether a cursor is that of an entry that was removed.
let present = new Set()
const known = new Set()
const gone = (cursor) => known.has(cursor) && !present.has(cursor)
function note(data) {
  present = new Set()
  JSON.stringify(data, (key, part) => { if (key === 'cursor') { known.add(part); present.add(part) } return part })
}

// differences compares the cache with the server, until they agree or time is up.
async function differences(w, time) {
  const found = []
  for (const page of Object.keys(pages)) {
    const deadline = Date.now() + time
    for (;;) {
      const answer = await post(pages[page], given(page, w.variables), token)
      note(answer)
      const server = plain(answer)
      const cached = plain(await w.client.cached(page, w.variables) ?? null)
      try { assert.deepEqual(cached, server); break } catch (difference) {
        if (Date.now() > deadline) {
          found.push(`${page}: ${difference.message}`)
          await w.client.fetch(page, w.variables) // so that each difference is reported once
          break
        }
      }
      await pause(50)
    }
  }
  return found
}

// readOn loads the rest of the lists of which there is only a part, and compares them with the server.
async function readOn(w) {
  const comments = async (name) => (await w.client.cached(name, w.variables)).post.comments
  while ((await comments('partNewest')).edges.length < 7) await pause(20) // until what was written last has arrived
  for (const name of Object.keys(parts)) {
    for (let list = await comments(name); list.pageInfo.hasNextPage; list = await comments(name)) {
      await w.client.fetch(name, w.variables, { after: list.pageInfo.endCursor })
    }
    const server = await post(parts[name], { ...given(name, w.variables), first: 100 }, token)
    assert.deepEqual(plain((await comments(name)).edges), plain(server.post.comments.edges), name)
  }
}

// compare runs all steps with one client.
export async function compare(name, open) {
  let w, current
  const begun = new Promise((resolve) => { current = resolve })
  const client = open({ onLive: (field, payload, cache) => {
    onLive[field](payload, cache, w)
    if (field === 'postChanged') current()
  } })
  w = await world(client)
  for (const page of Object.keys(queries)) await client.fetch(page, w.variables)
  for (const [field, document] of Object.entries(subscriptions)) {
    const values = { posts: [w.thread, w.poll, w.theirs, w.narrowed, w.deleted], post: w.thread, me: w.me }
    const names = parse(document).definitions[0].variableDefinitions.map(({ variable }) => variable.name.value)
    client.listen(field, document, Object.fromEntries(names.map((n) => [n, values[n]])))
    if (field === 'commentAdded') client.listen(field, document, { post: w.long })
  }
  await within(begun, 'the posts as they are now') // the last subscription, on the same socket
  for (const step of steps) {
    await step.run(w)
    const found = await differences(w, Number(process.env.PLAZA_CLIENTS_PATIENCE ?? patience / 3))
    for (const difference of found) console.log(`${name}: after "${step.name}": ${difference}`)
    if (found.length) process.exitCode = 1
  }
  console.log(`${name}: ${steps.length} steps`)
  client.close()
}
