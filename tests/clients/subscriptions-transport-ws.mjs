import assert from 'node:assert/strict'
import transport from 'subscriptions-transport-ws'
import WebSocket from 'ws'
import { endsWithSession, scenario, signIn, socketURL, token, within } from './scenario.mjs'

const open = (bearer, connected) => new transport.SubscriptionClient(socketURL, { connectionParams: { Authorization: `Bearer ${bearer}` }, connectionCallback: connected }, WebSocket)
const client = open(token)
const subscribing = (client) => (request, sink) => {
  const { unsubscribe } = client.request(request).subscribe(sink)
  return () => { unsubscribe(); sink.complete() } // the library's observables don't complete when they end
}
// The library reports an operation that fails before it runs as an error, with its code.
const run = (request) => new Promise((resolve, reject) => {
  client.request(request).subscribe({ next: resolve, error: (reason) => reason.extensions ? resolve({ errors: [reason] }) : reject(reason) })
})
await scenario('subscriptions-transport-ws', { run, subscribe: subscribing(client) })
client.close()

const session = await signIn()
const signedIn = open(session)
const closes = new Promise((resolve) => signedIn.onConnected(() => signedIn.client.on('close', resolve)))
await endsWithSession(session, { subscribe: subscribing(signedIn) })
assert.equal(await within(closes, 'the end of a session'), 4403)
signedIn.close()

let forged
const closed = new Promise((resolve) => {
  forged = open('forged', (error) => { if (error) forged.client.on('close', resolve) })
})
assert.equal(await within(closed, 'a close frame'), 4403)
forged.close()
process.exit() // when the server closes a socket, the library forgets to stop its timer
