// Sign-in with OpenID providers, such as Keycloak or Google.
import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '@urql/preact';
import { useLocation } from 'wouter-preact';
import { Registration, SignInWithIdToken } from '../api/operations.js';
import { canLeave, comeBack, hostOf, leave } from '../api/provider.js';
import { useAct, useTitle } from '../hooks.js';
import { useSession } from '../session.jsx';
import { Field, Form } from './Form.jsx';
import { Loading } from './states.jsx';

// Providers offers them as buttons.
export function Providers() {
  const [{ data }] = useQuery({ query: Registration });
  const [path] = useLocation();
  const [failure, setFailure] = useState(null);
  if (!canLeave) return null;
  const from = history.state?.from ?? (path === '/sign-in' ? '/' : path + location.search);
  return (
    <>
      {data?.identityProviders.map((provider) => (
        <p key={provider.issuer + provider.clientId}>
          <button type="button" onClick={() => leave(provider, from).catch(setFailure)}>Sign in with {hostOf(provider)}</button>
        </p>
      ))}
      {failure && <p class="error" role="alert">{failure.message}</p>}
    </>
  );
}

const asksForInvitation = ({ path }) => path[1] === 'invitation';

// Back finishes the sign-in when a provider has sent someone back. The first sign-in may need an invitation. end() gives up.
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
          <Field label="Invitation" hint="The code that you were given" name="invitation" autoComplete="off" spellCheck={false} />
        </Form>
      ) : (failure ? [failure] : errors).map(({ message }) => <p class="error" role="alert" key={message}>{message}</p>)}
      <p><button type="button" class="quiet" onClick={end}>Back to the sign-in</button></p>
    </section>
  );
}
