// Access tokens, with which programs act for the viewer.
import { useState } from 'preact/hooks';
import { useQuery } from '@urql/preact';
import { AccessTokens as Query, CreateAccessToken, RevokeAccessToken } from '../api/operations.js';
import { Confirm, Day, DialogButton, Outcome, Time } from './basics.jsx';
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
  const tokens = data?.viewer?.accessTokens;
  return (
    <section class="card">
      <h2>Access tokens</h2>
      <p class="hint">A program that acts for you needs neither your password nor your session: give it an access token, which can do only what you choose, and never reaches your account settings.</p>
      {!tokens && <Waiting error={error} again={read} />}
      <ul class="plain">{tokens?.map((token) => <Token key={token.id} {...token} />)}</ul>
      <p class="actions">
        <DialogButton label="Create an access token" title="Create an access token">{() => <NewToken rights={data?.viewer?.rights ?? []} />}</DialogButton>
      </p>
    </section>
  );
}

const Token = ({ id, name, scopes: own, expiresAt, lastUsedAt }) => (
  <li>
    <span class="what">
      <bdi>{name}</bdi>
      <small>{own.map((scope) => scopes[scope] ?? scopesOfRights[scope]).join('. ')}.</small>
      <small>{lastUsedAt ? <>Used <Time at={lastUsedAt} /></> : 'Never used'}, expires on <Day at={expiresAt} /></small>
    </span>
    <Confirm class="quiet" label="Revoke" question={`Revoke “${name}”?`} mutation={RevokeAccessToken} input={{ accessTokenId: id }}>
      Programs that use this token can do nothing more with it. This can't be undone.
    </Confirm>
  </li>
);

function NewToken({ rights }) {
  const [token, setToken] = useState(null);
  if (token) return <Outcome><Secret text={token} /></Outcome>;
  return (
    <Form mutation={CreateAccessToken} submit="Create" then={(payload) => setToken(payload.token)}>
      <Field label="Name" hint="What it is for, such as the name of the program" name="name" maxLength={100} />
      <Scopes rights={rights} />
      <Field label="Days until it expires" hint="1 to 365" name="expiresInDays" type="number" min="1" max="365" required defaultValue="90" />
    </Form>
  );
}

// Scopes offers what a program may do; the right ADMIN includes all others.
function Scopes({ rights }) {
  const { messages, connected } = useErrors('scopes');
  const ofRights = Object.entries(scopesOfRights).filter(([scope]) => rights.includes(scope) || rights.includes('ADMIN'));
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
      <input aria-label="The token" readOnly value={text} onFocus={({ target }) => target.select()} />
      <p class="actions">
        {navigator.clipboard && <button type="button" onClick={copy}>Copy</button>}
        <span class="hint" role="status">{outcome}</span>
      </p>
    </>
  );
}
