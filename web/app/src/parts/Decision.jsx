// What moderators decide about a case.
import { useState } from 'preact/hooks';
import { DecideCase } from '../api/operations.js';
import { DialogButton } from './basics.jsx';
import { Choice, Field, Form } from './Form.jsx';

const isBanned = ({ author }) => author.standing.kind === 'BANNED';
const isAway = ({ author }) => ['SUSPENDED', 'BANNED'].includes(author.standing.kind);

// decisions are in the order of their buttons. fits(case) says when there is something to decide.
// Those that are ofAuthor change the author's account, and leave what was reported as it is.
export const decisions = {
  DISMISS: {
    label: 'Dismiss', past: 'Dismissed', fits: ({ state }) => state === 'OPEN',
    question: () => 'Dismiss these reports?', effect: 'Nothing is wrong: this closes the case, and changes nothing else.',
    done: () => 'The reports are dismissed.',
  },
  HIDE: {
    label: 'Hide', past: 'Hidden', fits: ({ state, content, isHidden }) => state === 'OPEN' && content && !isHidden,
    question: ({ what }) => `Hide this ${what}?`, effect: 'It disappears for everyone but its author. You can restore it later.',
    done: ({ what }) => `The ${what} is hidden.`,
  },
  RESTORE: {
    label: 'Restore', past: 'Restored', fits: ({ content, isHidden }) => content && isHidden,
    question: ({ what }) => `Restore this ${what}?`, effect: 'It is back where it was, for those who were its audience.',
    done: ({ what }) => `The ${what} is restored.`,
  },
  REMOVE: {
    label: 'Remove', past: 'Removed', danger: true, fits: ({ state, content, isHidden }) => content && (state === 'OPEN' || isHidden),
    question: ({ what }) => `Remove this ${what}?`, effect: "It is deleted for everyone, also for its author. This can't be undone.",
    done: ({ what }) => `The ${what} is removed.`,
  },
  SUSPEND: {
    label: 'Suspend', past: 'Suspended', ofAuthor: true, danger: true, fits: (seen) => seen.author && !isBanned(seen),
    question: ({ name }) => `Suspend ${name}?`, effect: 'They can sign in and read, and change nothing but their own account. What they wrote stays visible.',
    done: ({ name }) => `${name} is suspended.`,
  },
  BAN: {
    label: 'Ban', past: 'Banned', ofAuthor: true, danger: true, fits: (seen) => seen.author && !isBanned(seen),
    question: ({ name }) => `Ban ${name}?`, effect: "They can't sign in any more. To everyone else, their account and all that they wrote are as if they had never existed. You can reinstate them later.",
    done: ({ name }) => `${name} is banned.`,
  },
  REINSTATE: {
    label: 'Reinstate', past: 'Reinstated', ofAuthor: true, fits: (seen) => seen.author && isAway(seen),
    question: ({ name }) => `Reinstate ${name}?`, effect: 'They are back, with all that they wrote.',
    done: ({ name }) => `${name} is reinstated.`,
  },
};

// Decisions are the buttons of a case, each of which opens a form. then(text) says what was done.
// subject is { what, name, title }: its noun, its author, and what names the case.
export const Decisions = ({ of: seen, subject, then }) => (
  <div class="actions" role="group" aria-label={`Decide: ${subject.title}`}>
    {Object.entries(decisions).filter(([, { fits }]) => fits(seen)).map(([kind, { label, question, done }]) => (
      <DialogButton key={kind} label={label} title={question(subject)} aria-label={`${label}: ${subject.title}`}>
        {(close) => <DecisionForm kind={kind} seen={seen} subject={subject} then={() => { close(); then(done(subject)); }} />}
      </DialogButton>
    ))}
  </div>
);

function DecisionForm({ kind, seen, subject, then }) {
  const { label, effect, ofAuthor, danger } = decisions[kind];
  return (
    <Form mutation={DecideCase} submit={label} danger={danger} complete={({ days, ...input }) => ({ ...input, caseId: seen.id, decision: kind })} then={then}>
      <p>{effect}</p>
      {ofAuthor && decisions.HIDE.fits(seen) && <p>This closes the case. If you also want to hide or remove the {subject.what}, do that first.</p>}
      {kind === 'SUSPEND' && <End />}
      <Field
        label="Reason" name="reason" as="textarea" rows="3"
        hint={kind === 'DISMISS' ? 'For administrators' : `${seen.subjectKind === 'USER' ? 'This person' : 'The author'} reads it, but not who decided`}
      />
    </Form>
  );
}

const ends = { 1: { label: '1 day' }, 7: { label: '7 days' }, 30: { label: '30 days' }, 365: { label: '1 year' }, OTHER: { label: 'Another time' } };

const timeOf = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

// End chooses when a suspension ends. The time is that of the choice, so that a form that is sent
// again is the same.
function End() {
  const [chosen, setChosen] = useState({});
  const choose = (days) => setChosen({ days, until: days === 'OTHER' ? null : new Date(Date.now() + days * 86_400_000) });
  const isOther = chosen.days === 'OTHER';
  return (
    <>
      <Choice legend="For how long?" name="days" part={isOther ? 'days' : 'until'} options={ends} chosen={chosen.days} onChoose={choose}>
        {chosen.until && <p class="hint">Until {timeOf.format(chosen.until)}<input hidden name="until" value={chosen.until.toISOString()} /></p>}
      </Choice>
      {isOther && <Field label="Until" name="until" type="datetime-local" required />}
    </>
  );
}
