// Follows a thread while the database does not answer, twice: the subscription ends with RESUME, and
// the guide's follow begins it again after the last item. interruption_test.go has the database, which
// does not answer once while it is asked for what follows a certain comment.
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
await client.dispose()
console.log('ok subscriptions that the server ends')
