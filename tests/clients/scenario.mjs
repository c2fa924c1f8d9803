// What every client library is put through. An adapter is what a library offers, in one shape:
//   run(request) resolves to the result of a query or mutation;
//   subscribe(request, sink) starts a subscription, and returns a function that ends it.
import assert from 'node:assert/strict'

export const { PLAZA_URL: url, PLAZA_TOKEN: token, PLAZA_OTHER_TOKEN: otherToken } = process.env
export const endpoint = `${url}/graphql`
export const socketURL = endpoint.replace(/^http/, 'ws')
export const patience = 30_000

export const createPost = `mutation Create($text: String!) {
  createPost(input: {content: {status: {text: $text}}, audience: {kind: PUBLIC}}) { post { id text } userErrors { code message } }
}`
export const addComment = `mutation Comment($in: AddCommentInput!) { addComment(input: $in) { comment { id } userErrors { code message } } }`
export const commentAdded = `subscription Added($post: ID!, $after: String) {
  commentAdded(postId: $post, after: $after) { cursor event comment { text } }
}`

// post sends an operation without any library. Of errors, it accepts only that something is missing.
export async function post(query, variables, as = otherToken) {
  const response = await fetch(endpoint, {
    method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${as}` }, body: JSON.stringify({ query, variables }),
  })
  const answer = await response.json()
  assert.ok((answer.errors ?? []).every(({ extensions }) => extensions.code === 'NOT_FOUND'), JSON.stringify(answer.errors))
  return answer.data
}

// signIn begins another session of Ada, and signOut ends it.
export async function signIn() {
  return (await post('mutation { signIn(input: {handle: "ada", password: "password of ada"}) { token } }', {})).signIn.token
}
export const signOut = (session) => post('mutation { signOut { userErrors { code } } }', {}, session)

// newToken creates an access token of Ada, and revoke ends it.
export async function newToken() {
  const { createAccessToken: { token: created, accessToken } } = await post(
    'mutation { createAccessToken(input: {name: "a program", scopes: [READ_FEED]}) { token accessToken { id } } }', {}, token)
  return { token: created, id: accessToken.id }
}
export const revoke = (id) => post('mutation($id: ID!) { revokeAccessToken(input: {accessTokenId: $id}) { revokedAccessTokenId } }', { id }, token)

// within rejects if a promise is not settled in time.
export function within(promise, what, time = patience) {
  let timer
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`in vain: ${what}`)), time) })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

// stream collects what a subscription delivers.
class Stream {
  items = []
  #waiting = new Set()

  constructor(client, request) {
    this.ended = new Promise((resolve, reject) => {
      this.stop = client.subscribe(request, {
        next: (result) => { this.items.push(result); this.#waiting.forEach((look) => look()) },
        error: reject,
        complete: resolve,
      })
    })
    this.ended.catch(() => {}) // until() reports it
  }

  // until waits for a number of items.
  until(count, time = patience) {
    const arrived = new Promise((resolve) => {
      const look = () => this.items.length >= count && resolve()
      this.#waiting.add(look)
      look()
    })
    return within(Promise.race([arrived, this.ended.then(() => { throw new Error('the subscription has completed') })]), `item ${count}`, time)
  }

  // has reports whether a number of items arrive soon: no protocol says when a subscription has begun.
  has(count) {
    return this.until(count, 300).then(() => true, (late) => { if (/^in vain/.test(late.message)) return false; throw late })
  }

  get texts() {
    return this.items.map(({ data, errors }) => {
      assert.equal(errors, undefined, JSON.stringify(errors))
      return data.commentAdded.comment.text
    })
  }
}

// scenario puts a client through a query, a mutation, an error, and a subscription that resumes.
export async function scenario(name, client) {
  const { data: { viewer } } = await within(client.run({ query: '{ viewer { user { handle } } }' }), 'a query')
  assert.equal(viewer.user.handle, 'ada')

  const created = await within(client.run({ query: createPost, variables: { text: `by ${name}` } }), 'a mutation')
  assert.equal(created.data.createPost.post.text, `by ${name}`)
  const id = created.data.createPost.post.id

  const failed = await within(client.run({ query: '{ viewer { news(first: 1000) { nodes { id } } } }' }), 'an error')
  assert.equal(failed.errors?.[0].extensions.code, 'BAD_USER_INPUT', JSON.stringify(failed))
  if (client.refuse) await client.refuse({ query: '{ noSuchField }' })
  else await refuses(client, { query: '{ noSuchField }' })

  await resumes(client, id)
  console.log(`ok ${name}`)
}

async function refuses(client, request) {
  const refused = await within(client.run(request), 'a refusal')
  assert.equal(refused.errors?.[0].extensions.code, 'GRAPHQL_VALIDATION_FAILED', JSON.stringify(refused))
}

async function resumes(client, id) {
  const sent = []
  const comment = (text) => { sent.push(text); return post(addComment, { in: { postId: id, text } }) }
  const live = new Stream(client, { query: commentAdded, variables: { post: id } })
  do await comment(`comment ${sent.length}`); while (!await live.has(1))
  const first = sent.indexOf(live.texts[0])
  const { cursor } = live.items[0].data.commentAdded
  live.stop()
  await within(live.ended, 'the end of a subscription')

  await comment('while away')
  const resumed = new Stream(client, { query: commentAdded, variables: { post: id, after: cursor } })
  await resumed.until(sent.length - first - 1)
  await comment('live again')
  await resumed.until(sent.length - first - 1)
  assert.deepEqual(resumed.texts, sent.slice(first + 1))
  resumed.stop()
  await within(resumed.ended, 'the end of a resumed subscription')
}

// endsWithSession follows a post with a new session, signs out, and returns the stream, whose end it
// does not wait for.
export async function endsWithSession(session, client) {
  const { createPost: { post: { id } } } = await post(createPost, { text: 'an ended session' })
  const say = (text) => post(addComment, { in: { postId: id, text } })
  const live = new Stream(client, { query: commentAdded, variables: { post: id } })
  let said = 0
  do await say(`comment ${said++}`); while (!await live.has(1))
  await signOut(session)
  return live
}

// one returns run for libraries that have only subscribe.
export const one = (subscribe) => (request) => new Promise((resolve, reject) => {
  let result
  subscribe(request, { next: (r) => { result = r }, error: reject, complete: () => resolve(result) })
})
