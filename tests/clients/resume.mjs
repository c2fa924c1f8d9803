// Follows a thread while the database does not answer, twice: the subscription ends with RESUME, and
// the guide's follow begins it again after the last item. interruption_test.go has the database, which
// does not answer once while it is asked for what follows a certain comment, and not while a
// subscription begins after another one.
import assert from 'node:assert/strict'
import { createClient } from 'graphql-ws'
import WebSocket from 'ws'
import { example } from './guide.mjs'
import { addComment, commentAdded, createPost, post, signIn, socketURL, within } from './scenario.mjs'

const { client } = await example('connection', 'client')({
  url: socketURL, session: { token: await signIn() }, createClient: (options) => createClient({ ...options, webSocketImpl: WebSocket }),
})
const begun = [] // the subscriptions, with the cursors after which they began, and the reasons for which they ended
const recorded = {
  subscribe(request, sink) {
    const subscription = { after: request.variables.after }
    begun.push(subscription)
    return client.subscribe(request, { ...sink, error(reason) { subscription.ended = reason; sink.error(reason) } })
  },
}
const { follow } = await example('follow', 'follow')({ client: recorded })

const id = (await post(createPost, { text: 'an interruption' })).createPost.post.id
const say = (text) => post(addComment, { in: { postId: id, text } })
await say('the first')
const { post: { comments: { pageInfo: { endCursor } } } } = await post('query($id: ID!) { post(id: $id) { comments { pageInfo { endCursor } } } }', { id })

const heard = []
let look = () => {}
const stop = follow('commentAdded', commentAdded, { post: id, after: endCursor }, (item) => { heard.push(item); look() }, (reason) => { throw new Error(JSON.stringify(reason)) })
const hears = async (texts) => {
  await within(new Promise((resolve) => { look = () => heard.length >= texts.length && resolve(); look() }), `${texts}`)
  assert.deepEqual(heard.map(({ comment }) => comment.text), texts)
}
const said = []
for (const text of ['a', 'interrupted', 'b', 'interrupted again', 'c']) { said.push(text); await say(text); await hears(said) }
assert.deepEqual(begun.map(({ after }) => after), [endCursor, heard[0].cursor, heard[2].cursor], 'where it begins again')
assert.deepEqual(begun.map(({ ended }) => ended?.[0].extensions.code), ['RESUME', 'RESUME', undefined], 'why it has ended')
stop()

// A subscription that begins while the database does not answer. The page waits without waiting.
const waited = []
const hurried = await example('follow', 'follow')({ client: recorded, setTimeout: (begin, time) => { waited.push(time); return setTimeout(begin, 0) } })
await say('unavailable')
begun.length = heard.length = 0
const stopLate = hurried.follow('commentAdded', commentAdded, { post: id, after: endCursor }, (item) => { heard.push(item); look() }, (reason) => { throw new Error(JSON.stringify(reason)) })
await hears([...said, 'unavailable'])
assert.deepEqual(begun.map(({ ended }) => ended?.[0].extensions.code), ['UNAVAILABLE', undefined], 'why it has ended')
assert.deepEqual(begun.map(({ after }) => after), [endCursor, endCursor], 'where it begins again')
assert.ok(waited.length === 1 && waited[0] >= 5000, `it has waited for ${waited} ms`)
stopLate()
await client.dispose()

// pausesFor returns how long follow waits before it begins again, and with what it gives up, after an
// error with these extensions.
async function pausesFor(extensions) {
  const paused = [], given = []
  let failed = false
  const { follow: once } = await example('follow', 'follow')({
    client: { subscribe(_, sink) { if (!failed) { failed = true; sink.error([{ extensions }]) } return () => {} } },
    setTimeout: (begin, time) => { paused.push(Math.floor(time / 1000)); begin() },
  })
  once('commentAdded', commentAdded, {}, () => {}, (reason) => given.push(reason[0].extensions.code))
  return { paused, given }
}
assert.deepEqual(await pausesFor({ code: 'RESUME' }), { paused: [0], given: [] })
assert.deepEqual(await pausesFor({ code: 'TIMEOUT' }), { paused: [5], given: [] })
assert.deepEqual(await pausesFor({ code: 'RATE_LIMITED' }), { paused: [5], given: [] })
assert.deepEqual(await pausesFor({ code: 'RATE_LIMITED', retryAfter: 7 }), { paused: [7], given: [] })
assert.deepEqual(await pausesFor({ code: 'NOT_FOUND' }), { paused: [], given: ['NOT_FOUND'] })
console.log('ok subscriptions that the server ends')
