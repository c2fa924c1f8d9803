import { useEffect, useRef, useState } from 'preact/hooks';
import { useClient, useQuery, useSubscription } from '@urql/preact';
import { isUnknown, messageOf, randomKey } from './api/client.js';
import { Circles } from './api/operations.js';

// useList reads a list page by page. listOf finds the list in the answer; it is undefined until it
// has come.
export function useList(query, variables, listOf, requestPolicy) {
  const client = useClient();
  const [{ data, error, fetching, stale }, read] = useQuery({ query, variables, requestPolicy });
  const [isReading, setIsReading] = useState(false);
  const [failure, setFailure] = useState(null);
  const last = useRef({});
  const key = JSON.stringify(variables);
  const found = data ? listOf(data) : undefined;
  // While a list is read again, only other parts of the answer are in the cache: keep what is
  // shown.
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

// useCircles reads all circles of the viewer, for forms that need them all.
export function useCircles() {
  const reading = useList(Circles, {}, (data) => data.viewer?.circles);
  const { list, readMore, failure } = reading;
  useEffect(() => {
    if (list?.pageInfo.hasNextPage && !failure) readMore();
  }, [list?.pageInfo.endCursor]);
  return { ...reading, circles: list?.edges.map(({ node }) => node) };
}

// useLive subscribes after an entry of a list each time that the list has been read: the cursor
// that an empty list had before a follow would bring all of it.
export function useLive(query, variables, { list, fetching }, cursor) {
  const [after, setAfter] = useState();
  const isRead = Boolean(list) && !fetching;
  useEffect(() => {
    if (isRead) setAfter(cursor);
  }, [isRead]);
  useSubscription({ query, variables: { ...variables, after }, pause: after === undefined });
}

// useLiveAfter is useLive for a list without a place for that: before is a cursor that was read
// before the list.
export function useLiveAfter(query, variables, reading, before) {
  const [after] = useState(before); // the list that it is from grows
  useLive(query, variables, reading, after);
}

// useIsPaused is true when there has been no live connection for some seconds.
export function useIsPaused() {
  const client = useClient();
  const [isLost, setIsLost] = useState(false);
  useEffect(() => client.watch(setIsLost), [client]);
  return useDelayed(isLost, 5000) && isLost;
}

// useAct returns a function that carries out a mutation, and { busy, errors }: what was wrong with
// its input, or that it failed. The function returns the payload; null if nothing was done, or if
// that is unknown. Then the same input has the same idempotency key the next time, so that it is
// carried out once. attempt keeps that: { read(), write({ attempt }) }.
export function useAct(mutation, attempt) {
  const client = useClient();
  const [state, setState] = useState({ busy: false, errors: [] });
  const isBusy = useRef(false);
  const own = useRef({});
  const memory = attempt ?? { read: () => own.current, write: (values) => { own.current = values; } };
  async function act(input) {
    if (isBusy.current) return null;
    isBusy.current = true;
    setState({ busy: true, errors: [] });
    const body = JSON.stringify(input);
    const before = memory.read().attempt;
    const key = before?.body === body ? before.key : randomKey();
    memory.write({ attempt: { body, key } });
    const { data, error } = await client.mutation(mutation, { input }, { idempotencyKey: key }).toPromise();
    const payload = data && Object.values(data)[0];
    if (payload || !isUnknown(error)) memory.write({ attempt: null });
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

// withoutBidi takes out what would reorder the text around a name, for places that can't isolate
// it.
export const withoutBidi = (text) => text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '');

export function useTitle(title) {
  useEffect(() => {
    document.title = title ? `${withoutBidi(title)} · Plaza` : 'Plaza';
  }, [title]);
}
