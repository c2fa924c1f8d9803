// Access tokens, with which programs act for the viewer.
import { useState } from 'preact/hooks';
import { useQuery } from '@urql/preact';
import { AccessTokens as Query, CreateAccessToken, RevokeAccessToken } from '../api/operations.js';
import { hasRight } from '../rights.js';
import { Confirm, Day, Dialog, DialogButton, Outcome, Time } from './basics.jsx';
import { Field, Form, useErrors } from './Form.jsx';
import { Waiting } from './states.jsx';

const scopes = {
  READ_PUBLIC: 'Read what everyone can read',
  READ_FEED: 'Read everything that you can read',
  WRITE_POSTS: 'Write, edit and delete your posts and comments; react, vote, mute threads, and report',
  WRITE_GRAPH: 'Follow, block and mute people, and manage your circles',
  WRITE_PROFILE: 'Change your profile and your notifications',
};
const scopesOfRights = { MANAGE_ADS: 'Manage ads', MODERATE: 'Moderate', ADMIN: 'Manage profile properties' };

// AccessTokens is a section of the settings.
export function AccessTokens() {
  const [{ data, error }, read] = useQuery({ query: Query, requestPolicy: 'cache-and-network' });
  const [revoked, setRevoked] = useState(null);
  const tokens = data?.viewer?.accessTokens;
  return (
    <section class="card">
      <h2>Access tokens</h2>
      <p class="hint">A program that acts for you needs neither your password nor your session: give it an access token, which can do only what you choose, and never reaches your account settings.</p>
      {!tokens && <Waiting error={error} again={read} />}
      {revoked && <Outcome key={revoked.id}><p>“<bdi>{revoked.name}</bdi>” is revoked.</p></Outcome>}
      <ul class="plain">{tokens?.map((token) => <Token key={token.id} {...token} then={() => setRevoked(token)} />)}</ul>
      <p class="actions"><NewToken rights={data?.viewer?.rights ?? []} /></p>
    </section>
  );
}

const Token = ({ id, name, scopes: own, expiresAt, lastUsedAt, then }) => (
  <li>
    <span class="what">
      <bdi>{name}</bdi>
      <small>{own.map((scope) => scopes[scope] ?? scopesOfRights[scope]).join('. ')}.</small>
      <small>{lastUsedAt ? <>Used <Time at={lastUsedAt} /></> : 'Never used'}, expires on <Day at={expiresAt} /></small>
    </span>
    <Confirm class="quiet" label="Revoke" question={`Revoke “${name}”?`} mutation={RevokeAccessToken} input={{ accessTokenId: id }} then={then}>
      Programs that use this token can do nothing more with it. This can't be undone.
    </Confirm>
  </li>
);

// NewToken is a button that creates a token. A slip must not close the dialog with it: it is shown
// only once.
function NewToken({ rights }) {
  const [token, setToken] = useState(null);
  return (
    <>
      <DialogButton label="Create an access token" title="Create an access token">
        {(close) => (
          <Form mutation={CreateAccessToken} submit="Create" then={(payload) => { close(); setToken(payload.token); }}>
            <Field label="Name" hint="What it is for, such as the name of the program" name="name" maxLength={100} />
            <Scopes rights={rights} />
            <Field label="Days until it expires" hint="1 to 365" name="expiresInDays" type="number" min="1" max="365" required defaultValue="90" />
          </Form>
        )}
      </DialogButton>
      {token && <Dialog title="Your access token" isFirm onClose={() => setToken(null)}><Secret text={token} /></Dialog>}
    </>
  );
}

// Scopes offers what a program may do.
function Scopes({ rights }) {
  const { messages, connected } = useErrors('scopes');
  const ofRights = Object.entries(scopesOfRights).filter(([scope]) => hasRight(rights, scope));
  return (
    <fieldset tabIndex={messages ? -1 : undefined} {...connected}>
      <legend>What may the program do?</legend>
      {[...Object.entries(scopes), ...ofRights].map(([scope, label]) => (
        <label class="check" key={scope}><input type="checkbox" name="scopes" data-list value={scope} />{label}</label>
      ))}
      {messages}
    </fieldset>
  );
}

// Secret shows a token. Browsers copy only on pages that came over HTTPS, or from this machine.
function Secret({ text }) {
  const [outcome, setOutcome] = useState('');
  const copy = () => navigator.clipboard.writeText(text).then(
    () => setOutcome('It is copied.'),
    () => setOutcome('Your browser does not allow that. Select the token, and copy it yourself.'),
  );
  return (
    <>
      <p>This is the token. Copy it now: it is shown only once. Anyone who has it can do what you chose.</p>
      <input aria-label="The token" readOnly autofocus value={text} onFocus={({ target }) => target.select()} />
      <p class="actions">
        {navigator.clipboard && <button type="button" onClick={copy}>Copy</button>}
        <span class="hint" role="status">{outcome}</span>
      </p>
    </>
  );
}
