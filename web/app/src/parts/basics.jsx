// The smallest parts: names, pictures, texts and times of people, buttons, dialogs.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { useAct, withoutBidi } from '../hooks.js';

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

// withoutAt accepts a handle as people write it to each other.
export const withoutAt = (handle) => handle.trim().replace(/^@/, '');

export const Name = ({ user }) => <Link class="name" href={profileOf(user)}><bdi>{user.name}</bdi></Link>;

// Names lists the names of people; more will follow if more is set.
export const Names = ({ of: people, more }) => people.map(({ name }, i) => (
  <span key={i}>{i > 0 && (i === people.length - 1 && !more ? ' and ' : ', ')}<b><bdi>{name}</bdi></b></span>
));

export const PersonRow = ({ user, note, children }) => (
  <li class="person">
    <Avatar user={user} />
    <span class="who"><Name user={user} /><small>@{user.handle}</small>{note && <small>{note}</small>}</span>
    {children}
  </li>
);

const address = /(https?:\/\/[^\s<>"]*[^\s<>"'.,;:!?)\]}»”’…])/i;

// withLinks makes links of the addresses in a text.
const withLinks = (text) => text.split(address).map((part, i) => (
  i % 2 && URL.canParse(part) ? <a href={part} rel="noreferrer nofollow" target="_blank">{part}</a> : part
));

// The server accepts some addresses that browsers do not, such as http://1.2.3.4.5/.
const hostOf = (url) => (URL.canParse(url) ? new URL(url).host : url);

export const Address = ({ url, title }) => (
  <a class="link" href={url} rel="noreferrer nofollow" target="_blank"><bdi>{title || url}</bdi><small>{hostOf(url)}</small></a>
);

const long = 1500; // characters

// Text shows a text as its author wrote it, with links to addresses and to the people that it
// mentions. In lists, long texts are folded.
export function Text({ text, entities = [], fold }) {
  const [isWhole, setIsWhole] = useState(false);
  const isFolded = fold && !isWhole && text.length > long;
  const parts = [];
  let end = 0;
  for (const entity of entities) {
    const word = text.slice(entity.start, entity.end);
    parts.push(withLinks(text.slice(end, entity.start)), entity.user ? <Link href={profileOf(entity.user)}>{word}</Link> : <b class="tag">{word}</b>);
    end = entity.end;
  }
  return (
    <>
      <p class={isFolded ? 'text folded' : 'text'} dir="auto">{parts}{withLinks(text.slice(end))}</p>
      {isFolded && <button type="button" class="quiet" onClick={() => setIsWhole(true)}>Show all</button>}
    </>
  );
}

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const units = [['day', 86400], ['hour', 3600], ['minute', 60]];

function ago(date) {
  const seconds = (date - Date.now()) / 1000;
  if (seconds < -30 * 86400) return day.format(date);
  const [unit, length] = units.find(([, length]) => -seconds >= length) ?? [];
  return unit ? relative.format(Math.ceil(seconds / length), unit) : 'just now';
}

// One timer for all times of the page.
const clock = new EventTarget();
setInterval(() => clock.dispatchEvent(new Event('tick')), 30_000);

function useClock() {
  const [, setTicks] = useState(0);
  useEffect(() => {
    const onTick = () => setTicks((ticks) => ticks + 1);
    clock.addEventListener('tick', onTick);
    return () => clock.removeEventListener('tick', onTick);
  }, []);
}

export function Time({ at, href }) {
  useClock();
  const date = new Date(at);
  const time = <time dateTime={at} title={absolute.format(date)}>{ago(date)}</time>;
  return href ? <Link class="when" href={href}>{time}</Link> : <span class="when">{time}</span>;
}

export const Day = ({ at }) => <time dateTime={at} title={absolute.format(new Date(at))}>{day.format(new Date(at))}</time>;

// useFrom returns where someone goes after a sign-in: to the page where they were.
export function useFrom() {
  const [path] = useLocation();
  return history.state?.from ?? (/^\/sign-(in|up)/.test(path) ? '/' : path + location.search);
}

// EntryLink leads to the sign-in or the sign-up, which lead back to the page with the link.
export const EntryLink = (props) => <Link state={{ from: useFrom() }} {...props} />;

export const Errors = ({ of }) => of.map(({ message }) => <span class="error" role="alert" key={message}>{message}</span>);

const focus = (element) => element?.focus();

// Outcome takes the place, and the focus, of a form that has been sent.
export const Outcome = ({ children }) => <div role="status" tabIndex="-1" ref={focus}>{children}</div>;

// Tabs offers options, { value: label }, of which one is chosen.
export const Tabs = ({ label, options, chosen, onChoose }) => (
  <div class="tabs" role="group" aria-label={label}>
    {Object.entries(options).map(([value, name]) => (
      <button type="button" key={value} aria-pressed={chosen === value} onClick={() => onChoose(value)}>{name}</button>
    ))}
  </div>
);

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
      <Errors of={errors} />
    </>
  );
}

// Toggle is a checkbox that carries out one mutation. Errors appear beside it.
export function Toggle({ mutation, input, isOn, children }) {
  const [act, { busy, errors }] = useAct(mutation);
  return (
    <>
      <label><input type="checkbox" checked={isOn} aria-disabled={busy} onChange={() => act(input)} />{children}</label>
      <Errors of={errors} />
    </>
  );
}

// Dialog closes by its button, by Esc, and by a press beside it; one that is firm only by its
// button.
export function Dialog({ title, onClose, isFirm, children }) {
  const dialog = useRef(null);
  const id = useId();
  const pressed = useRef(null); // who selects a text may release the button outside
  useEffect(() => {
    const before = document.activeElement;
    dialog.current.showModal();
    return () => before?.focus?.();
  }, []);
  return (
    <dialog
      ref={dialog} aria-labelledby={id} onClose={onClose} onPointerDown={({ target }) => { pressed.current = target; }}
      closedby={isFirm ? 'none' : undefined} onCancel={(event) => isFirm && event.preventDefault()}
      onClick={({ target }) => !isFirm && target === dialog.current && pressed.current === target && target.close()}
    >
      <div class="inside">
        <header><h2 id={id}>{withoutBidi(title)}</h2><button type="button" class="quiet" aria-label="Close" onClick={() => dialog.current.close()}>✕</button></header>
        {children}
      </div>
    </dialog>
  );
}

// DialogButton is a button that opens a dialog with what children(close) returns.
export function DialogButton({ label, title, children, ...rest }) {
  const [isOpen, setIsOpen] = useState(false);
  const close = () => setIsOpen(false);
  return (
    <>
      <button type="button" {...rest} onClick={() => setIsOpen(true)}>{label}</button>
      {isOpen && <Dialog title={title} onClose={close}>{children(close)}</Dialog>}
    </>
  );
}

// Confirm is a button that asks before it carries out a mutation.
export const Confirm = ({ question, children, label, then, ...rest }) => (
  <DialogButton class={rest.class} label={label} title={question}>
    {(close) => (
      <>
        <p>{children}</p>
        <div class="submit">
          <button type="button" onClick={close}>Cancel</button>
          <Act {...rest} class="danger" then={(payload) => { close(); then?.(payload); }}>{label}</Act>
        </div>
      </>
    )}
  </DialogButton>
);
