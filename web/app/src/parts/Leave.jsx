import { useLocation } from 'wouter-preact';
import { useSession } from '../session.jsx';
import { DialogButton } from './basics.jsx';
import { CurrentPassword, Form } from './Form.jsx';

// Leave is a button for a mutation that ends the session. It asks for the password, if there is
// one. Afterwards the notice says what has happened.
export function Leave({ label, question, mutation, notice, hasPassword, children, ...rest }) {
  const { end } = useSession();
  const [, navigate] = useLocation();
  async function leave() {
    await end(notice);
    navigate('/sign-in');
  }
  return (
    <DialogButton label={label} title={question} {...rest}>
      {() => (
        <Form mutation={mutation} submit={label} danger then={leave}>
          {children}
          {hasPassword && <CurrentPassword name="password" />}
        </Form>
      )}
    </DialogButton>
  );
}
