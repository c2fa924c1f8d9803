// Following someone is having them in a circle.
import { useQuery } from '@urql/preact';
import { AddToCircle, CreateCircle, FollowUser, Profile, RemoveFromCircle, UnfollowUser } from '../api/operations.js';
import { useAct, useCircles } from '../hooks.js';
import { Act, DialogButton, Errors, Toggle } from './basics.jsx';
import { Field, Form } from './Form.jsx';
import { Waiting } from './states.jsx';

export function FollowButton({ handle }) {
  const [{ data }] = useQuery({ query: Profile, variables: { handle } });
  return data?.user ? <FollowToggle user={data.user} /> : null;
}

export function FollowToggle({ user }) {
  if (user.viewerFollows) return <Act mutation={UnfollowUser} input={{ userId: user.id }}>Unfollow</Act>;
  return <Act class="primary" mutation={FollowUser} input={{ userId: user.id }}>Follow</Act>;
}

// CirclesButton opens the viewer's circles, to choose those that a person is in.
export const CirclesButton = ({ user }) => (
  <DialogButton label="Circles…" title={`${user.name} in your circles`}>{() => <CirclesOf user={user} />}</DialogButton>
);

function CirclesOf({ user }) {
  const [add, adding] = useAct(AddToCircle);
  const { circles, error, readAgain } = useCircles();
  if (!circles) return <Waiting error={error} again={readAgain} />;
  return (
    <>
      <ul class="plain">
        {circles.map((circle) => <CircleChoice key={circle.id} circle={circle} user={user} />)}
      </ul>
      <Form class="inline" mutation={CreateCircle} submit="Create" then={({ edge }, form) => { form.reset(); return add({ circleId: edge.node.id, userId: user.id }); }}>
        <Field label="A new circle" hiddenLabel name="name" placeholder="A new circle" maxLength={100} />
      </Form>
      <Errors of={adding.errors} />
      <p class="hint">Circles are private: {user.name} never sees which ones you chose.</p>
    </>
  );
}

function CircleChoice({ circle, user }) {
  const isIn = user.viewerCircles.some(({ id }) => id === circle.id);
  return (
    <li>
      <Toggle isOn={isIn} mutation={isIn ? RemoveFromCircle : AddToCircle} input={{ circleId: circle.id, userId: user.id }}><bdi>{circle.name}</bdi></Toggle>
      <span class="count">{circle.membersCount}</span>
    </li>
  );
}
