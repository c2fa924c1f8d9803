// The page that asks for a mail, and those that the links of mails lead to.
import { useState } from 'preact/hooks';
import { Link, useSearchParams } from 'wouter-preact';
import { ConfirmEmail as ConfirmEmailMutation, RequestPasswordReset, ResetPassword as ResetPasswordMutation } from '../api/operations.js';
import { useTitle } from '../hooks.js';
import { Field, Form } from '../parts/Form.jsx';

// Steps shows a form until it has been sent, and then what happens next: done(payload).
function Steps({ title, done, children, ...form }) {
  useTitle(title);
  const [payload, setPayload] = useState(null);
  return (
    <section class="card narrow">
      <h1>{title}</h1>
      {payload ? <div role="status">{done(payload)}</div> : <Form {...form} then={setPayload}>{children}</Form>}
    </section>
  );
}

const withAccount = ({ account }) => ({ account: account.trim().replace(/^@/, '') });

export const ForgotPassword = () => (
  <Steps
    title="Forgot your password?" mutation={RequestPasswordReset} submit="Send me a link" complete={withAccount}
    done={() => <p>If there is such an account, and it has a confirmed e-mail address, a mail is on its way to it. The link in it works for an hour.</p>}
  >
    <p>You get a mail with a link to set a new one.</p>
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
          <p>The password of @{handle} is set. All its sessions have ended.</p>
          <p><Link class="button" href="/sign-in">Sign in</Link></p>
        </>
      )}
    >
      <Field label="New password" hint="At least 8 characters" name="newPassword" type="password" autoComplete="new-password" />
    </Steps>
  );
}

export function ConfirmEmail() {
  const [search] = useSearchParams();
  return (
    <Steps
      title="Confirm your e-mail address" mutation={ConfirmEmailMutation} submit="Confirm" complete={() => ({ token: search.get('token') ?? '' })}
      done={({ email }) => <p>{email} is confirmed. If you forget your password, a mail to it helps.</p>}
    >
      <p>Is this your address? Then confirm it.</p>
    </Steps>
  );
}
