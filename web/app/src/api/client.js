// The connection to Plaza: requests, one websocket for everything live, and the session in a cookie
// that no script can read.
import { createClient as createSocket } from 'graphql-ws';
import { Client, fetchExchange, makeOperation, mapExchange, subscriptionExchange } from '@urql/core';
import { createCache } from './cache.js';

export const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

// patiently is fetch that waits while there are too many requests, and tries again while the server
// or its database does not answer. Mutations have an idempotency key, so none is carried out twice.
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

// nap is a pause that ends early when there is a new reason to hope.
function nap(seconds) {
  return new Promise((resolve) => {
    const over = new AbortController();
    const wake = () => { over.abort(); resolve(); };
    setTimeout(wake, 1000 * seconds);
    window.addEventListener('online', wake, { signal: over.signal });
    document.addEventListener('visibilitychange', wake, { signal: over.signal });
  });
}

// crypto.randomUUID exists only on pages that came over HTTPS, or from this machine.
export const randomKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

function withKey(operation) {
  if (operation.kind !== 'mutation') return operation;
  const { context } = operation;
  return makeOperation('mutation', operation, {
    ...context, fetchOptions: { ...context.fetchOptions, headers: { 'Idempotency-Key': context.idempotencyKey ?? randomKey() } },
  });
}

export const isUnauthenticated = (errors) => errors?.some(({ extensions }) => extensions?.code === 'UNAUTHENTICATED');

const pauses = { RESUME: 0, UNAVAILABLE: 5, TIMEOUT: 5, RATE_LIMITED: 5 }; // in seconds, at least

// follow runs a subscription until it is stopped. After a lost connection it goes on after the last
// item.
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
        else if (reason.code === 4403) sink.error(new Error('The session has ended.'));
        else { // a fault of the app or the server: graphql-ws gives up
          waiting = setTimeout(begin, 1000 * (60 + 60 * Math.random()));
        }
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

// connect returns a client with an empty cache. What each person sees differs, so each session
// needs its own. onRefused(client) is called when the server takes a request for signed out;
// onConnected(listener) calls it after each connection of the socket, watch(watcher) whenever it is
// lost (true) or there again (false).
export function connect(onRefused) {
  const listeners = new Set();
  const watchers = new Set();
  let isConnected = false, isLost = false;
  const setLost = (value) => {
    isLost = value;
    watchers.forEach((watcher) => watcher(isLost));
  };
  const socket = createSocket({
    url: `${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}/graphql`,
    retryAttempts: Infinity,
    shouldRetry: ({ code }) => code !== 4403,
    retryWait: (retries) => nap(Math.random() * 2 ** Math.min(retries, 5)),
    on: {
      connected() {
        isConnected = true;
        setLost(false);
        // They are called when the subscriptions have been sent.
        setTimeout(() => listeners.forEach((listener) => listener()));
      },
      closed({ code }) {
        isConnected = false;
        setLost(code !== 1000); // which it has when nothing is subscribed
        if (code === 4403) onRefused(client);
      },
    },
  });
  const client = new Client({
    url: '/graphql',
    preferGetMethod: false,
    fetch: patiently,
    fetchOptions: { credentials: 'same-origin' },
    exchanges: [
      mapExchange({ onError: ({ graphQLErrors }) => isUnauthenticated(graphQLErrors) && onRefused(client) }),
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
  client.watch = (watcher) => {
    watchers.add(watcher);
    watcher(isLost);
    return () => watchers.delete(watcher);
  };
  // A socket of another network never says that it is dead.
  const onOnline = () => isConnected && socket.terminate();
  window.addEventListener('online', onOnline);
  client.close = () => {
    window.removeEventListener('online', onOnline);
    socket.dispose();
  };
  return client;
}

async function session(method, headers) {
  const response = await patiently('/session', { method, credentials: 'same-origin', headers }).catch(() => null);
  if (!response?.ok) throw new Error(response ? await response.text() : 'Plaza does not answer.');
}

// keepSession moves the session of a token into the cookie; endSession ends it.
export const keepSession = (token) => session('POST', { Authorization: `Bearer ${token}` });
export const endSession = () => session('DELETE');

// readViewerId asks past the cache, which is one person's, for the person of the cookie: null for
// none, undefined without an answer.
export async function readViewerId() {
  const request = { method: 'POST', credentials: 'same-origin', headers: { 'Content-Type': 'application/json' }, body: '{"query": "{ viewer { id } }"}' };
  try {
    const { data, errors } = await (await patiently('/graphql', request)).json();
    return data || isUnauthenticated(errors) ? data?.viewer?.id ?? null : undefined;
  } catch {
    return undefined;
  }
}

// isMissing: what an address names is not there, or is not the id of anything.
export const isMissing = (error) => error?.graphQLErrors.some(({ extensions }) => ['NOT_FOUND', 'BAD_USER_INPUT'].includes(extensions?.code));

// isUnknown: a mutation without an answer may have been carried out, or may still be.
const unknown = ['INTERNAL', 'TIMEOUT', 'UNAVAILABLE', 'RATE_LIMITED', 'IDEMPOTENCY_KEY_IN_USE', 'ALREADY_DONE'];
export const isUnknown = ({ graphQLErrors }) => !graphQLErrors?.length || graphQLErrors.some(({ extensions }) => unknown.includes(extensions?.code));

// messageOf explains an error of urql to a person.
export function messageOf(error) {
  if (error.graphQLErrors?.length) return error.graphQLErrors[0].message;
  return 'Plaza does not answer. Check your connection, and try again.';
}
