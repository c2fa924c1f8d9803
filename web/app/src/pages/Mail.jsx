// The page that asks for a mail, and those that the links of mails lead to.
import { useState } from 'preact/hooks';
import { Link, useSearchParams } from 'wouter-preact';
import { ConfirmEmail as ConfirmEmailMutation, RequestPasswordReset, ResetPassword as ResetPasswordMutation } from '../api/operations.js';
import { useTitle } from '../hooks.js';
import { Outcome, withoutAt } from '../parts/basics.jsx';
import { Field, Form, NewPassword } from '../parts/Form.jsx';

// Steps shows a form until it has been sent, and then what happens next: done(payload).
function Steps({ title, done, children, ...form }) {
  useTitle(title);
  const [payload, setPayload] = useState(null);
  return (
    <section class="card narrow">
      <h1>{title}</h1>
      {payload ? <Outcome>{done(payload)}</Outcome> : <Form {...form} then={setPayload}>{children}</Form>}
    </section>
  );
}

const withAccount = ({ account }) => ({ account: withoutAt(account) });

export const ForgotPassword = () => (
  <Steps
    title="Forgot your password?" mutation={RequestPasswordReset} submit="Send me a link" complete={withAccount}
    done={() => <p>If this account exists and has a confirmed e-mail address, we have sent it a link. The link works for one hour.</p>}
  >
    <p>We'll e-mail you a link to set a new one.</p>
    <Field label="Handle or e-mail address" name="account" autoComplete="username" autoCapitalize="none" spellCheck={false} />
  </Steps>
);

export function ResetPassword() {
  const [search] = useSearchParams();
  return (
    <Steps
      title="Set a new password" mutation={ResetPasswordMutation} submit="Set the password" complete={(input) => ({ ...input, token: search.get('token') ?? '' })}
      done={({ handle }) => (
        <>
          <p>The password of @{handle} is set. You are signed out everywhere.</p>
          <p><Link class="button" href="/sign-in">Sign in</Link></p>
        </>
      )}
    >
      <NewPassword />
    </Steps>
  );
}

export function ConfirmEmail() {
  const [search] = useSearchParams();
  return (
    <Steps
      title="Confirm your e-mail address" mutation={ConfirmEmailMutation} submit="Confirm" complete={() => ({ token: search.get('token') ?? '' })}
      done={({ email }) => <p>{email} is confirmed. You can use it to reset a forgotten password.</p>}
    >
      <p>Is this your address? Then confirm it.</p>
    </Steps>
  );
}
