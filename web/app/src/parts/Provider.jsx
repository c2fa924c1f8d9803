// Sign-in with OpenID providers, such as Keycloak.
import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '@urql/preact';
import { Registration, SignInWithIdToken } from '../api/operations.js';
import { canLeave, comeBack, leave, nameOf } from '../api/provider.js';
import { useAct, useTitle } from '../hooks.js';
import { useSession } from '../session.jsx';
import { Errors, useFrom } from './basics.jsx';
import { Form, InvitationField } from './Form.jsx';
import { Loading } from './states.jsx';

// Providers is a button for each provider.
export function Providers() {
  const [{ data }] = useQuery({ query: Registration });
  return data?.identityProviders.map((provider) => <ProviderButton key={provider.issuer + provider.clientId} provider={provider} />);
}

function ProviderButton({ provider }) {
  const from = useFrom();
  const [isLeaving, setIsLeaving] = useState(false);
  const [failure, setFailure] = useState(null);
  const name = nameOf(provider);
  async function onClick() {
    if (isLeaving) return;
    setIsLeaving(true);
    setFailure(null);
    await leave(provider, from).catch(setFailure);
    setIsLeaving(false);
  }
  if (!canLeave) return <p class="hint">Sign-in with {name} needs HTTPS.</p>;
  return (
    <p>
      <button type="button" aria-disabled={isLeaving} onClick={onClick}>{isLeaving ? 'One moment…' : `Sign in with ${name}`}</button>
      {failure && <Errors of={[failure]} />}
    </p>
  );
}

const asksForInvitation = ({ path }) => path[1] === 'invitation';

// Back finishes the sign-in when a provider has sent someone back. The first sign-in may need an
// invitation. end() gives up.
export function Back({ end }) {
  useTitle('Sign in');
  const { begin } = useSession();
  const [signIn, { errors }] = useAct(SignInWithIdToken);
  const [token, setToken] = useState(null);
  const [failure, setFailure] = useState(null);
  const finish = (payload) => payload && begin(payload.token);
  useEffect(() => {
    comeBack().then((found) => { setToken(found); return signIn(found); }).then(finish).catch(setFailure);
  }, []);
  if (!failure && errors.length === 0) return <Loading />;
  return (
    <section class="card narrow">
      <h1>Sign in</h1>
      {errors.some(asksForInvitation) ? (
        <Form mutation={SignInWithIdToken} submit="Create my account" complete={(input) => ({ ...input, ...token })} then={finish}>
          <InvitationField />
        </Form>
      ) : <Errors of={failure ? [failure] : errors} />}
      <p><button type="button" class="quiet" onClick={end}>Back to sign-in</button></p>
    </section>
  );
}
