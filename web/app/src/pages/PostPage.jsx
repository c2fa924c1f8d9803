import { useEffect, useState } from 'preact/hooks';
import { useClient, useQuery, useSubscription } from '@urql/preact';
import { Link } from 'wouter-preact';
import { isMissing } from '../api/client.js';
import { CommentAdded, CommentChanged, Discussion, Post as Query, SetCommentOrder, Thread as ThreadQuery } from '../api/operations.js';
import { useList, useLiveAfter, useTitle } from '../hooks.js';
import { Act, EntryLink, Tabs } from '../parts/basics.jsx';
import { Comment, CommentForm } from '../parts/Comment.jsx';
import { Changes, More } from '../parts/Feed.jsx';
import { Post } from '../parts/Post.jsx';
import { Failure, Loading, Missing, Waiting } from '../parts/states.jsx';
import { useMe } from '../session.jsx';

export function PostPage({ id, slug }) {
  const me = useMe();
  const [{ data, error }, read] = useQuery({ query: Query, variables: { id }, requestPolicy: 'cache-and-network' });
  const post = data?.post;
  useTitle(post ? `${post.author.name}: ${post.text.slice(0, 60)}` : 'Post');
  if (!post) {
    if (isMissing(error)) return <Missing title="This post isn't available" />;
    return <Waiting error={error} again={read} />;
  }
  return (
    <>
      <Post post={post} whole />
      <Changes ids={[post.id]} />
      <section class="card" aria-label="Comments">
        {post.viewerCanComment && !slug && <CommentForm postId={post.id} />}
        {me && !post.viewerCanComment && me.id !== post.author.id && <p class="hint"><bdi>{post.author.name}</bdi> has limited who can reply.</p>}
        {!me && <p class="hint"><EntryLink href="/sign-in">Sign in</EntryLink> to comment.</p>}
        <Comments post={post} slug={slug} />
      </section>
    </>
  );
}

const orders = { OLDEST: 'Oldest', NEWEST: 'Newest', THREADED: 'Threaded' };

const useThread = (id, order, requestPolicy) => useList(ThreadQuery, { id, order }, (data) => data.post?.comments, requestPolicy);

// Comments first reads a page of the newest: live ones begin after it, since the tree, and a list
// whose end is not loaded, have no place for that.
function Comments({ post, slug }) {
  const { list, error, readAgain } = useThread(post.id, 'NEWEST', 'network-only');
  if (!list) return <Waiting error={error} again={readAgain} />;
  const newest = list.pageInfo.startCursor;
  return slug ? <Permalink post={post} slug={slug} newest={newest} /> : <Thread post={post} newest={newest} />;
}

// Thread begins with the order that the author has chosen. Its reader may choose another one, which
// stays when the author changes theirs.
function Thread({ post, newest }) {
  const [order, setOrder] = useState(post.commentOrder);
  return (
    <>
      <div class="heading">
        <Tabs label="Order of the comments" options={orders} chosen={order} onChoose={setOrder} />
        {post.viewerCanEdit && order !== post.commentOrder && (
          <Act class="quiet" mutation={SetCommentOrder} input={{ postId: post.id, order }}>Make this the default order</Act>
        )}
      </div>
      <ThreadIn key={order} post={post} order={order} newest={newest} />
    </>
  );
}

function ThreadIn({ post, order, newest }) {
  const reading = useThread(post.id, order, 'cache-and-network');
  const { list, error, readAgain } = reading;
  useLiveAfter(CommentAdded, { id: post.id }, reading, newest);
  useChanges(post.id, readAgain);
  if (!list) return <Waiting error={error} again={readAgain} />;
  if (list.edges.length === 0) return <p class="hint">No comments yet.</p>;
  return (
    <>
      <ol class="thread" aria-live="polite" aria-relevant="additions">
        {list.edges.map(({ node }) => <Comment key={node.id} comment={node} postId={post.id} inTree={order === 'THREADED'} />)}
      </ol>
      <More reading={reading} />
    </>
  );
}

// useChanges follows edits and deletions of comments. It sends no past ones: after a lost
// connection, the comments are read again.
function useChanges(id, readAgain) {
  const client = useClient();
  useSubscription({ query: CommentChanged, variables: { id } });
  useEffect(() => client.onConnected(readAgain), [id]);
}

// Permalink shows one comment with what is above and below it.
function Permalink({ post, slug, newest }) {
  const variables = { id: post.id, slug };
  const reading = useList(Discussion, variables, (data) => data.post?.comment?.discussion, 'cache-and-network');
  const { list, data, error, fetching, readAgain } = reading;
  useLiveAfter(CommentAdded, { id: post.id }, reading, newest);
  useChanges(post.id, readAgain);
  const whole = <p><Link href={`/post/${post.id}`}>All comments</Link></p>;
  if (!list) {
    if (error?.networkError) return <Failure error={error} again={readAgain} />;
    return fetching ? <Loading /> : <>{whole}<p>This comment isn't available. It may have been deleted.</p></>;
  }
  return (
    <>
      {whole}
      <ol class="thread">
        {data.post.comment.ancestors.map((comment) => <Comment key={comment.id} comment={comment} postId={post.id} inTree />)}
        {list.edges.map(({ node }) => <Comment key={node.id} comment={node} postId={post.id} inTree isSubject={node.slug === slug} />)}
      </ol>
      <More reading={reading} />
    </>
  );
}
