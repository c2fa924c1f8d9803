import { useQuery } from '@urql/preact';
import { Account as Query, ChangePassword, DeactivateAccount, DeleteAccount, SetEmail } from '../api/operations.js';
import { useTitle } from '../hooks.js';
import { AccessTokens } from '../parts/AccessTokens.jsx';
import { CurrentPassword, Field, NewPassword, Section } from '../parts/Form.jsx';
import { Leave } from '../parts/Leave.jsx';
import { Sessions } from '../parts/Sessions.jsx';
import { SettingsPages } from '../parts/SettingsPages.jsx';
import { Waiting } from '../parts/states.jsx';
import { useSession } from '../session.jsx';

export function Account() {
  useTitle('Account');
  const [{ data, error }, read] = useQuery({ query: Query, requestPolicy: 'cache-and-network' });
  const account = data?.viewer;
  return (
    <>
      <h1>Settings</h1>
      <SettingsPages />
      {account ? <Sections account={account} /> : <Waiting error={error} again={read} />}
    </>
  );
}

// Sections leaves out the password, and the address to reset it, if only an OpenID provider signs
// the person in.
function Sections({ account }) {
  const { config } = useSession();
  return (
    <>
      {account.hasPassword && <Password />}
      {account.hasPassword && config.mail && <Email {...account} />}
      <Sessions />
      <AccessTokens />
      <section class="card">
        <h2>Your data</h2>
        <p>Download all that Plaza has stored about you, from your profile to your posts, comments and reactions. The file has one JSON object in each line. If the download is complete, the last one is of the type “end”.</p>
        <a class="button" href="/export" download>Download my data</a>
      </section>
      <Leaving hasPassword={account.hasPassword} />
    </>
  );
}

function Password() {
  const { me } = useSession();
  return (
    <Section title="Password" mutation={ChangePassword} submit="Change password" done="Your password is changed. Your other sessions and your access tokens have ended.">
      <input hidden readOnly autoComplete="username" value={me.handle} />
      <CurrentPassword />
      <NewPassword />
    </Section>
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

const Leaving = ({ hasPassword }) => (
  <section class="card">
    <h2>Leaving</h2>
    <p>While your account is deactivated, others see neither your profile nor anything that you wrote. Sign in again, and everything is back.</p>
    <p>Deleting your account removes all of that for good.</p>
    <p class="actions">
      <Leave label="Deactivate my account" question="Deactivate your account?" mutation={DeactivateAccount} notice="deactivated" hasPassword={hasPassword}>
        <p>You will be signed out everywhere, and your access tokens end. To come back, sign in again. You will then need new access tokens.</p>
      </Leave>
      <Leave class="danger" label="Delete my account" question="Delete your account?" mutation={DeleteAccount} notice="deleted" hasPassword={hasPassword}>
        <p>Your profile, posts, comments and reactions disappear at once, for everyone. Posts by others on your wall move to their own walls. Perhaps you want to download your data first.</p>
        <label class="check"><input type="checkbox" required />I understand that this can't be undone.</label>
      </Leave>
    </p>
  </section>
);
