import { useState } from 'preact/hooks';
import { useQuery } from '@urql/preact';
import { Link } from 'wouter-preact';
import { Registration, SignIn as SignInMutation, SignUp as SignUpMutation } from '../api/operations.js';
import { isBack } from '../api/provider.js';
import { useAct, useTitle } from '../hooks.js';
import { EntryLink, Errors, withoutAt } from '../parts/basics.jsx';
import { CurrentPassword, Field, Form, InvitationField, NewPassword } from '../parts/Form.jsx';
import { Back, Providers } from '../parts/Provider.jsx';
import { Loading } from '../parts/states.jsx';
import { useSession } from '../session.jsx';

const handle = { name: 'handle', autoComplete: 'username', autoCapitalize: 'none', spellCheck: false };

const withHandle = (input) => ({ ...input, handle: withoutAt(input.handle) });

const notices = {
  ended: 'Your session has ended. Please sign in again.', members: 'This Plaza is for members only. Please sign in.',
  deactivated: 'Your account is deactivated. To come back, sign in again.', deleted: 'Your account is deleted.',
};

export function SignIn() {
  const [isReturning, setIsReturning] = useState(isBack);
  return isReturning ? <Back end={() => setIsReturning(false)} /> : <SignInForm />;
}

function SignInForm() {
  useTitle('Sign in');
  const { config, begin, notice } = useSession();
  return (
    <section class="card narrow">
      <h1>Sign in</h1>
      {notice && <p role="alert">{notices[notice]}</p>}
      <Form mutation={SignInMutation} submit="Sign in" complete={withHandle} then={({ token }) => begin(token)}>
        <Field label="Handle" {...handle} />
        <CurrentPassword label="Password" name="password" />
      </Form>
      {config.mail && <p><Link href="/forgot-password">Forgot your password?</Link></p>}
      <Providers />
      <DemoButton />
      <Invitation />
    </section>
  );
}

export function SignUp() {
  useTitle('Create an account');
  const { begin } = useSession();
  const [{ data, error }] = useQuery({ query: Registration });
  if (!data && !error) return <Loading />;
  if (data?.registration === 'CLOSED') {
    return <section class="card narrow"><h1>Registration is closed</h1><p>The people who run this Plaza create the accounts.</p></section>;
  }
  return (
    <section class="card narrow">
      <h1>Create an account</h1>
      <Form mutation={SignUpMutation} submit="Create my account" complete={withHandle} then={({ token }) => begin(token)}>
        {data?.registration === 'INVITATION' && <InvitationField />}
        <Field label="Name" hint="As others see it" name="name" autoComplete="name" maxLength={100} />
        <Field label="Handle" hint="1 to 30 letters, digits or underscores" {...handle} maxLength={31} />
        <NewPassword label="Password" name="password" />
      </Form>
      <Providers />
      <p>Already have an account? <EntryLink href="/sign-in">Sign in</EntryLink></p>
    </section>
  );
}

// Invitation offers an account, if visitors can create one.
export function Invitation() {
  const [{ data }] = useQuery({ query: Registration });
  if (!data || data.registration === 'CLOSED') return null;
  return <p>New here? <EntryLink href="/sign-up">Create an account</EntryLink></p>;
}

export function DemoButton() {
  const { config: { demo }, begin } = useSession();
  const [act, { busy, errors }] = useAct(SignInMutation);
  if (!demo) return null;
  async function signIn() {
    const payload = await act({ handle: demo.handle, password: demo.password });
    if (payload) await begin(payload.token);
  }
  return (
    <p>
      <button type="button" class="primary" aria-disabled={busy} onClick={signIn}>Look around as @{demo.handle}</button>
      <Errors of={errors} />
    </p>
  );
}
