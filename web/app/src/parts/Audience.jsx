// Who sees a post: how authors choose it, and how posts show it.
import { useState } from 'preact/hooks';
import { useQuery } from '@urql/preact';
import { Circles } from '../api/operations.js';
import { useErrors } from './Form.jsx';
import { Drawing } from './icons.jsx';

const kinds = {
  PUBLIC: { label: 'Public', hint: 'Everyone can read this, also without an account.' },
  CIRCLES: { label: 'All my circles', hint: 'The people you follow: everyone in any of your circles.' },
  LISTED: { label: 'Chosen circles', hint: 'Only the members of these circles. They do not see which circles they are in.' },
  ONLY_ME: { label: 'Only me', hint: 'No other person can read this.' },
};

let lastKind = 'PUBLIC'; // authors rarely change their mind from post to post

export function AudiencePicker({ audience, wallOwner }) {
  const [kind, setKind] = useState(audience?.kind ?? lastKind);
  const [{ data }] = useQuery({ query: Circles });
  const { messages, connected } = useErrors('audience');
  const chosen = new Set(audience?.circles?.map(({ id }) => id));
  const circles = data?.viewer?.circles?.edges ?? [];
  return (
    <fieldset class="audience" {...connected}>
      <legend>Who can see it?</legend>
      <div class="chips">
        {Object.entries(kinds).map(([value, { label }]) => (
          <label class="chip" key={value}>
            <input type="radio" name="audience.kind" value={value} checked={kind === value} onChange={() => setKind((lastKind = value))} />
            <Drawing of={value} />{label}
          </label>
        ))}
      </div>
      {kind === 'LISTED' && (
        <div class="chips" role="group" aria-label="Circles">
          {circles.map(({ node: { id, name, membersCount } }) => (
            <label class="chip small" key={id}>
              <input type="checkbox" name="audience.circleIds" data-list value={id} defaultChecked={chosen.has(id)} />
              <bdi>{name}</bdi> <span class="count">{membersCount}</span>
            </label>
          ))}
        </div>
      )}
      <p class="hint">{kinds[kind].hint}{wallOwner && kind !== 'PUBLIC' && <> And <bdi>{wallOwner.name}</bdi>, whose wall it is.</>}</p>
      {messages}
    </fieldset>
  );
}

// Audience tells authors exactly who sees their post, and others that it is not for everyone.
export function Audience({ audience: { kind, circles }, isMine }) {
  if (!isMine && kind === 'PUBLIC') return null;
  if (!isMine) return <span class="for"><Drawing of="CIRCLES" />Not public</span>;
  return (
    <span class="for">
      <Drawing of={kind} />
      {circles?.length ? circles.map(({ id, name }, i) => <bdi key={id}>{i > 0 && ', '}{name}</bdi>) : kinds[kind].label}
    </span>
  );
}
