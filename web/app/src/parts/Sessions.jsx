import { useState } from 'preact/hooks';
import { useQuery } from '@urql/preact';
import { RevokeOtherSessions, RevokeSession, Sessions as Query } from '../api/operations.js';
import { Act, Day, Outcome, Time } from './basics.jsx';
import { SignOut } from './SignOut.jsx';
import { Waiting } from './states.jsx';

// Sessions is the section of the settings with everything where the viewer is signed in.
export function Sessions() {
  const [{ data, error }, read] = useQuery({ query: Query, requestPolicy: 'cache-and-network' });
  const [ended, setEnded] = useState(null);
  const [isDone, setIsDone] = useState(false);
  const sessions = data?.viewer?.sessions;
  return (
    <section class="card">
      <h2>Sessions</h2>
      <p class="hint">Each sign-in, in a browser, an app or a program, is a session. It ends when you haven't used it for 30 days. If you don't know one of them, end it, and change your password.</p>
      {!sessions && <Waiting error={error} again={read} />}
      {ended && <Outcome key={ended}><p>The session has ended.</p></Outcome>}
      <ul class="plain">{sessions?.map((session) => <Session key={session.id} {...session} then={() => setEnded(session.id)} />)}</ul>
      <p class="actions">
        <Act mutation={RevokeOtherSessions} input={{}} then={() => setIsDone(true)}>Sign out everywhere else</Act>
        <SignOut class="danger" />
      </p>
      <p role="status">{isDone && 'All your other sessions have ended.'}</p>
    </section>
  );
}

const Session = ({ id, createdAt, lastUsedAt, isCurrent, then }) => (
  <li>
    <span class="what" id={id}>
      <span>Signed in on <Day at={createdAt} /></span>
      <small>{isCurrent ? 'This browser' : <>Used <Time at={lastUsedAt} /></>}</small>
    </span>
    {!isCurrent && <Act mutation={RevokeSession} input={{ sessionId: id }} then={then} aria-describedby={id}>End</Act>}
  </li>
);
