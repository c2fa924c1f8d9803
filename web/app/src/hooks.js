import { useEffect, useRef, useState } from 'preact/hooks';
import { useClient, useQuery, useSubscription } from '@urql/preact';
import { messageOf } from './api/client.js';

// useList reads a list page by page. listOf finds the list in the answer; it is undefined until it has come.
export function useList(query, variables, listOf, requestPolicy) {
  const client = useClient();
  const [{ data, error, fetching, stale }, read] = useQuery({ query, variables, requestPolicy });
  const [isReading, setIsReading] = useState(false);
  const [failure, setFailure] = useState(null);
  const last = useRef({});
  const key = JSON.stringify(variables);
  const found = data ? listOf(data) : undefined;
  // While a list is read again, only other parts of the answer are in the cache: keep what is shown.
  if (found || !stale || last.current.key !== key) last.current = { key, data, list: found };
  const { list } = last.current;

  async function readMore() {
    if (isReading) return;
    setIsReading(true);
    const next = await client.query(query, { ...variables, after: list.pageInfo.endCursor }, { requestPolicy: 'network-only' }).toPromise();
    setFailure(next.error ?? null);
    setIsReading(false);
  }
  const readAgain = () => read({ requestPolicy: 'network-only' });
  return { list, data: last.current.data, error, fetching: fetching || stale, readAgain, readMore, isReading, failure };
}

// useLive subscribes after an entry of a list, once the list is loaded. A list without a cursor is read again when the
// subscription has begun, so that nothing is missing in between.
export function useLive(query, variables, { list, readAgain }, cursor) {
  const client = useClient();
  const [after, setAfter] = useState();
  const isLoaded = Boolean(list);
  useEffect(() => {
    if (isLoaded && after === undefined) setAfter(cursor ?? null);
  }, [isLoaded]);
  useSubscription({ query, variables: { ...variables, after }, pause: after === undefined });
  useEffect(() => (after === null ? client.onConnected(readAgain) : undefined), [after]);
}

// useAct returns a function that carries out a mutation, and { busy, errors }: what was wrong with its input, or that it failed.
// The function returns the payload; null if nothing was done, or if that is unknown.
export function useAct(mutation) {
  const client = useClient();
  const [state, setState] = useState({ busy: false, errors: [] });
  const isBusy = useRef(false);
  async function act(input) {
    if (isBusy.current) return null;
    isBusy.current = true;
    setState({ busy: true, errors: [] });
    const { data, error } = await client.mutation(mutation, { input }).toPromise();
    const payload = data && Object.values(data)[0];
    const errors = payload?.userErrors ?? [{ message: messageOf(error), path: [] }];
    isBusy.current = false;
    setState({ busy: false, errors });
    return errors.length ? null : payload;
  }
  return [act, state];
}

// useDelayed returns a value once it has not changed for a while.
export function useDelayed(value, milliseconds) {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value]);
  return delayed;
}

export function useTitle(title) {
  useEffect(() => {
    document.title = title ? `${title} · Plaza` : 'Plaza';
  }, [title]);
}
