import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { getState, signIn, signOut, subscribe } from './api.js';
import icon from './icon.svg';

export function SignInBar({ demo, app }) {
  const { session, message, asksToSignIn } = useSyncExternalStore(subscribe, getState);
  const [busy, setBusy] = useState(false);
  const [isSlow, setIsSlow] = useState(false);
  const bar = useRef(null);
  const hasRun = useRef(false);

  async function run(action) {
    if (busy) return;
    hasRun.current = true;
    setBusy(true);
    const timer = setTimeout(() => setIsSlow(true), 400);
    await action();
    clearTimeout(timer);
    setIsSlow(false);
    setBusy(false);
  }

  // Signing in and out removes what had the focus: give it to what has come instead, for users of a keyboard.
  useEffect(() => {
    if (busy || !hasRun.current) return;
    hasRun.current = false;
    if (document.activeElement === document.body) bar.current.querySelector('button').focus();
  }, [busy]);

  function onSubmit(event) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    run(() => signIn(form.get('handle').trim().replace(/^@/, ''), form.get('password')));
  }

  return (
    <header ref={bar} className={asksToSignIn ? 'plaza-bar plaza-asks' : 'plaza-bar'}>
      <strong className="plaza-name">
        <img src={icon} alt="" width="20" height="20" /> Plaza
      </strong>
      {app && <a href={app}>Web app</a>}
      <span className="plaza-message" role="status">
        {/* The old message goes first, so that screen readers read the same one again. */}
        {busy ? isSlow && 'Waiting for an answer…' : message}
      </span>
      {session ? (
        <>
          <span>
            Signed in as <b title={session.name}>@{session.handle}</b>
          </span>
          <button type="button" aria-disabled={busy} onClick={() => run(signOut)}>
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
              <button type="button" className="plaza-demo" aria-disabled={busy} onClick={() => run(() => signIn(demo.handle, demo.password))}>
                Sign in as @{demo.handle} (demo)
              </button>
            </>
          )}
          <form onSubmit={onSubmit}>
            <input name="handle" placeholder="Handle" aria-label="Handle" autoComplete="username" autoCapitalize="none" spellCheck={false} required />
            <input name="password" type="password" placeholder="Password" aria-label="Password" autoComplete="current-password" required />
            <button aria-disabled={busy}>Sign in</button>
          </form>
        </>
      )}
    </header>
  );
}
