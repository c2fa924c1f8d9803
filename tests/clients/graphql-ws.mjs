import assert from 'node:assert/strict'
import { createClient } from 'graphql-ws'
import WebSocket from 'ws'
import { one, scenario, socketURL, token, within } from './scenario.mjs'

const open = (bearer) => createClient({
  url: socketURL, webSocketImpl: WebSocket, connectionParams: () => ({ Authorization: `Bearer ${bearer}` }), retryAttempts: 0,
})
const client = open(token)
// The library reports an operation that fails before it runs as an array of errors.
const subscribe = (request, sink) => client.subscribe(request, {
  ...sink,
  error: (reason) => { if (!Array.isArray(reason)) return sink.error(reason); sink.next({ errors: reason }); sink.complete() },
})
await scenario('graphql-ws', { run: one(subscribe), subscribe })
await client.dispose()

const forged = open('forged')
await assert.rejects(
  within(one(forged.subscribe.bind(forged))({ query: '{ viewer { id } }' }), 'a refusal'),
  ({ code }) => code === 4403, 'a bad token')
