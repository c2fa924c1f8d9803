import { Day, Name, Text, Time } from './basics.jsx';
import { subjects } from './Case.jsx';
import { decisions } from './Decision.jsx';

const deleted = 'a deleted account';

// AuditEntry is a decision, as administrators see it.
export function AuditEntry({ of: { decision, subjectKind, author, moderator, isByOperator, until, reason, createdAt } }) {
  const { past, ofAuthor } = decisions[decision];
  const what = subjectKind === 'USER' ? null : subjects[subjectKind];
  return (
    <article class="card">
      <p>
        <b>{past}</b>{until && <> until <Day at={until} /></>}: {what && !ofAuthor && `${what} by `}{author ? <Name user={author} /> : deleted}
        {what && ofAuthor && `, because of a ${what}`}
      </p>
      <Text text={reason} fold />
      <p class="about"><span>{isByOperator ? 'By an operator' : <>By {moderator ? <Name user={moderator} /> : deleted}</>}</span><Time at={createdAt} /></p>
    </article>
  );
}
