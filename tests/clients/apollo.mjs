import apollo from '@apollo/client/core/core.cjs'
import subscriptions from '@apollo/client/link/subscriptions/subscriptions.cjs'
import utilities from '@apollo/client/utilities/utilities.cjs'
import { createClient } from 'graphql-ws'
import { parse } from 'graphql'
import WebSocket from 'ws'
import { example, lists } from './guide.mjs'
import { endpoint, socketURL, token } from './scenario.mjs'
import { compare, given, queries } from './steps.mjs'

const { cache } = await example('apolloCache', 'cache')({ ...lists, InMemoryCache: apollo.InMemoryCache, relayStylePagination: utilities.relayStylePagination })
const { evict } = await example('apolloEvict', 'evict')({ cache })

await compare('Apollo Client', ({ onLive }) => {
  const headers = { Authorization: `Bearer ${token}` }
  const socket = createClient({ url: socketURL, webSocketImpl: WebSocket, connectionParams: headers })
  const client = new apollo.ApolloClient({
    cache,
    link: apollo.split(({ query }) => utilities.getMainDefinition(query).operation === 'subscription',
      new subscriptions.GraphQLWsLink(socket), new apollo.HttpLink({ uri: endpoint, headers })),
  })
  const documents = Object.fromEntries(Object.entries(queries).map(([page, text]) => [page, parse(text)]))
  let current
  const changes = {
    update: (page, change) => cache.updateQuery({ query: documents[page], variables: given(page, current) }, change),
    evict,
  }
  return {
    fetch: (page, variables, more) => { current = variables; return client.query({ query: documents[page], variables: { ...given(page, current), ...more }, fetchPolicy: 'network-only', errorPolicy: 'all' }) },
    cached: (page) => cache.readQuery({ query: documents[page], variables: given(page, current), returnPartialData: true }),
    mutate: async (text, variables, apply) => (await client.mutate({
      mutation: parse(text), variables, update: apply && ((_, { data }) => apply(Object.values(data)[0], changes)),
    })).data,
    listen: (field, text, variables) => client.subscribe({ query: parse(text), variables }).subscribe(({ data }) => onLive(field, data[field], changes)),
    close: () => { client.stop(); socket.dispose() },
  }
})
