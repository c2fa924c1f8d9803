import { useState, useSyncExternalStore } from 'react';
import { getState, signIn, signOut, subscribe } from './api.js';
import icon from './icon.svg';

export function SignInBar({ demo }) {
  const { session, message, asksToSignIn } = useSyncExternalStore(subscribe, getState);
  const [busy, setBusy] = useState(false);

  async function run(action) {
    setBusy(true);
    await action();
    setBusy(false);
  }

  function onSubmit(event) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    run(() => signIn(form.get('handle').trim().replace(/^@/, ''), form.get('password')));
  }

  return (
    <header className={asksToSignIn ? 'plaza-bar plaza-asks' : 'plaza-bar'}>
      <strong className="plaza-name">
        <img src={icon} alt="" width="20" height="20" /> Plaza
      </strong>
      <span className="plaza-message" role="status">
        {message}
      </span>
      {session ? (
        <>
          <span>
            Signed in as <b title={session.name}>@{session.handle}</b>
          </span>
          <button type="button" disabled={busy} onClick={() => run(signOut)}>
            Sign out
          </button>
        </>
      ) : (
        <>
          {demo && (
            <>
              <span className="plaza-hint">
                Demo: handle <code>{demo.handle}</code>, password <code>{demo.password}</code>
              </span>
              <button type="button" className="plaza-demo" disabled={busy} onClick={() => run(() => signIn(demo.handle, demo.password))}>
                Sign in as @{demo.handle} (demo)
              </button>
            </>
          )}
          <form onSubmit={onSubmit}>
            <input name="handle" placeholder="Handle" aria-label="Handle" autoComplete="username" autoCapitalize="none" spellCheck={false} required />
            <input name="password" type="password" placeholder="Password" aria-label="Password" autoComplete="current-password" required />
            <button disabled={busy}>Sign in</button>
          </form>
        </>
      )}
    </header>
  );
}
