import { Link } from 'wouter-preact';
import { Circles as Query, CreateCircle } from '../api/operations.js';
import { useList, useTitle } from '../hooks.js';
import { Field, Form } from '../parts/Form.jsx';
import { More } from '../parts/Feed.jsx';
import { Waiting } from '../parts/states.jsx';

export function Circles() {
  useTitle('Circles');
  const reading = useList(Query, {}, (data) => data.viewer?.circles, 'cache-and-network');
  if (!reading.list) return <Waiting error={reading.error} again={reading.readAgain} />;
  return (
    <>
      <h1>Circles</h1>
      <p class="hint">You follow everyone who is in one of your circles. Circles are private: others see neither their names nor their members.</p>
      <section class="card">
        <ul class="plain">
          {reading.list.edges.map(({ node: { id, name, membersCount } }) => (
            <li key={id}>
              <Link href={`/circles/${id}`}><bdi>{name}</bdi></Link>
              <span class="count">{membersCount === 1 ? '1 person' : `${membersCount} people`}</span>
            </li>
          ))}
        </ul>
        <More reading={reading} />
        <Form class="inline" mutation={CreateCircle} submit="Create" then={(payload, form) => form.reset()}>
          <Field label="A new circle" hiddenLabel name="name" placeholder="A new circle, such as “Chess club”" maxLength={100} />
        </Form>
      </section>
    </>
  );
}
