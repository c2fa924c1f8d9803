// A case: what was reported, why, and what moderators may decide.
import { useState } from 'preact/hooks';
import { withoutBidi } from '../hooks.js';
import { Address, Avatar, Name, Outcome, Text, Time } from './basics.jsx';
import { Decisions } from './Decision.jsx';
import { reasons } from './Report.jsx';
import { Standing } from './Standing.jsx';

export const subjects = { POST: 'post', COMMENT: 'comment', USER: 'person' };

// Case keeps its place when it is decided, with what can be undone, until the list is read again.
// Its number makes the names of its buttons differ from those of the other cases.
export function Case({ of: seen, number }) {
  const [outcome, setOutcome] = useState({ count: 0 });
  const { subjectKind, author, state, isHidden } = seen;
  const what = subjects[subjectKind];
  const name = author ? withoutBidi(author.name) : 'a deleted account';
  const title = `case ${number}, ${subjectKind === 'USER' ? name : `${what} by ${name}`}`;
  return (
    <article class="case card" aria-label={title}>
      <header>
        {author && <Avatar user={author} />}
        <div class="who">
          <h2>{author ? <Name user={author} /> : 'Deleted account'} {author && <small>@{author.handle}</small>}</h2>
          <p class="about"><span>Reported {what}</span>{state === 'DECIDED' && <span class="for">Decided</span>}{isHidden && <span class="for">Hidden</span>}</p>
        </div>
      </header>
      {author && <Standing of={author.standing} />}
      <Subject of={seen} what={what} />
      <Reports of={seen} />
      {outcome.text && <Outcome key={outcome.count}><p>{outcome.text}</p></Outcome>}
      <Decisions of={seen} subject={{ what, name, title }} then={(text) => setOutcome({ text, count: outcome.count + 1 })} />
    </article>
  );
}

function Subject({ of: { subjectKind, author, content }, what }) {
  if (subjectKind === 'USER') return author?.bio ? <blockquote><Text text={author.bio} fold /></blockquote> : null;
  if (!content) return <p class="hint">The {what} is deleted.</p>;
  const { postId, text, details, urls, createdAt, editedAt } = content;
  return (
    <blockquote>
      <Text text={text} fold />
      {details.length > 0 && <ul>{details.map((detail, i) => <li key={i}><bdi>{detail}</bdi></li>)}</ul>}
      {urls.map((url, i) => <Address key={i} url={url} />)}
      <p class="about"><Time at={createdAt} href={`/post/${postId}`} />{editedAt && <span>edited <Time at={editedAt} /></span>}</p>
    </blockquote>
  );
}

// Reports shows the reasons of all reports, and the texts of the latest.
function Reports({ of: { reasons: counts, reportsCount, latestReports, firstReportedAt, lastReportedAt } }) {
  return (
    <>
      <p class="about">
        {counts.map(({ reason, count }) => <span class="for" key={reason}>{reasons[reason].label}{count > 1 && ` × ${count}`}</span>)}
        <span>{reportsCount === 1 ? '1 report' : `${reportsCount} reports, the first`} <Time at={firstReportedAt} />{reportsCount > 1 && <>, the latest <Time at={lastReportedAt} /></>}</span>
      </p>
      <Texts of={latestReports.filter(({ text }) => text)} />
    </>
  );
}

const few = 3;

// Texts folds all but a few.
function Texts({ of: reports }) {
  const rest = reports.slice(few);
  return (
    <>
      {reports.length > 0 && <ul class="reports">{reports.slice(0, few).map((report, i) => <ReportOf key={i} {...report} />)}</ul>}
      {rest.length > 0 && <details><summary>{rest.length === 1 ? '1 more report' : `${rest.length} more reports`}</summary><ul class="reports">{rest.map((report, i) => <ReportOf key={i} {...report} />)}</ul></details>}
    </>
  );
}

const ReportOf = ({ reason, text, createdAt }) => (
  <li><p class="hint">{reasons[reason].label} · <Time at={createdAt} /></p><Text text={text} fold /></li>
);
