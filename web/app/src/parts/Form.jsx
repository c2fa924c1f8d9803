// Forms whose fields are named by their path in a mutation's input, such as "content.status.text":
// so a form becomes the input, and each of the userErrors finds its field.
import { createContext } from 'preact';
import { useContext, useId, useMemo, useRef, useState } from 'preact/hooks';
import { openDraft } from '../drafts.js';
import { useAct } from '../hooks.js';
import { useMe } from '../session.jsx';
import { Errors } from './basics.jsx';

// What the fields of a form need to know: { errors, busy, drafted }.
const Around = createContext({});

// useDrafted returns what a draft has for a field: its value, or the values of a list.
export const useDrafted = (name) => useContext(Around).drafted[name];

// useSending makes fields unchangeable while they are sent, because the form may be emptied
// afterwards.
export const useSending = () => ({ readOnly: useContext(Around).busy });

const isAt = (name) => ({ path }) => {
  const at = path.slice(1).join('.'); // without "input"
  return at === name || at.startsWith(`${name}.`);
};

// valueOf returns what a field adds to the input; undefined for nothing.
function valueOf(field) {
  if (['radio', 'checkbox'].includes(field.type) && !field.checked) return undefined;
  if (field.value === '' && 'optional' in field.dataset) return undefined;
  if (field.type === 'number') return field.valueAsNumber;
  if (field.type === 'datetime-local') return new Date(field.value).toISOString();
  return field.value;
}

// inputOf reads a form. Fields with data-list are entries of a list, which may be empty.
function inputOf(form) {
  const input = {};
  for (const field of form.elements) {
    const value = field.name ? valueOf(field) : undefined;
    const isList = field.name && 'list' in field.dataset;
    if (value === undefined && !isList) continue;
    const path = field.name.split('.');
    const last = path.pop();
    const object = path.reduce((parent, name) => (parent[name] ??= {}), input);
    if (isList) object[last] ??= [];
    if (value === undefined) continue;
    if (isList) object[last].push(value);
    else object[last] = value;
  }
  return input;
}

// draftOf reads all that is written in a form, by the names of the fields.
function draftOf(form) {
  const values = {};
  for (const field of form.elements) {
    if (!field.name || field.hidden || (field.type === 'radio' && !field.checked)) continue;
    if (!('list' in field.dataset)) values[field.name] = field.value;
    else (values[field.name] ??= []).push(...(field.type === 'checkbox' && !field.checked ? [] : [field.value]));
  }
  return values;
}

function useDraft(place) {
  const me = useMe();
  const draft = useMemo(() => (place && me ? openDraft(me.id, place) : undefined), [me?.id, place]);
  const drafted = useMemo(() => draft?.read() ?? {}, [draft]);
  return { draft, drafted };
}

function sendByKey(event) {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.currentTarget.requestSubmit();
}

// Form carries out a mutation. complete(input) adds what no field has; then(payload, form) is
// called when it is done. What is written in a form with a draft, which is named by its place, is
// kept until it is sent.
export function Form({ mutation, complete = (input) => input, then, submit, danger, draft: place, children, ...rest }) {
  const { draft, drafted } = useDraft(place);
  const [act, { busy, errors }] = useAct(mutation, draft);
  const [names, setNames] = useState([]);
  const [failure, setFailure] = useState(null);
  const form = useRef(null);

  async function onSubmit(event) {
    event.preventDefault();
    setFailure(null);
    const sent = [...form.current.elements].map(({ name }) => name).filter(Boolean);
    setNames(sent);
    try {
      const payload = await act(complete(inputOf(form.current)));
      if (payload) {
        draft?.drop(sent);
        await then?.(payload, form.current);
      }
      else form.current?.querySelector('[aria-invalid=true]')?.focus();
    } catch (error) {
      setFailure(error);
    }
  }

  const keep = () => draft?.write(draftOf(form.current));
  const others = errors.filter((error) => !names.some((name) => isAt(name)(error)));
  return (
    <form ref={form} onSubmit={onSubmit} onKeyDown={sendByKey} onChange={keep} {...rest} onInput={(event) => { keep(); rest.onInput?.(event); }}>
      <Around.Provider value={{ errors, busy, drafted }}>{children}</Around.Provider>
      <Errors of={others} />
      {failure && <Errors of={[failure]} />}
      <div class="submit">
        <button class={danger ? 'danger' : 'primary'} aria-disabled={busy}>{busy ? 'One moment…' : submit}</button>
      </div>
    </form>
  );
}

// Section is a form on a card of its own, which says when it is done.
export function Section({ title, done, children, ...form }) {
  const [isDone, setIsDone] = useState(false);
  function onDone(payload, form) {
    for (const field of form.querySelectorAll('[type=password]')) field.value = '';
    setIsDone(true);
  }
  return (
    <section class="card">
      <h2>{title}</h2>
      <Form {...form} onInput={() => setIsDone(false)} then={onDone}>{children}</Form>
      <p role="status">{isDone && done}</p>
    </section>
  );
}

// useErrors returns the messages about a field, and the properties that connect the field with
// them.
export function useErrors(name) {
  const id = useId();
  const messages = useContext(Around).errors.filter(isAt(name)).map(({ message }) => message);
  return {
    messages: messages.length > 0 && <span class="error" id={id} role="alert">{messages.join(' ')}</span>,
    connected: messages.length > 0 ? { 'aria-invalid': true, 'aria-describedby': id } : {},
  };
}

export function Field({ label, hint, name, as: Control = 'input', hiddenLabel, defaultValue, ...rest }) {
  const id = useId();
  const sending = useSending();
  const drafted = useDrafted(name);
  const { messages, connected } = useErrors(name);
  return (
    <div class="field">
      <label for={id} class={hiddenLabel ? 'hidden' : undefined}>{label}</label>
      {hint && <span class="hint">{hint}</span>}
      <Control id={id} name={name} dir="auto" {...connected} {...sending} {...('value' in rest ? {} : { defaultValue: drafted ?? defaultValue })} {...rest} />
      {messages}
    </div>
  );
}

// These fields are in several forms.
export const InvitationField = () => <Field label="Invitation" hint="The code that you were given" name="invitation" autoComplete="off" spellCheck={false} />;
export const CurrentPassword = ({ label = 'Current password', name = 'currentPassword' }) => (
  <Field label={label} name={name} type="password" autoComplete="current-password" />
);
export const NewPassword = ({ label = 'New password', name = 'newPassword' }) => (
  <Field label={label} hint="At least 8 characters" name={name} type="password" autoComplete="new-password" />
);

// Choice offers options, { value: { label, icon } }, of which one is chosen. Its errors are those
// of a part of the input, or of its name.
export function Choice({ legend, name, part = name, options, chosen, onChoose, children }) {
  const { messages, connected } = useErrors(part);
  return (
    <fieldset class="choice" tabIndex={messages ? -1 : undefined} {...connected}>
      <legend>{legend}</legend>
      <div class="chips">
        {Object.entries(options).map(([value, { label, icon }]) => (
          <label class="chip" key={value}>
            <input type="radio" name={name} value={value} checked={chosen === value} required onChange={() => onChoose(value)} />
            {icon}{label}
          </label>
        ))}
      </div>
      {children}
      {messages}
    </fieldset>
  );
}
