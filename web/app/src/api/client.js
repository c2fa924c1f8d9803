// The connection to Plaza: requests, one websocket for everything live, and the session in a cookie that no script can read.
import { createClient as createSocket } from 'graphql-ws';
import { Client, fetchExchange, makeOperation, mapExchange, subscriptionExchange } from '@urql/core';
import { createCache } from './cache.js';

const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

// patiently is fetch that waits while there are too many requests, and tries again while the server or its database does not
// answer. Mutations have an idempotency key, so none is carried out twice.
async function patiently(url, init) {
  for (let tries = 0; ; tries++) {
    const response = await fetch(url, init).catch((error) => {
      if (tries === 3 || init.signal?.aborted) throw error;
    });
    if (response && (tries === 3 || ![429, 503, 504].includes(response.status))) return response;
    const wait = Number(response?.headers.get('Retry-After')) || 2 ** tries / 2;
    if (wait > 20) return response;
    await pause(wait + Math.random() / 2);
  }
}

// crypto.randomUUID exists only on pages that came over HTTPS, or from this machine.
const randomKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

function withKey(operation) {
  if (operation.kind !== 'mutation') return operation;
  const { context } = operation;
  return makeOperation('mutation', operation, {
    ...context, fetchOptions: { ...context.fetchOptions, headers: { 'Idempotency-Key': randomKey() } },
  });
}

const isUnauthenticated = (errors) => errors?.some(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');

const pauses = { RESUME: 0, UNAVAILABLE: 5, TIMEOUT: 5, RATE_LIMITED: 5 }; // in seconds, at least

// follow runs a subscription until it is stopped. After a lost connection it goes on after the last item.
function follow(socket, request, sink) {
  const variables = { ...request.variables }; // graphql-ws sends them again when it connects again
  let stop, waiting;
  const begin = () => {
    stop = socket.subscribe({ query: request.query, variables }, {
      next(result) {
        const cursor = Object.values(result.data ?? {})[0]?.cursor;
        if (cursor) variables.after = cursor; // GAP has none
        sink.next(result);
      },
      error(reason) { // the frame that closed the socket, or a list of errors
        const { code, retryAfter } = reason[0]?.extensions ?? {};
        if (code in pauses) waiting = setTimeout(begin, 1000 * ((retryAfter ?? pauses[code]) + Math.random()));
        else if (Array.isArray(reason)) sink.next({ errors: reason });
        else sink.error(new Error(reason.reason || 'The live connection is lost.'));
      },
      complete: () => sink.complete(),
    });
  };
  begin();
  return () => {
    clearTimeout(waiting);
    stop();
  };
}

// connect returns a client with an empty cache. What each person sees differs, so each session needs its own.
// onEnded(client) is called when the session has ended elsewhere; onConnected(listener) calls it after each connection of the socket.
export function connect(onEnded) {
  const listeners = new Set();
  let isConnected = false;
  const socket = createSocket({
    url: `${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}/graphql`,
    retryAttempts: Infinity,
    shouldRetry: ({ code }) => code !== 4403,
    retryWait: (retries) => pause(Math.random() * 2 ** Math.min(retries, 5)),
    on: {
      connected() {
        isConnected = true;
        setTimeout(() => listeners.forEach((listener) => listener())); // when the subscriptions have been sent
      },
      closed({ code }) {
        isConnected = false;
        if (code === 4403) onEnded(client);
      },
    },
  });
  const client = new Client({
    url: '/graphql',
    preferGetMethod: false,
    fetch: patiently,
    fetchOptions: { credentials: 'same-origin' },
    exchanges: [
      mapExchange({ onError: ({ graphQLErrors }) => isUnauthenticated(graphQLErrors) && onEnded(client) }),
      createCache(),
      mapExchange({ onOperation: withKey }),
      fetchExchange,
      subscriptionExchange({ forwardSubscription: (request) => ({ subscribe: (sink) => ({ unsubscribe: follow(socket, request, sink) }) }) }),
    ],
  });
  client.onConnected = (listener) => {
    listeners.add(listener);
    if (isConnected) setTimeout(listener);
    return () => listeners.delete(listener);
  };
  client.close = () => socket.dispose();
  return client;
}

async function session(method, headers) {
  const response = await patiently('/session', { method, credentials: 'same-origin', headers }).catch(() => null);
  if (!response?.ok) throw new Error(response ? await response.text() : 'Plaza does not answer.');
}

// keepSession moves the session of a token into the cookie; endSession ends it.
export const keepSession = (token) => session('POST', { Authorization: `Bearer ${token}` });
export const endSession = () => session('DELETE');

// messageOf explains an error of urql to a person.
export function messageOf(error) {
  if (error.graphQLErrors?.length) return error.graphQLErrors[0].message;
  return 'Plaza does not answer. Check your connection, and try again.';
}
