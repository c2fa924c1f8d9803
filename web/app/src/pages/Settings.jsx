import { Blocked, Muted, UnblockUser, UnmuteUser, UpdateProfile } from '../api/operations.js';
import { useList, useTitle } from '../hooks.js';
import { Act, PersonRow } from '../parts/basics.jsx';
import { Field, Section } from '../parts/Form.jsx';
import { More } from '../parts/Feed.jsx';
import { NotificationSettings } from '../parts/NotificationSettings.jsx';
import { SettingsPages } from '../parts/SettingsPages.jsx';
import { Waiting } from '../parts/states.jsx';
import { useSession } from '../session.jsx';

const policies = { EVERYONE: 'Everyone', FOLLOWED: 'The people I follow', NOBODY: 'Only me' };

export function Settings() {
  useTitle('Settings');
  const { me, renew } = useSession();
  return (
    <>
      <h1>Settings</h1>
      <SettingsPages />
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
      <People title="Blocked" query={Blocked} listOf={({ viewer }) => viewer?.blockedUsers} none="You haven't blocked anyone." mutation={UnblockUser} undo="Unblock" then={renew} />
      <People title="Muted" query={Muted} listOf={({ viewer }) => viewer?.mutedUsers} none="You haven't muted anyone." mutation={UnmuteUser} undo="Unmute" />
    </>
  );
}

function People({ title, query, listOf, none, mutation, undo, then }) {
  const reading = useList(query, {}, listOf, 'cache-and-network');
  const { list, error, readAgain } = reading;
  return (
    <section class="card">
      <h2>{title}</h2>
      {!list && <Waiting error={error} again={readAgain} />}
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
