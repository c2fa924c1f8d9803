// The earlier versions of a post that was edited.
import { useState } from 'preact/hooks';
import { useQuery } from '@urql/preact';
import { History } from '../api/operations.js';
import { Address, Dialog, Text, Time } from './basics.jsx';
import { Waiting } from './states.jsx';

// Edited says when, and opens them.
export function Edited({ post }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button type="button" class="quiet" onClick={() => setIsOpen(true)}>edited <Time at={post.editedAt} /></button>
      {isOpen && <HistoryDialog post={post} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function HistoryDialog({ post, onClose }) {
  const [{ data, error }, read] = useQuery({ query: History, variables: { id: post.id }, requestPolicy: 'cache-and-network' });
  const versions = data?.post?.history;
  return (
    <Dialog title="Earlier versions" onClose={onClose}>
      {!versions && <Waiting error={error} again={read} />}
      {versions?.length === 0 && <p>There are no earlier versions that you can see.</p>}
      <ol class="versions">
        {versions?.map((version, i) => <Version key={i} {...version} />).reverse()}
      </ol>
    </Dialog>
  );
}

const Version = ({ text, url, title, place, replacedAt }) => (
  <li>
    <p class="hint">Replaced <Time at={replacedAt} /></p>
    {place && <p class="place"><bdi>{place}</bdi></p>}
    <Text text={text} />
    {url && <Address url={url} title={title} />}
  </li>
);
