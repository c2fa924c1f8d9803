import { createClient, fetchExchange, subscriptionExchange } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { getIntrospectionQuery, parse } from 'graphql'
import { createClient as createSocket } from 'graphql-ws'
import WebSocket from 'ws'
import { example, lists } from './guide.mjs'
import { endpoint, post, socketURL, token } from './scenario.mjs'
import { compare, given, onLive as live, queries } from './steps.mjs'

const schema = await post(getIntrospectionQuery(), {}, token)
const { keys } = await example('graphcacheKeys', 'keys')(lists)
const { resolvers } = await example('graphcacheResolvers', 'resolvers')({ ...lists, relayPagination })
const { evict } = await example('graphcacheEvict', 'evict')()

await compare('Graphcache', ({ onLive }) => {
  let current, applying
  const changes = (cache) => ({
    update: (page, change) => cache.updateQuery({ query: queries[page], variables: given(page, current) }, change),
    evict: (object) => evict(cache, object, Object.keys(queries).map((page) => ({ query: queries[page], variables: given(page, current) }))),
  })
  const Subscription = Object.fromEntries(Object.keys(live).map((field) => [field, (result, _, cache) => onLive(field, result[field], changes(cache))]))
  const fields = schema.__schema.types.find(({ name }) => name === 'Mutation').fields
  const Mutation = Object.fromEntries(fields.map(({ name }) => [name, (result, _, cache) => applying?.(result[name], changes(cache))]))
  const socket = createSocket({ url: socketURL, webSocketImpl: WebSocket, connectionParams: { Authorization: `Bearer ${token}` } })
  const client = createClient({
    url: endpoint, preferGetMethod: false, fetchOptions: { headers: { Authorization: `Bearer ${token}` } },
    exchanges: [
      cacheExchange({ schema, keys, resolvers, updates: { Mutation, Subscription } }),
      fetchExchange,
      subscriptionExchange({ forwardSubscription: (request) => ({ subscribe: (sink) => ({ unsubscribe: socket.subscribe(request, sink) }) }) }),
    ],
  })
  const must = ({ data, error }) => {
    const missing = error?.graphQLErrors.length && error.graphQLErrors.every(({ extensions }) => extensions.code === 'NOT_FOUND')
    if (error && !missing) throw error
    return data
  }
  // Graphcache gives null for a page of which nothing is there.
  const nothing = (page) => Object.fromEntries(parse(queries[page]).definitions[0].selectionSet.selections.map(({ name }) => [name.value, null]))
  return {
    fetch: async (page, variables, more) => { current = variables; return must(await client.query(queries[page], { ...given(page, current), ...more }, { requestPolicy: 'network-only' }).toPromise()) },
    cached: async (page) => (await client.query(queries[page], given(page, current), { requestPolicy: 'cache-only' }).toPromise()).data ?? nothing(page),
    mutate: async (text, variables, apply) => {
      applying = apply
      try { return must(await client.mutation(text, variables).toPromise()) } finally { applying = undefined }
    },
    listen: (_, text, variables) => client.subscription(text, variables).subscribe(({ error }) => { if (error) throw error }),
    close: () => socket.dispose(),
  }
})
