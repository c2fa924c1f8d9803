import assert from 'node:assert/strict'
import { createClient } from 'graphql-sse'
import { endpoint, endsWithSession, one, scenario, signIn, token, within } from './scenario.mjs'

for (const singleConnection of [false, true]) {
  const open = (bearer) => createClient({ url: endpoint, singleConnection, headers: { Authorization: `Bearer ${bearer}` }, retryAttempts: 0 })
  const client = open(token)
  const subscribe = client.subscribe.bind(client)
  await scenario(`graphql-sse, ${singleConnection ? 'single' : 'distinct'} connections`, {
    run: one(subscribe), subscribe,
    // With a single connection, the response to the request has the errors; the library gives its status.
    refuse: singleConnection && ((request) => assert.rejects(within(one(subscribe)(request), 'a refusal'), (reason) => reason.response?.status === 400)),
  })
  client.dispose()

  const session = await signIn()
  const signedIn = open(session)
  const live = await endsWithSession(session, { subscribe: signedIn.subscribe.bind(signedIn) })
  await within(live.ended, 'the end of a session')
  assert.equal(live.items.at(-1).errors?.[0].extensions.code, 'UNAUTHENTICATED', JSON.stringify(live.items.at(-1)))
  signedIn.dispose()

  const forged = open('forged')
  const refused = one(forged.subscribe.bind(forged))({ query: '{ viewer { id } }' })
  await assert.rejects(within(refused, 'a refusal'), (reason) => reason.response?.status === 401, 'a bad token')
  forged.dispose()
}
