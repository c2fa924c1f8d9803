// A post, with what its viewer may do with it.
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { AddReaction, DeletePost, MuteThread, RemoveReaction, UnmuteThread, VotePoll } from '../api/operations.js';
import { useAct } from '../hooks.js';
import { useMe } from '../session.jsx';
import { Audience } from './Audience.jsx';
import { Boundary } from './Boundary.jsx';
import { Act, Address, Avatar, Confirm, Errors, Name, Text, Time } from './basics.jsx';
import { CommentForm, Preview } from './Comment.jsx';
import { AudienceDialog, EditDialog, RepliesDialog } from './Composer.jsx';
import { Edited } from './History.jsx';
import { Drawing } from './icons.jsx';
import { Report } from './Report.jsx';

export const Post = (props) => (
  <Boundary fallback={<article class="post card"><p>This post can't be shown.</p></article>}><PostCard {...props} /></Boundary>
);

function PostCard({ post, whole }) {
  const me = useMe();
  const isMine = me?.id === post.author.id;
  const address = `/post/${post.id}`;
  return (
    <article class="post card" aria-label={`Post by ${post.author.name}`}>
      <header>
        <Avatar user={post.author} />
        <div>
          <Name user={post.author} />
          {post.wallOwner && post.wallOwner.id !== post.author.id && <> <span aria-label="on the wall of">▸</span> <Name user={post.wallOwner} /></>}
          <p class="about">
            <Time at={post.createdAt} href={address} />
            {post.editedAt && <Edited post={post} />}
            <Audience post={post} isMine={isMine} />
          </p>
        </div>
      </header>
      <Content post={post} fold={!whole} />
      <footer>
        <Reactions post={post} />
        <Link class="button" href={address}><Drawing of="comment" />{commentsOf(post)}</Link>
        <Own post={post} />
        {me && !isMine && <Report subjectId={post.id} question="Report this post?" />}
        {me && whole && <Muting post={post} />}
      </footer>
      {!whole && post.latestComments?.length > 0 && <ul class="preview">{post.latestComments.filter(({ author }) => author).map((comment) => <Preview key={comment.id} comment={comment} post={post} />)}</ul>}
      {!whole && post.viewerCanComment && <CommentForm postId={post.id} short />}
    </article>
  );
}

const Muting = ({ post: { id, viewerIsMutingThread: isMuted } }) => (
  <>
    <Act class="quiet" mutation={isMuted ? UnmuteThread : MuteThread} input={{ postId: id }}>{isMuted ? 'Unmute this thread' : 'Mute this thread'}</Act>
    {isMuted && <p class="hint">You get no notifications about this thread, and your feeds show none of its comments.</p>}
  </>
);

const commentsOf = ({ commentCount }) => (commentCount === 1 ? '1 comment' : `${commentCount} comments`);

function Content({ post, fold }) {
  const text = <Text {...post} fold={fold} />;
  switch (post.__typename) {
    case 'PhotoPost':
      return <>{text}<Photo {...post} /></>;
    case 'LinkPost':
      return <>{text}<Address {...post} /></>;
    case 'CheckinPost':
      return <><p class="place"><bdi>{post.place}</bdi> <small>{post.latitude.toFixed(4)}, {post.longitude.toFixed(4)}</small></p>{text}{post.photo && <Photo {...post.photo} />}</>;
    case 'PollPost':
      return <>{text}<Poll post={post} /></>;
    default:
      return text;
  }
}

const Photo = ({ url, alt, width, height }) => <img class="photo" src={url} alt={alt} width={width ?? undefined} height={height ?? undefined} loading="lazy" />;

function Poll({ post }) {
  const [vote, { busy, errors }] = useAct(VotePoll);
  return (
    <div class="poll" role="group" aria-label="Options">
      {post.options.map(({ id, index, text, votesCount }) => (
        <button
          type="button" key={id} disabled={!post.viewerCanVote} aria-disabled={busy} aria-pressed={post.viewerVote === index}
          onClick={() => vote({ postId: post.id, option: index })}
        >
          <bdi>{text}</bdi><span class="count">{votesCount}</span>
          <progress value={votesCount} max={Math.max(post.votesCount, 1)} aria-hidden="true" />
        </button>
      ))}
      <Errors of={errors} />
      <p class="hint">
        {post.votesCount === 1 ? '1 vote' : `${post.votesCount} votes`}
        {post.isClosed ? ' · closed' : post.closesAt && ` · closes ${new Date(post.closesAt).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}`}
      </p>
    </div>
  );
}

const kinds = { LIKE: 'Like', LOVE: 'Love', LAUGH: 'Laughter', WOW: 'Wow', SAD: 'Sad', ANGRY: 'Angry' };

function Reactions({ post }) {
  const me = useMe();
  const [isOpen, setIsOpen] = useState(false);
  const [picked, setPicked] = useState(null); // it stays there, because it has the focus
  const [add, adding] = useAct(AddReaction);
  const [remove, removing] = useAct(RemoveReaction);
  const counts = Object.fromEntries(post.reactionCounts.map(({ kind, count }) => [kind, count]));
  const shown = Object.keys(kinds).filter((kind) => isOpen || counts[kind] || kind === picked);
  function toggle(kind) {
    setIsOpen(false);
    setPicked(kind);
    if (post.viewerReaction === kind) remove({ postId: post.id });
    else add({ postId: post.id, kind });
  }
  return (
    <div class="reactions" role="group" aria-label="Reactions">
      {shown.map((kind) => (
        <button
          type="button" key={kind} class={kind} disabled={!me} aria-pressed={post.viewerReaction === kind} title={kinds[kind]}
          aria-label={`${kinds[kind]}: ${counts[kind] ?? 0}`} onClick={() => toggle(kind)}
        >
          <Drawing of={kind} />{counts[kind]}
        </button>
      ))}
      {me && <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>{isOpen ? 'Close' : 'React'}</button>}
      <Errors of={[...adding.errors, ...removing.errors]} />
    </div>
  );
}

function Own({ post }) {
  const [open, setOpen] = useState(null);
  const close = () => setOpen(null);
  return (
    <>
      {post.viewerCanEdit && (
        <>
          <button type="button" class="quiet" onClick={() => setOpen('text')}>Edit</button>
          <button type="button" class="quiet" onClick={() => setOpen('audience')}>Audience</button>
          <button type="button" class="quiet" onClick={() => setOpen('replies')}>Who can reply</button>
        </>
      )}
      {post.viewerCanDelete && (
        <Confirm class="quiet" label="Delete" question="Delete this post?" mutation={DeletePost} input={{ postId: post.id }}>
          The post and all its comments will be gone. This can't be undone.
        </Confirm>
      )}
      {open === 'text' && <EditDialog post={post} onClose={close} />}
      {open === 'audience' && <AudienceDialog post={post} onClose={close} />}
      {open === 'replies' && <RepliesDialog post={post} onClose={close} />}
    </>
  );
}
