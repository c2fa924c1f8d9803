import { useQuery } from '@urql/preact';
import { Link, useLocation } from 'wouter-preact';
import { isMissing } from '../api/client.js';
import { BlockUser, Followers as FollowersQuery, Following as FollowingQuery, MuteUser, Profile as Query, UnmuteUser, Wall, WallPostAdded } from '../api/operations.js';
import { useList, useLive, useTitle } from '../hooks.js';
import { Act, Avatar, Confirm, Name, PersonRow, Text } from '../parts/basics.jsx';
import { Composer } from '../parts/Composer.jsx';
import { Feed, More } from '../parts/Feed.jsx';
import { CirclesButton, FollowButton } from '../parts/Follow.jsx';
import { Report } from '../parts/Report.jsx';
import { SignOut } from '../parts/SignOut.jsx';
import { Empty, Missing, Waiting } from '../parts/states.jsx';
import { useSession } from '../session.jsx';

export function Profile({ handle }) {
  const { me } = useSession();
  const [{ data, error }, read] = useQuery({ query: Query, variables: { handle }, requestPolicy: 'cache-and-network' });
  const user = data?.user;
  useTitle(user?.name ?? `@${handle}`);
  if (!user) {
    if (isMissing(error)) return <Missing title={`There is no @${handle}`}>Perhaps the handle is spelled differently.</Missing>;
    return <Waiting error={error} again={read} />;
  }
  const isMe = me?.id === user.id;
  return (
    <>
      <section class="profile card">
        <Avatar user={user} large />
        <div class="who">
          <h1><bdi>{user.name}</bdi></h1>
          <p>@{user.handle}{user.isFollowingViewer && <span class="for">Follows you</span>}</p>
        </div>
        <Text text={user.bio} />
        <p class="counts">
          <Link href={`/people/${user.handle}/followers`}><b>{user.followersCount}</b> {user.followersCount === 1 ? 'follower' : 'followers'}</Link>
          <Link href={`/people/${user.handle}/following`}><b>{user.followingCount}</b> following</Link>
        </p>
        {me && !isMe && <Relations user={user} />}
        {isMe && <p class="actions"><Link class="button" href="/settings">Edit your profile</Link><SignOut /></p>}
      </section>
      {me && user.viewerCanPostOnWall && <Composer wallOwner={isMe ? undefined : user} />}
      <WallOf user={user} />
    </>
  );
}

function Relations({ user }) {
  const { renew } = useSession();
  const [, navigate] = useLocation();
  const input = { userId: user.id };
  const leave = () => {
    navigate('/');
    renew(); // a block changes nearly everything that the viewer sees
  };
  return (
    <div class="actions">
      <FollowButton handle={user.handle} />
      <CirclesButton user={user} />
      {user.viewerIsMuting ? <Act mutation={UnmuteUser} input={input}>Unmute</Act> : <Act mutation={MuteUser} input={input}>Mute</Act>}
      <Confirm class="quiet" label="Block" question={`Block ${user.name}?`} mutation={BlockUser} input={input} then={leave}>
        You will be invisible to each other, and no longer follow each other. You can undo the block in your settings.
      </Confirm>
      <Report subjectId={user.id} question={`Report ${user.name}?`} />
      {user.viewerCircles.length > 0 && <p class="hint">In your circles: {user.viewerCircles.map(({ id, name }, i) => <span key={id}>{i > 0 && ', '}<Link href={`/circles/${id}`}><bdi>{name}</bdi></Link></span>)}</p>}
    </div>
  );
}

function WallOf({ user }) {
  const reading = useList(Wall, { handle: user.handle }, (data) => data.user?.wall);
  useLive(WallPostAdded, { userId: user.id }, reading, reading.list?.pageInfo.startCursor);
  return <Feed reading={reading}><Empty title="No posts yet"><p>There are no posts that you can see.</p></Empty></Feed>;
}

function Listed({ handle, query, listOf, title, none }) {
  useTitle(title);
  const reading = useList(query, { handle }, listOf, 'cache-and-network');
  if (isMissing(reading.error)) return <Missing title={`There is no @${handle}`} />;
  if (!reading.list) return <Waiting error={reading.error} again={reading.readAgain} />;
  return (
    <section class="card">
      <h1>{title} <small><Name user={{ handle, name: `@${handle}` }} /></small></h1>
      {reading.list.edges.length === 0 && <p>{none}</p>}
      <ul class="plain">{reading.list.edges.map(({ node }) => <PersonRow key={node.id} user={node} />)}</ul>
      <More reading={reading} />
    </section>
  );
}

export const Followers = ({ handle }) => <Listed handle={handle} query={FollowersQuery} listOf={({ user }) => user?.followers} title="Followers of" none="No followers yet." />;
export const Following = ({ handle }) => <Listed handle={handle} query={FollowingQuery} listOf={({ user }) => user?.following} title="Followed by" none="Not following anyone yet." />;
