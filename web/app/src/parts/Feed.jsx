// A list of posts that is read page by page and is live.
import { Fragment } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useSubscription } from '@urql/preact';
import { PostChanged } from '../api/operations.js';
import { useMe } from '../session.jsx';
import { Ad } from './Ad.jsx';
import { Post } from './Post.jsx';
import { Waiting } from './states.jsx';

const nearTop = 150; // in pixels

const isNearTop = () => window.scrollY < nearTop;
const isWriting = () => document.activeElement?.matches('main :is(textarea, input)');

// useHeldBack keeps new entries of others back while they would move what is being read or written.
function useHeldBack(edges) {
  const me = useMe();
  const newest = edges[0]?.node.id ?? null;
  const isMine = me?.id === edges[0]?.node.author.id;
  const [top, setTop] = useState(newest);
  const held = Math.max(0, edges.findIndex(({ node }) => node.id === top));
  const show = () => setTop(newest);
  useLayoutEffect(() => {
    if (top === null || (isNearTop() && (isMine || !isWriting()))) show();
  }, [newest]);
  useEffect(() => {
    const onScroll = () => isNearTop() && !isWriting() && show();
    window.addEventListener('scroll', onScroll, { passive: true });
    return () => window.removeEventListener('scroll', onScroll);
  }, [newest]);
  return { held, show };
}

function useAnnouncement(edges) {
  const first = useRef(null);
  const [text, setText] = useState('');
  const newest = edges[0]?.node;
  useEffect(() => {
    if (first.current && newest && newest.id > first.current) setText(`New post by ${newest.author.name}`);
    first.current = newest?.id ?? first.current;
  }, [newest?.id]);
  return text;
}

export function Feed({ reading, children: empty }) {
  const { list, error, readAgain } = reading;
  const edges = list?.edges ?? [];
  const { held, show } = useHeldBack(edges);
  const announcement = useAnnouncement(edges);
  if (!list) return <Waiting error={error} again={readAgain} />;
  function showNew() {
    show();
    window.scrollTo({ top: 0 });
  }
  return (
    <>
      <p class="hidden" role="status">{announcement}</p>
      {held > 0 && <button type="button" class="pill primary" onClick={showNew}>{held === 1 ? '1 new post' : `${held} new posts`}</button>}
      {edges.length === 0 && empty}
      <div class="feed">{edges.slice(held).map(({ node, sponsored }) => <Fragment key={node.id}><Post post={node} />{sponsored && <Ad ad={sponsored} />}</Fragment>)}</div>
      <More reading={reading} />
      <Changes ids={edges.map(({ node }) => node.id)} />
    </>
  );
}

// More reads the next page when the end of the list comes into view, or when it is pressed.
export function More({ reading: { list, readMore, isReading, failure } }) {
  const button = useRef(null);
  useEffect(() => {
    if (!button.current || failure) return undefined;
    const observer = new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && readMore(), { rootMargin: '400px' });
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [list?.pageInfo.endCursor, failure]);
  if (!list?.pageInfo.hasNextPage) return null;
  return (
    <p class="more">
      {failure && <span class="error" role="alert">The next page did not arrive. </span>}
      <button type="button" ref={button} aria-disabled={isReading} onClick={readMore}>{isReading ? 'Loading…' : 'Show more'}</button>
    </p>
  );
}

const most = 100; // ids in one subscription
const inGroups = (ids) => Array.from({ length: Math.ceil(ids.length / most) }, (_, i) => ids.slice(i * most, (i + 1) * most));

// grouped adds ids that are in no group yet, so that a new post does not begin all subscriptions
// again, unless there are many.
function grouped(groups, ids) {
  const known = new Set(groups.flat());
  const added = ids.filter((id) => !known.has(id));
  if (added.length === 0) return groups;
  return groups.length < 10 ? [...groups, ...inGroups(added)] : inGroups(ids);
}

// Changes keeps posts that are shown up to date.
export function Changes({ ids }) {
  const groups = useRef([]);
  groups.current = grouped(groups.current, ids);
  return groups.current.map((group) => <ChangesOf key={group.join()} ids={group} />);
}

function ChangesOf({ ids }) {
  useSubscription({ query: PostChanged, variables: { ids } });
  return null;
}
