import { useState } from 'preact/hooks';
import { messageOf } from '../api/client.js';
import { backwards } from '../api/lists.js';
import { AuditLog, DecidedCases, OpenCases } from '../api/operations.js';
import { useList, useTitle } from '../hooks.js';
import { AuditEntry } from '../parts/AuditEntry.jsx';
import { Errors, Tabs } from '../parts/basics.jsx';
import { Boundary } from '../parts/Boundary.jsx';
import { Case } from '../parts/Case.jsx';
import { More } from '../parts/Feed.jsx';
import { Empty, Waiting } from '../parts/states.jsx';
import { hasRight } from '../rights.js';
import { useMe } from '../session.jsx';

const views = {
  OPEN: {
    label: 'Open', query: OpenCases, listOf: ({ moderation }) => moderation?.cases, Entry: Case,
    hint: 'Cases that wait for a decision, the oldest first.',
    none: ['Nothing to decide', 'When someone reports a post, a comment or a person, the case appears here.'],
  },
  DECIDED: {
    label: 'Decided', query: DecidedCases, listOf: ({ moderation }) => backwards(moderation?.cases), Entry: Case,
    hint: 'The case that was opened last comes first. A new report opens a case again.',
    none: ['No case is decided yet', 'Here you find the cases that moderators have decided, to undo a decision.'],
  },
  LOG: {
    label: 'Audit log', query: AuditLog, listOf: ({ moderation }) => moderation?.auditLog, Entry: AuditEntry, right: 'ADMIN',
    hint: 'All decisions, the latest first.',
    none: ['No decisions yet', 'Here you read what moderators and operators have decided, and why.'],
  },
};

export function Moderation() {
  useTitle('Moderation');
  const { rights } = useMe();
  const [view, setView] = useState('OPEN');
  if (!hasRight(rights, 'MODERATE')) return <Empty title="This page is for moderators"><p>The people who run this Plaza choose them. If they have just chosen you, reload the page.</p></Empty>;
  const offered = Object.entries(views).filter(([, { right }]) => !right || hasRight(rights, right));
  return (
    <>
      <h1>Moderation</h1>
      <Tabs label="Cases" options={Object.fromEntries(offered.map(([value, { label }]) => [value, label]))} chosen={view} onChoose={setView} />
      <Entries key={view} {...views[view]} />
    </>
  );
}

function Entries({ query, listOf, Entry, hint, none: [title, text] }) {
  const reading = useList(query, {}, listOf, 'cache-and-network');
  const { list, error, fetching, readAgain } = reading;
  if (!list) return <Waiting error={error} again={readAgain} />;
  return (
    <>
      <div class="heading">
        <p class="hint">{hint}</p>
        <button type="button" aria-disabled={fetching} onClick={readAgain}>{fetching ? 'One moment…' : 'Refresh'}</button>
      </div>
      <Errors of={error ? [{ message: messageOf(error) }] : []} />
      {list.edges.length === 0 && <Empty title={title}><p>{text}</p></Empty>}
      {list.edges.map(({ node }, i) => <Boundary key={node.id} fallback={<article class="card"><p>This entry can't be shown.</p></article>}><Entry of={node} number={i + 1} /></Boundary>)}
      <More reading={reading} />
    </>
  );
}
