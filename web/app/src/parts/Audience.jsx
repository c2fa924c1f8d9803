// Who sees a post and who may reply: how authors choose it, and how posts show it.
import { useState } from 'preact/hooks';
import { openDraft } from '../drafts.js';
import { useCircles } from '../hooks.js';
import { useMe } from '../session.jsx';
import { Choice, useDrafted, useErrors } from './Form.jsx';
import { Drawing } from './icons.jsx';
import { Waiting } from './states.jsx';

const kinds = {
  PUBLIC: { label: 'Public', icon: <Drawing of="PUBLIC" />, hint: 'Anyone can read this, even without an account.' },
  CIRCLES: { label: 'All my circles', icon: <Drawing of="CIRCLES" />, hint: 'The people you follow: everyone in any of your circles.' },
  LISTED: { label: 'Chosen circles', icon: <Drawing of="LISTED" />, hint: 'Only the members of these circles. They do not see which circles they are in.' },
  ONLY_ME: { label: 'Only me', icon: <Drawing of="ONLY_ME" />, hint: 'Only you can read this.' },
};

const replyKinds = {
  EVERYONE: { label: 'Everyone', hint: 'Everyone who sees the post and has an account.' },
  CIRCLES: { label: 'All my circles', hint: 'The people you follow, if they see the post.' },
  LISTED: { label: 'Chosen circles', hint: 'The members of these circles, if they see the post. Others do not see which circles these are.' },
  NOBODY: { label: 'Only me', hint: 'Only you can reply. You can change this later.' },
};

// useKind begins with the kind of the last new post, because authors rarely change their mind from
// post to post.
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
    <PeopleChoice part="audience" legend="Who can see it?" hasTitle={Boolean(audience)} kinds={kinds} kind={kind} onChoose={setKind} listed={audience?.circles}>
      {wallOwner && kind !== 'PUBLIC' && <> And <bdi>{wallOwner.name}</bdi>, whose wall it is.</>}
    </PeopleChoice>
  );
}

// PeopleChoice chooses one of the kinds, and the circles where they are listed. Where a title above
// it asks the same, the legend is hidden.
function PeopleChoice({ part, legend, hasTitle, kinds, kind, onChoose, listed, children }) {
  return (
    <Choice legend={hasTitle ? <span class="hidden">{legend}</span> : legend} part={part} name={`${part}.kind`} options={kinds} chosen={kind} onChoose={onChoose}>
      {kind === 'LISTED' && <ListedCircles name={`${part}.circleIds`} listed={listed ?? []} />}
      <p class="hint">{kinds[kind].hint}{children}</p>
    </Choice>
  );
}

// ReplyPicker chooses who may reply. For a new post it is folded, because most are open to
// everyone.
export function ReplyPicker({ policy }) {
  const drafted = useDrafted('replies.kind');
  const [kind, setKind] = useState(policy?.kind ?? drafted ?? 'EVERYONE');
  const [isOpen, setIsOpen] = useState(kind !== 'EVERYONE');
  const { messages } = useErrors('replies');
  const picker = <PeopleChoice part="replies" legend="Who can reply?" hasTitle kinds={replyKinds} kind={kind} onChoose={setKind} listed={policy?.circles} />;
  if (policy) return picker;
  return (
    <details class="replies" open={isOpen || Boolean(messages)} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>Who can reply? {replyKinds[kind].label}</summary>
      {picker}
    </details>
  );
}

function ListedCircles({ name, listed }) {
  const { circles, error, readAgain } = useCircles();
  const chosen = useDrafted(name) ?? listed.map(({ id }) => id);
  if (!circles) return <Waiting error={error} again={readAgain} />;
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

// Audience tells authors exactly who sees their post and who may reply, if that is not everyone,
// and others that it is not public.
export function Audience({ post: { audience, replyPolicy }, isMine }) {
  if (!isMine) return audience.kind === 'PUBLIC' ? null : <span class="for"><Drawing of="CIRCLES" />Not public</span>;
  return (
    <>
      <For icon={audience.kind} kinds={kinds} {...audience} />
      {replyPolicy && replyPolicy.kind !== 'EVERYONE' && <For icon="comment" label="Replies: " kinds={replyKinds} {...replyPolicy} />}
    </>
  );
}

const For = ({ icon, label, kinds, kind, circles }) => (
  <span class="for">
    <Drawing of={icon} />
    <span>{label}{circles?.length ? circles.map(({ id, name }, i) => <span key={id}>{i > 0 && ', '}<bdi>{name}</bdi></span>) : kinds[kind].label}</span>
  </span>
);
