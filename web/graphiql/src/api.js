import { Kind, parse } from 'graphql';
import { createClient } from 'graphql-ws';
import { signInMutation, signOutMutation, viewerQuery } from './operations.js';

const endpoint = '/graphql';
const storageKey = 'plaza:session';

// The session of this browser tab: { token, handle, name } or null, a message for the sign-in bar, and whether it asks to sign in.
let state = { session: null, message: '', asksToSignIn: false };
const listeners = new Set();

export function getState() {
  return state;
}

export function subscribe(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function setState(session, message = '', asksToSignIn = false) {
  const changed = session?.token !== state.session?.token;
  state = { session, message, asksToSignIn };
  keep(session);
  if (changed) socket.terminate(); // a running subscription connects again, as the new viewer
  listeners.forEach((listener) => listener());
}

// keep stores the session for a reload. A browser that stores nothing, because it blocks cookies, has it until then.
function keep(session) {
  try {
    if (session) sessionStorage.setItem(storageKey, JSON.stringify(session));
    else sessionStorage.removeItem(storageKey);
  } catch {}
}

function keptSession() {
  try {
    const session = JSON.parse(sessionStorage.getItem(storageKey));
    return session?.token ? session : null;
  } catch {
    return null;
  }
}

const expired = 'Your session has ended. Please sign in again.';

function expire(token) {
  if (token && token === state.session?.token) setState(null, expired, true);
}

// askToSignIn explains why an operation has shown nothing, unless the message already says that the session has ended.
function askToSignIn(operationName, why = '.') {
  if (!state.session && state.message !== expired) setState(null, `Sign in to run ${operationName ?? 'this'}${why}`, true);
}

function isUnauthenticated(errors) {
  return Array.isArray(errors) && errors.some((error) => error?.extensions?.code === 'UNAUTHENTICATED');
}

// failure is an error without a stack, which GraphiQL would show.
function failure(message) {
  return Object.assign(new Error(message), { stack: undefined });
}

// apiFetch is fetch with the session's token, unless the request brings its own, and with errors that explain what to do.
async function apiFetch(url, init) {
  const headers = new Headers(init.headers);
  const token = headers.has('Authorization') ? null : state.session?.token;
  if (token) headers.set('Authorization', `Bearer ${token}`);

  let response;
  try {
    response = await fetch(url, { ...init, headers });
  } catch {
    throw failure(`Plaza does not answer at ${location.host}. Is it running?`);
  }
  if (!response.headers.get('Content-Type')?.includes('json')) {
    throw failure(`Plaza answered ${response.status} ${response.statusText}, not GraphQL.`.replace('  ', ' '));
  }
  if (token) {
    const body = await response.clone().json();
    if (isUnauthenticated(body?.errors)) expire(token);
  }
  return response;
}

// post sends one operation and returns its result, { data, errors }.
async function post(params, headers) {
  const response = await apiFetch(endpoint, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/graphql-response+json', ...headers },
    body: JSON.stringify(params),
  });
  return response.json();
}

let editorHeaders; // of GraphiQL's "Headers" editor; they take precedence over the session's token
let socketToken; // the session's token, if the socket was opened with it
let running; // the results of the running subscription
let hasBegun = false; // whether it was once connected

const terminated = 4499; // the code of a connection that setState has ended
const lost = 'The live connection is lost. Trying to connect again…';

function tellLost({ code }) {
  if (running && hasBegun && code !== 1000 && code !== 4403 && code !== terminated) setState(state.session, lost);
}

function tellFound() {
  if (state.message === lost) setState(state.session);
}

const socket = createClient({
  url: `${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}${endpoint}`,
  connectionParams: () => {
    socketToken = new Headers(editorHeaders).has('Authorization') ? null : state.session?.token;
    return { ...(socketToken && { Authorization: `Bearer ${socketToken}` }), ...editorHeaders };
  },
  // A subscription that has begun goes on after the loss of its connection, when the server is back. One that has not
  // begun reports that there is no connection. After 4403, the refusal of a token, nothing would change by itself.
  retryAttempts: Infinity,
  shouldRetry: ({ code }) => code !== 4403 && (hasBegun || code === terminated),
  retryWait: (retries) => hasBegun && new Promise((resolve) => setTimeout(resolve, (1 + Math.random()) * 1000 * Math.min(2 ** retries, 8))),
  on: {
    connected: () => {
      hasBegun = true;
      tellFound();
    },
    error: tellLost,
    closed: (event) => {
      if (event.code === 4403) expire(socketToken);
      tellLost(event);
    },
    message: ({ type, payload }) => {
      if (isUnauthenticated(type === 'error' ? payload : payload?.errors)) expire(socketToken);
    },
  },
});

