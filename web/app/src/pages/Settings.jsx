import { useState } from 'preact/hooks';
import { useMutation, useQuery } from '@urql/preact';
import { messageOf } from '../api/client.js';
import { Account, Blocked, ChangePassword, Muted, RevokeOtherSessions, SetEmail, UnblockUser, UnmuteUser, UpdateProfile } from '../api/operations.js';
import { useList, useTitle } from '../hooks.js';
import { Act, PersonRow } from '../parts/basics.jsx';
import { CurrentPassword, Field, Form, NewPassword } from '../parts/Form.jsx';
import { More } from '../parts/Feed.jsx';
import { NotificationSettings } from '../parts/NotificationSettings.jsx';
import { SignOut } from '../parts/SignOut.jsx';
import { Failure, Loading } from '../parts/states.jsx';
import { useSession } from '../session.jsx';

const policies = { EVERYONE: 'Everyone', FOLLOWED: 'The people I follow', NOBODY: 'Only me' };

export function Settings() {
  useTitle('Settings');
  const { me, renew } = useSession();
  return (
    <>
      <h1>Settings</h1>
      <Section title="Profile" mutation={UpdateProfile} submit="Save" done="Your profile is saved.">
        <Field label="Name" name="name" maxLength={100} defaultValue={me.name} />
        <Field label="About you" name="bio" as="textarea" rows="3" defaultValue={me.bio} />
        <Field label="Picture URL" name="avatarUrl" type="url" placeholder="https://…" defaultValue={me.avatarUrl ?? ''} />
        <div class="field">
          <label for="wall-policy">Who may write on your wall?</label>
          <select id="wall-policy" name="wallPolicy">
            {Object.entries(policies).map(([value, label]) => <option key={value} value={value} selected={me.wallPolicy === value}>{label}</option>)}
          </select>
        </div>
      </Section>
      <NotificationSettings />
      <Credentials />
      <People title="Blocked" query={Blocked} listOf={({ viewer }) => viewer?.blockedUsers} none="You haven't blocked anyone." mutation={UnblockUser} undo="Unblock" then={renew} />
      <People title="Muted" query={Muted} listOf={({ viewer }) => viewer?.mutedUsers} none="You haven't muted anyone." mutation={UnmuteUser} undo="Unmute" />
      <Sessions />
    </>
  );
}

// Credentials are the password, and the address for a forgotten one. Who signs in with an OpenID provider has neither.
function Credentials() {
  const { config, me } = useSession();
  const [{ data, error }, read] = useQuery({ query: Account, requestPolicy: 'cache-and-network' });
  const account = data?.viewer;
  if (!account) return <section class="card"><h2>Password</h2>{error ? <Failure error={error} again={read} /> : <Loading />}</section>;
  if (!account.hasPassword) return null;
  return (
    <>
      <Section title="Password" mutation={ChangePassword} submit="Change password" done="Your password is changed. Your other sessions have ended.">
        <input hidden readOnly autoComplete="username" value={me.handle} />
        <CurrentPassword />
        <NewPassword />
      </Section>
      {config.mail && <Email {...account} />}
    </>
  );
}

const Email = ({ email, unconfirmedEmail }) => (
  <Section title="E-mail" mutation={SetEmail} submit="Save" done="Saved." complete={(input) => ({ email: null, ...input })}>
    <p class="hint">Only you can see your address. Plaza uses it to reset a forgotten password.</p>
    {unconfirmedEmail && <p>We have sent a link to {unconfirmedEmail}. Open it to confirm the address.</p>}
    <Field label="E-mail address" hint="Leave it empty to remove it" name="email" type="email" data-optional autoComplete="email" defaultValue={unconfirmedEmail ?? email ?? ''} />
    <CurrentPassword />
  </Section>
);

function Section({ title, done, children, ...form }) {
  const [isDone, setIsDone] = useState(false);
  return (
    <section class="card">
      <h2>{title}</h2>
      <Form {...form} onInput={() => setIsDone(false)} then={(payload, form) => { form.querySelectorAll('[type=password]').forEach((field) => { field.value = ''; }); setIsDone(true); }}>{children}</Form>
      <p role="status">{isDone && done}</p>
    </section>
  );
}

function People({ title, query, listOf, none, mutation, undo, then }) {
  const reading = useList(query, {}, listOf, 'cache-and-network');
  const { list, error, readAgain } = reading;
  return (
    <section class="card">
      <h2>{title}</h2>
      {!list && (error ? <Failure error={error} again={readAgain} /> : <Loading />)}
      {list?.edges.length === 0 && <p>{none}</p>}
      <ul class="plain">
        {list?.edges.map(({ node }) => (
          <PersonRow key={node.id} user={node}><Act mutation={mutation} input={{ userId: node.id }} then={then} aria-label={`${undo} ${node.name}`}>{undo}</Act></PersonRow>
        ))}
      </ul>
      <More reading={reading} />
    </section>
  );
}

function Sessions() {
  const [{ data, error, fetching }, revoke] = useMutation(RevokeOtherSessions);
  return (
    <section class="card">
      <h2>Sessions</h2>
      <p class="actions">
        <button type="button" aria-disabled={fetching} onClick={() => revoke({})}>Sign out everywhere else</button>
        <SignOut class="danger" />
      </p>
      <p role="status">{data && 'All your other sessions have ended.'}</p>
      {error && <p class="error" role="alert">{messageOf(error)}</p>}
    </section>
  );
}
