import { useQuery } from '@urql/preact';
import { NotificationSettings as Query, SetNotificationSetting } from '../api/operations.js';
import { Toggle } from './basics.jsx';
import { Waiting } from './states.jsx';

const labels = {
  COMMENT: 'Comments on your posts', REPLY: 'Replies to your comments', MENTION: 'Mentions of you', REACTION: 'Reactions to your posts',
  FOLLOW: 'New followers', WALL_POST: 'Posts on your wall', POLL_CLOSED: 'Polls you wrote or voted in, when they close',
};

// NotificationSettings is the section of the settings that turns each kind of notifications on or
// off.
export function NotificationSettings() {
  const [{ data, error }, read] = useQuery({ query: Query, requestPolicy: 'cache-and-network' });
  const settings = data?.viewer?.notificationSettings;
  return (
    <section class="card">
      <h2>Notifications</h2>
      {!settings && <Waiting error={error} again={read} />}
      <ul class="plain">
        {settings?.map(({ kind, enabled }) => (
          <li key={kind}><Toggle isOn={enabled} mutation={SetNotificationSetting} input={{ kind, enabled: !enabled }}>{labels[kind]}</Toggle></li>
        ))}
      </ul>
      <p class="hint">While a kind is off, you get no notifications of that kind, not even later. Those you already have stay.</p>
    </section>
  );
}