// listen returns the results of a subscription as an async iterable.
function listen(params) {
  hasBegun = false;
  const results = socket.iterate(params);
  running = results;
  const end = () => {
    if (running !== results) return;
    running = undefined;
    tellFound();
  };
  const next = results.next.bind(results);
  const stop = results.return.bind(results);
  results.next = async () => {
    try {
      const result = await next();
      if (result.done) end();
      return result;
    } catch (error) {
      end();
      if (isUnauthenticated(error)) askToSignIn(params.operationName);
      if (!(error instanceof Event)) throw error;
      if (error instanceof CloseEvent) throw failure(`The live connection was closed: ${error.code} ${error.reason}`.trim());
      throw failure(`Plaza does not accept a websocket at ${location.host}. Is it running? A proxy in between must pass on websockets.`);
    }
  };
  results.return = () => {
    end();
    return stop();
  };
  return results;
}

// operationOf finds the operation to run. Right after a change of tabs, GraphiQL still names the operation of the previous tab.
function operationOf({ query, operationName }) {
  let operations;
  try {
    operations = parse(query).definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  } catch {
    return undefined; // the server reports what is wrong
  }
  return operations.find(({ name }) => name?.value === operationName) ?? (operations.length === 1 ? operations[0] : undefined);
}

// fetcher is what GraphiQL calls: POST for queries and mutations, a websocket for subscriptions.
export async function fetcher(params, { headers } = {}) {
  if (state.asksToSignIn && params.operationName !== 'IntrospectionQuery') setState(state.session); // that was about another one
  const operation = operationOf(params);
  const named = operation ? { ...params, operationName: operation.name?.value } : params;
  if (operation?.operation !== 'subscription') {
    const result = await post(named, headers);
    if (result.data?.viewer === null) askToSignIn(named.operationName, ': it is about you.');
    else if (isUnauthenticated(result.errors)) askToSignIn(named.operationName);
    return result;
  }
  editorHeaders = headers;
  return listen(named);
}

// ask returns the data that there is, or null. It is for data that the page does not need.
export async function ask(query, variables) {
  try {
    return (await post({ query, variables })).data ?? null;
  } catch {
    return null;
  }
}

// request returns the data of one operation, or throws an error to show to the user.
async function request(query, variables) {
  const { data, errors } = await post({ query, variables });
  if (errors?.length) throw new Error(errors[0].message);
  return data;
}

export async function signIn(handle, password) {
  try {
    const { signIn: payload } = await request(signInMutation, { input: { handle, password } });
    if (payload.userErrors.length) {
      setState(null, payload.userErrors.map((error) => error.message).join(' '));
    } else {
      setState({ token: payload.token, ...payload.viewer.user });
    }
  } catch (error) {
    setState(null, error.message);
  }
}

// signOut forgets the token in any case, and shows a message if the server could not revoke it.
export async function signOut() {
  let message = '';
  try {
    const { signOut: payload } = await request(signOutMutation);
    message = payload.userErrors.map((error) => error.message).join(' ');
  } catch (error) {
    if (!state.session) return; // it had ended before
    message = `Signed out here, but not on the server: ${error.message}`;
  }
  setState(null, message);
}

// restoreSession continues the session from before a reload, and drops it if its token is no longer valid.
export async function restoreSession() {
  const session = keptSession();
  if (!session) return;
  setState(session);
  try {
    const { viewer } = await request(viewerQuery);
    if (viewer) setState({ ...session, ...viewer.user });
    else expire(session.token);
  } catch {
    // Already expired by apiFetch, or the server is down: the next request will show which.
  }
}
