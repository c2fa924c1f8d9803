import { Link } from 'wouter-preact';
import { MarkNotificationsRead, Notifications as Query } from '../api/operations.js';
import { useAct, useList, useTitle } from '../hooks.js';
import { Act, Avatar, Names, Time } from '../parts/basics.jsx';
import { Changes, More } from '../parts/Feed.jsx';
import { Empty, Waiting } from '../parts/states.jsx';

const verbs = {
  COMMENT: 'commented on your post', REPLY: 'replied to your comment', MENTION: 'mentioned you', REACTION: 'reacted to your post',
  FOLLOW: 'now follows you', WALL_POST: 'wrote on your wall', POLL_CLOSED: 'closed a poll',
};
const followPlural = 'now follow you';

export function Notifications() {
  useTitle('Notifications');
  const reading = useList(Query, {}, (data) => data.viewer?.notifications, 'cache-and-network');
  const { list, data, error, readAgain } = reading;
  if (!list) return <Waiting error={error} again={readAgain} />;
  return (
    <>
      <div class="heading">
        <h1>Notifications</h1>
        {data.viewer.unreadNotificationsCount > 0 && list.edges.length > 0 && (
          <Act mutation={MarkNotificationsRead} input={{ upTo: list.pageInfo.startCursor }}>Mark all as read</Act>
        )}
      </div>
      {list.edges.length === 0 && <Empty title="No notifications yet"><p>Here you read what others do that concerns you: comments, replies, reactions, new followers.</p></Empty>}
      <ul class="plain card notifications" aria-live="polite" aria-relevant="additions">
        {list.edges.map(({ node }) => <Entry key={node.id} notification={node} />)}
      </ul>
      <More reading={reading} />
      <Changes ids={[...new Set(list.edges.flatMap(({ node }) => node.post?.id ?? []))]} />
    </>
  );
}

function addressOf({ kind, post, comment, actors }) {
  if (!post) return `/people/${actors[0]?.handle}`;
  return comment ? `/post/${post.id}/comment/${comment.slug}` : `/post/${post.id}`;
}

function Entry({ notification }) {
  const [mark] = useAct(MarkNotificationsRead);
  const { id, kind, isRead, actors, actorsCount, post, comment, updatedAt } = notification;
  const others = actorsCount - actors.length;
  return (
    <li class={isRead ? '' : 'unread'}>
      {actors[0] && <Avatar user={actors[0]} />}
      <Link href={addressOf(notification)} onClick={() => { if (!isRead) mark({ notificationIds: [id] }); }}>
        <Names of={actors} more={others > 0} />
        {others > 0 && ` and ${others} ${others === 1 ? 'other' : 'others'}`} {kind === 'FOLLOW' && actorsCount > 1 ? followPlural : verbs[kind]}
        {(comment ?? post)?.text && <span class="excerpt" dir="auto">{(comment ?? post).text.slice(0, 140)}</span>}
      </Link>
      {!isRead && <span class="hidden">unread</span>}
      <Time at={updatedAt} />
    </li>
  );
}
