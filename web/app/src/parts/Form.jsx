// Forms whose fields are named by their path in a mutation's input, such as "content.status.text": so a form becomes the input,
// and each of the userErrors finds its field.
import { createContext } from 'preact';
import { useContext, useId, useRef, useState } from 'preact/hooks';
import { useAct } from '../hooks.js';

const Errors = createContext([]);

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

// inputOf reads a form. Fields with data-list are entries of a list.
function inputOf(form) {
  const input = {};
  for (const field of form.elements) {
    const value = field.name ? valueOf(field) : undefined;
    if (value === undefined) continue;
    const path = field.name.split('.');
    const last = path.pop();
    const object = path.reduce((parent, name) => (parent[name] ??= {}), input);
    if ('list' in field.dataset) (object[last] ??= []).push(value);
    else object[last] = value;
  }
  return input;
}

// Form carries out a mutation. complete(input) adds what no field has; then(payload, form) is called when it is done.
export function Form({ mutation, complete = (input) => input, then, submit, children, ...rest }) {
  const [act, { busy, errors }] = useAct(mutation);
  const [names, setNames] = useState([]);
  const [failure, setFailure] = useState(null);
  const form = useRef(null);

  async function onSubmit(event) {
    event.preventDefault();
    setFailure(null);
    setNames([...form.current.elements].map(({ name }) => name).filter(Boolean));
    try {
      const payload = await act(complete(inputOf(form.current)));
      if (payload) await then?.(payload, form.current);
      else form.current?.querySelector('[aria-invalid=true]')?.focus();
    } catch (error) {
      setFailure(error.message);
    }
  }

  const others = errors.filter((error) => !names.some((name) => isAt(name)(error)));
  return (
    <form ref={form} onSubmit={onSubmit} {...rest}>
      <Errors.Provider value={errors}>{children}</Errors.Provider>
      {others.map(({ message }) => <p class="error" role="alert" key={message}>{message}</p>)}
      {failure && <p class="error" role="alert">{failure}</p>}
      <div class="submit">
        <button class="primary" aria-disabled={busy}>{busy ? 'One moment…' : submit}</button>
      </div>
    </form>
  );
}

// useErrors returns the messages about a field, and the properties that connect the field with them.
export function useErrors(name) {
  const id = useId();
  const messages = useContext(Errors).filter(isAt(name)).map(({ message }) => message);
  return {
    messages: messages.length > 0 && <span class="error" id={id} role="alert">{messages.join(' ')}</span>,
    connected: messages.length > 0 ? { 'aria-invalid': true, 'aria-describedby': id } : {},
  };
}

export function Field({ label, hint, name, as: Control = 'input', hiddenLabel, ...rest }) {
  const id = useId();
  const { messages, connected } = useErrors(name);
  return (
    <div class="field">
      <label for={id} class={hiddenLabel ? 'hidden' : undefined}>{label}</label>
      {hint && <span class="hint">{hint}</span>}
      <Control id={id} name={name} dir="auto" {...connected} {...rest} />
      {messages}
    </div>
  );
}
