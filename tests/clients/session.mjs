// Signs in and out as the guide says, with what a browser does: it resolves addresses, keeps
// cookies, and says where its page comes from.
import assert from 'node:assert/strict'
import { example } from './guide.mjs'
import { post, token, url } from './scenario.mjs'

let cookie
async function browse(path, { credentials, headers, ...rest }) {
  assert.equal(credentials, 'include')
  const response = await fetch(url + path, { ...rest, headers: { ...headers, Origin: 'http://plaza.test', ...cookie && { Cookie: cookie } } })
  for (const set of response.headers.getSetCookie()) cookie = /Max-Age=0/i.test(set) ? undefined : set.split(';')[0]
  answers.push(response.status)
  return response
}
const answers = []
const viewer = async () => (await browse('/graphql', {
  method: 'POST', credentials: 'include', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ query: '{ viewer { user { handle } } }' }),
})).json()

assert.equal((await viewer()).data.viewer, null)
await example('session')({ fetch: browse, token })
assert.equal(answers.at(-1), 204)
assert.equal((await viewer()).data.viewer.user.handle, 'ada')

const ended = cookie
await example('signOut')({ fetch: browse })
assert.equal(answers.at(-1), 204)
assert.equal(cookie, undefined)
assert.equal((await viewer()).data.viewer, null)

cookie = ended
assert.equal((await viewer()).errors[0].extensions.code, 'UNAUTHENTICATED')
await assert.rejects(post('{ viewer { id } }', {}, token), /UNAUTHENTICATED/)
console.log('ok the session in a cookie')
