// What a page shows while it has nothing else to show.
import { messageOf } from '../api/client.js';
import { useTitle } from '../hooks.js';

export const Loading = () => <p class="loading" role="status">Loading…</p>;

export const Empty = ({ title, children }) => (
  <div class="empty card">
    <h2>{title}</h2>
    {children}
  </div>
);

export const Failure = ({ error, again }) => (
  <div class="failure card" role="alert">
    <p>{messageOf(error)}</p>
    {again && <button type="button" onClick={() => again({ requestPolicy: 'network-only' })}>Try again</button>}
  </div>
);

// Waiting is shown in place of what is being read, or could not be read.
export const Waiting = ({ error, again }) => (error ? <Failure error={error} again={again} /> : <Loading />);

export const Broken = () => (
  <div class="failure card" role="alert">
    <p>This page can't be shown.</p>
    <button type="button" onClick={() => location.reload()}>Reload the page</button>
  </div>
);

export function Missing({ title, children = 'It may have been deleted, or it is not for you to see.' }) {
  useTitle(title);
  return <Empty title={title}><p>{children}</p></Empty>;
}
