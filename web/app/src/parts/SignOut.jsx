import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { useSession } from '../session.jsx';

export function SignOut(props) {
  const { end } = useSession();
  const [, navigate] = useLocation();
  const [failure, setFailure] = useState('');
  async function onClick() {
    try {
      await end();
      navigate('/');
    } catch ({ message }) {
      setFailure(message);
    }
  }
  return (
    <>
      <button type="button" onClick={onClick} {...props}>Sign out</button>
      {failure && <span class="error" role="alert">{failure}</span>}
    </>
  );
}
