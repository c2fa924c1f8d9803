// Who sees a post: how authors choose it, and how posts show it.
import { useState } from 'preact/hooks';
import { openDraft } from '../drafts.js';
import { useCircles } from '../hooks.js';
import { useMe } from '../session.jsx';
import { Choice, useDrafted } from './Form.jsx';
import { Drawing } from './icons.jsx';

const kinds = {
  PUBLIC: { label: 'Public', icon: <Drawing of="PUBLIC" />, hint: 'Anyone can read this, even without an account.' },
  CIRCLES: { label: 'All my circles', icon: <Drawing of="CIRCLES" />, hint: 'The people you follow: everyone in any of your circles.' },
  LISTED: { label: 'Chosen circles', icon: <Drawing of="LISTED" />, hint: 'Only the members of these circles. They do not see which circles they are in.' },
  ONLY_ME: { label: 'Only me', icon: <Drawing of="ONLY_ME" />, hint: 'Only you can read this.' },
};

// useKind begins with the kind of the last new post, because authors rarely change their mind from post to post.
function useKind(audience) {
  const last = openDraft(useMe().id, 'audience');
  const drafted = useDrafted('audience.kind');
  const [kind, setKind] = useState(() => audience?.kind ?? drafted ?? last.read().kind ?? 'PUBLIC');
  function choose(chosen) {
    setKind(chosen);
    if (!audience) last.write({ kind: chosen });
  }
  return [kind, choose];
}

export function AudiencePicker({ audience, wallOwner }) {
  const [kind, setKind] = useKind(audience);
  return (
    <Choice legend="Who can see it?" part="audience" name="audience.kind" options={kinds} chosen={kind} onChoose={setKind}>
      {kind === 'LISTED' && <ListedCircles name="audience.circleIds" listed={audience?.circles} />}
      <p class="hint">{kinds[kind].hint}{wallOwner && kind !== 'PUBLIC' && <> And <bdi>{wallOwner.name}</bdi>, whose wall it is.</>}</p>
    </Choice>
  );
}

function ListedCircles({ name, listed = [] }) {
  const { circles = [] } = useCircles();
  const chosen = useDrafted(name) ?? listed.map(({ id }) => id);
  const notLoaded = listed.filter(({ id }) => !circles.some((circle) => circle.id === id));
  return (
    <div class="chips" role="group" aria-label="Circles">
      {[...circles, ...notLoaded].map(({ id, name: circle, membersCount }) => (
        <label class="chip small" key={id}>
          <input type="checkbox" name={name} data-list value={id} defaultChecked={chosen.includes(id)} />
          <bdi>{circle}</bdi> <span class="count">{membersCount}</span>
        </label>
      ))}
    </div>
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
