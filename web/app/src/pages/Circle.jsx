import { useLocation } from 'wouter-preact';
import { AddToCircle, DeleteCircle, Members, RemoveFromCircle, RenameCircle } from '../api/operations.js';
import { useList, useTitle } from '../hooks.js';
import { Act, Confirm, PersonRow } from '../parts/basics.jsx';
import { Field, Form } from '../parts/Form.jsx';
import { More } from '../parts/Feed.jsx';
import { Failure, Loading, Missing } from '../parts/states.jsx';
import { useMe } from '../session.jsx';
import { Finder } from './People.jsx';

export function Circle({ id }) {
  const me = useMe();
  const [, navigate] = useLocation();
  const reading = useList(Members, { id }, (data) => data.node?.members, 'cache-and-network');
  const { list, data, error, fetching, readAgain } = reading;
  const circle = data?.node;
  useTitle(circle?.name ?? 'Circle');
  if (!list) {
    if (error?.networkError) return <Failure error={error} again={readAgain} />;
    return fetching ? <Loading /> : <Missing title="This circle isn't available">You may have deleted it.</Missing>;
  }
  const isIn = (user) => list.edges.some(({ node }) => node.id === user.id);
  return (
    <>
      <h1><bdi>{circle.name}</bdi> <span class="count">{circle.membersCount}</span></h1>
      <section class="card">
        <h2>Add people</h2>
        <Finder label="Find people by name or handle">
          {(user) => user.id !== me.id && (isIn(user)
            ? <span class="hint">In this circle</span>
            : <Act class="primary" mutation={AddToCircle} input={{ circleId: id, userId: user.id }} aria-label={`Add ${user.name}`}>Add</Act>)}
        </Finder>
      </section>
      <section class="card">
        <h2>Members</h2>
        {list.edges.length === 0 && <p>This circle is empty. Only you see what you share with it.</p>}
        <ul class="plain">
          {list.edges.map(({ node }) => (
            <PersonRow key={node.id} user={node}>
              <Act mutation={RemoveFromCircle} input={{ circleId: id, userId: node.id }} aria-label={`Remove ${node.name}`}>Remove</Act>
            </PersonRow>
          ))}
        </ul>
        <More reading={reading} />
      </section>
      <section class="card">
        <h2>This circle</h2>
        <Form class="inline" mutation={RenameCircle} submit="Rename" complete={(input) => ({ ...input, circleId: id })}>
          <Field label="Name" hiddenLabel name="name" maxLength={100} defaultValue={circle.name} />
        </Form>
        {!circle.isDefault && (
          <Confirm class="danger" label="Delete" question="Delete this circle?" mutation={DeleteCircle} input={{ circleId: id }} then={() => navigate('/circles')}>
            You stop following its members who are in no other circle, and they no longer see what you shared with it.
          </Confirm>
        )}
      </section>
    </>
  );
}
