// Loses its connection, its post and its session, and does what the guide says.
import assert from 'node:assert/strict'
import { createClient } from 'graphql-ws'
import WebSocket from 'ws'
import { example } from './guide.mjs'
import { addComment, commentAdded, createPost, newToken, post, revoke, signIn, signOut, socketURL, within } from './scenario.mjs'

const { atStart, atEnd, inThread } = await example('adding', 'atStart', 'atEnd', 'inThread')()
const { isSignedOut } = await example('signedOut', 'isSignedOut')()

const sockets = []
class Recorded extends WebSocket {
  constructor(...args) { super(...args); sockets.push(this) }
}

// page is a page that the guide's examples keep connected.
async function page(token) {
  const session = { token }
  const { client } = await example('connection', 'client')({ url: socketURL, session, createClient: (options) => createClient({ ...options, webSocketImpl: Recorded }) })
  const { follow } = await example('follow', 'follow')({ client })
  return { client, session, follow }
}

// ending returns a promise of the reason for which a subscription ends, and what gives it.
const ending = () => { let end; return [new Promise((resolve) => { end = resolve }), (reason) => end(reason)] }

const create = async (text) => (await post(createPost, { text })).createPost.post.id
const cursorOf = async (id) => (await post('query($id: ID!) { post(id: $id) { comments { pageInfo { endCursor } } } }', { id })).post.comments.pageInfo.endCursor

// thread follows the comments on a new post.
async function thread(follow, text) {
  const id = await create(text)
  const say = (comment) => post(addComment, { in: { postId: id, text: comment } })
  await say('the first')
  const heard = []
  const [ended, onEnd] = ending()
  let look = () => {}
  const stop = follow('commentAdded', commentAdded, { post: id, after: await cursorOf(id) }, (item) => { heard.push(item.comment.text); look() }, onEnd)
  const hears = (texts) => within(Promise.race([
    new Promise((resolve) => { look = () => heard.length >= texts.length && resolve(); look() }),
    ended.then((reason) => { throw new Error(`the subscription has ended: ${JSON.stringify(reason)}`) }),
  ]), `${texts}`).then(() => assert.deepEqual(heard, texts))
  return { id, say, ended, stop, hears }
}

async function lostConnection() {
  const { client, follow } = await page(await signIn())
  const { say, stop, hears } = await thread(follow, 'a lost connection')
  await say('a'); await hears(['a'])
  for (const texts of [['a', 'b', 'c'], ['a', 'b', 'c', 'd', 'e']]) {
    sockets.at(-1).terminate()
    for (const text of texts.slice(-2)) await say(text)
    await hears(texts)
  }
  stop()
  await client.dispose()
}

async function deletedPost() {
  const { client, follow } = await page(await signIn())
  const { id, ended, say, hears } = await thread(follow, 'a deleted post')
  await say('a'); await hears(['a'])
  const changes = client.iterate({ query: 'subscription($ids: [ID!]!) { postChanged(postIds: $ids, current: true) { event postId } }', variables: { ids: [id] } })
  assert.equal((await within(changes.next(), 'the post')).value.data.postChanged.event, 'CHANGED')
  await post('mutation($id: ID!) { deletePost(input: {postId: $id}) { deletedPostId } }', { id })
  assert.deepEqual((await within(changes.next(), 'a removal')).value.data.postChanged, { event: 'REMOVED', postId: id })
  sockets.at(-1).terminate()
  assert.equal((await within(ended, 'an end'))[0].extensions.code, 'NOT_FOUND')
  await changes.return()
  await client.dispose()
}

// endedSession ends a session, or an access token, and begins again without it.
async function endedSession(token, end) {
  const { client, follow } = await page(token)
  const { id, ended, say, hears } = await thread(follow, 'an ended session')
  await say('a'); await hears(['a'])
  await end()
  const opened = sockets.length
  const reason = await within(ended, 'an end')
  assert.ok(isSignedOut(reason), `it ends with ${reason.code ?? JSON.stringify(reason)}`)
  assert.equal(sockets.length, opened, 'it connects again with the old token')
  await client.dispose()

  const signedOut = await page()
  const [refused, refuse] = ending()
  signedOut.follow('newsItemAdded', 'subscription($after: String) { newsItemAdded(after: $after) { cursor } }', {}, () => {}, refuse)
  assert.equal((await within(refused, 'a refusal'))[0].extensions.code, 'UNAUTHENTICATED')
  const [heard, hear] = ending()
  const stop = signedOut.follow('commentAdded', commentAdded, { post: id, after: await cursorOf(id) }, hear, hear)
  await say('b')
  assert.equal((await within(heard, 'a comment, signed out')).comment?.text, 'b')
  stop()
  await signedOut.client.dispose()
}

// resumedThread reads a thread in each order, and follows it from there. A comment that was answered and
// then deleted arrives before its reply, so the three lists become what the server has.
async function resumedThread() {
  const { client, follow } = await page(await signIn())
  const id = await create('a resumed thread')
  const say = async (text, parentId) => (await post(addComment, { in: { postId: id, text, parentId } })).addComment.comment.id
  const first = await say('the first')
  await say('the second')
  const said = 'fragment Said on Comment { id path text isDeleted author { handle } }'
  const orders = { oldest: 'OLDEST', newest: 'NEWEST', threaded: 'THREADED' }
  const read = (token) => post(`query($id: ID!) { post(id: $id) { ${Object.entries(orders).map(([name, order]) => (
    `${name}: comments(first: 50, order: ${order}) { edges { cursor node { ...Said } } pageInfo { hasPreviousPage hasNextPage startCursor endCursor } }`)).join(' ')} } } ${said}`, { id }, token)
  const lists = (await read()).post

  const [answered, above] = [await say('answered', first), await say('above')]
  await say('an answer', answered)
  const between = await say('between', above)
  await say('below', between)
  for (const comment of [answered, between, above]) await post('mutation($id: ID!) { deleteComment(input: {commentId: $id}) { userErrors { code } } }', { id: comment })

  const [arrived, arrive] = ending()
  const [failed, onEnd] = ending()
  const stop = follow('commentAdded', `subscription($post: ID!, $after: String) { commentAdded(postId: $post, after: $after) { cursor event ${
    Object.entries(orders).map(([name, order]) => `${name}: edge(order: ${order}) { cursor node { ...Said } }`).join(' ')} } } ${said}`,
  { post: id, after: lists.oldest.pageInfo.endCursor }, ({ event, ...edges }) => {
    assert.equal(event, 'ADDED')
    lists.oldest = atEnd(lists.oldest, edges.oldest)
    lists.newest = atStart(lists.newest, edges.newest)
    lists.threaded = inThread(lists.threaded, edges.threaded)
    if (edges.oldest.node.text === 'the last') arrive()
  }, onEnd)
  await say('the last')
  await within(Promise.race([arrived, failed.then((reason) => { throw new Error(JSON.stringify(reason)) })]), 'the last comment')
  assert.deepEqual(lists, (await read()).post)
  assert.equal(lists.oldest.edges.filter(({ node }) => node.isDeleted).length, 3)
  stop()
  await client.dispose()
}

await lostConnection()
await resumedThread()
await deletedPost()
const session = await signIn()
await endedSession(session, () => signOut(session))
const { id, token } = await newToken()
await endedSession(token, () => revoke(id))
console.log('ok connections that are lost, and subscriptions that end')
