// The smallest parts: names, pictures, texts and times of people, buttons, dialogs.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { useAct } from '../hooks.js';

const profileOf = ({ handle }) => `/people/${handle}`;

// tintOf chooses one of the colours in style.css.
const tintOf = (handle) => `tint-${[...handle].reduce((sum, letter) => sum + letter.codePointAt(0), 0) % 6}`;

export function Avatar({ user, large }) {
  const [isBroken, setIsBroken] = useState(false);
  const size = large ? 88 : 40;
  if (user.avatarUrl && !isBroken) {
    return <img class="avatar" src={user.avatarUrl} alt="" width={size} height={size} loading="lazy" onError={() => setIsBroken(true)} />;
  }
  return <span class={`avatar ${tintOf(user.handle)} ${large ? 'large' : ''}`} aria-hidden="true">{[...user.name][0]}</span>;
}

export const Name = ({ user }) => <Link class="name" href={profileOf(user)}><bdi>{user.name}</bdi></Link>;

export const PersonRow = ({ user, children }) => (
  <li class="person">
    <Avatar user={user} />
    <span class="who"><Name user={user} /><small>@{user.handle}</small></span>
    {children}
  </li>
);

// Text shows a text as its author wrote it, with links to the people that it mentions.
export function Text({ text, entities = [] }) {
  const parts = [];
  let end = 0;
  for (const entity of entities) {
    const word = text.slice(entity.start, entity.end);
    parts.push(text.slice(end, entity.start), entity.user ? <Link href={profileOf(entity.user)}>{word}</Link> : <b class="tag">{word}</b>);
    end = entity.end;
  }
  return <p class="text" dir="auto">{parts}{text.slice(end)}</p>;
}

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const units = [['day', 86400], ['hour', 3600], ['minute', 60]];

function ago(date) {
  const seconds = (date - Date.now()) / 1000;
  if (seconds < -30 * 86400) return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }).format(date);
  const [unit, length] = units.find(([, length]) => -seconds >= length) ?? [];
  return unit ? relative.format(Math.ceil(seconds / length), unit) : 'just now';
}

export function Time({ at, href }) {
  const date = new Date(at);
  const time = <time dateTime={at} title={absolute.format(date)}>{ago(date)}</time>;
  return href ? <Link class="when" href={href}>{time}</Link> : <span class="when">{time}</span>;
}

// Act is a button that carries out one mutation. Errors appear beside it.
export function Act({ mutation, input, then, children, ...rest }) {
  const [act, { busy, errors }] = useAct(mutation);
  async function onClick() {
    const payload = await act(input);
    if (payload) then?.(payload);
  }
  return (
    <>
      <button type="button" aria-disabled={busy} onClick={onClick} {...rest}>{children}</button>
      {errors.map(({ message }) => <span class="error" role="alert" key={message}>{message}</span>)}
    </>
  );
}

export function Dialog({ title, onClose, children }) {
  const dialog = useRef(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current.showModal();
    return () => before?.focus?.();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onClose} onClick={(event) => event.target === dialog.current && dialog.current.close()}>
      <div class="inside">
        <header><h2 id={id}>{title}</h2><button type="button" class="quiet" aria-label="Close" onClick={() => dialog.current.close()}>✕</button></header>
        {children}
      </div>
    </dialog>
  );
}

// Confirm is a button that asks before it carries out a mutation.
export function Confirm({ question, children, label, then, ...rest }) {
  const [isOpen, setIsOpen] = useState(false);
  const close = () => setIsOpen(false);
  return (
    <>
      <button type="button" class={rest.class} onClick={() => setIsOpen(true)}>{label}</button>
      {isOpen && (
        <Dialog title={question} onClose={close}>
          <p>{children}</p>
          <div class="submit">
            <button type="button" onClick={close}>Cancel</button>
            <Act {...rest} class="danger" then={(payload) => { close(); then?.(payload); }}>{label}</Act>
          </div>
        </Dialog>
      )}
    </>
  );
}
