import { useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { AddComment, DeleteComment, EditComment } from '../api/operations.js';
import { useMe } from '../session.jsx';
import { Avatar, Confirm, Name, Text, Time } from './basics.jsx';
import { Field, Form } from './Form.jsx';
import { Report } from './Report.jsx';

const permalink = (postId, { slug }) => `/post/${postId}/comment/${slug}`;

// Preview is one of the newest comments below a post.
export const Preview = ({ comment, post }) => (
  <li>
    <Avatar user={comment.author} />
    <div class="bubble">
      <Name user={comment.author} /> <Time at={comment.createdAt} href={permalink(post.id, comment)} />
      <Text text={comment.text} entities={comment.entities} />
    </div>
  </li>
);

// Published leads to a new comment, which may be on a page of the thread that is not loaded.
const Published = ({ comment, postId }) => (
  <p class="hint published" role="status">{comment && <>Your comment is published. <Link href={permalink(postId, comment)}>Show it</Link></>}</p>
);

export function CommentForm({ postId, parent, short, then }) {
  const [published, setPublished] = useState(null);
  function onDone({ comment }, form) {
    form.elements.text.value = '';
    setPublished(comment);
    then?.(comment);
  }
  return (
    <>
      <Form
        class="comment-form" mutation={AddComment} submit={parent ? 'Reply' : 'Comment'} draft={`comment ${parent?.id ?? postId}`}
        complete={(input) => ({ ...input, postId, parentId: parent?.id })} then={onDone}
      >
        <Field
          label={parent ? `Your reply to ${parent.author?.name ?? 'this comment'}` : 'Your comment'} hiddenLabel name="text" as="textarea"
          rows={short ? 1 : 2} placeholder={parent ? 'Write a reply' : 'Write a comment'}
        />
      </Form>
      <Published comment={published} postId={postId} />
    </>
  );
}

// Comment is an entry of a thread. In a flat order it names the author it replies to; in a tree it is
// indented.
export function Comment({ comment, postId, inTree, isSubject }) {
  const me = useMe();
  const [open, setOpen] = useState(null);
  const [published, setPublished] = useState(null);
  const replyButton = useRef(null);
  const close = () => setOpen(null);
  function onReplied(reply) {
    close();
    setPublished(reply);
    replyButton.current?.focus();
  }
  const { id, author, parent } = comment;
  const depth = inTree ? Math.min(comment.depth - 1, 6) : 0;
  if (comment.isDeleted) {
    return <li class={`comment depth-${depth}`} id={id}><p class="tombstone">This comment was deleted. <Time at={comment.createdAt} href={permalink(postId, comment)} /></p></li>;
  }
  return (
    <li class={`comment depth-${depth} ${isSubject ? 'subject' : ''}`} id={id} aria-current={isSubject || undefined}>
      <Avatar user={author} />
      <div class="bubble">
        <Name user={author} /> <Time at={comment.createdAt} href={permalink(postId, comment)} /> {comment.editedAt && <small>edited</small>}
        {comment.isHidden && <small>hidden by moderators</small>}
        {!inTree && parent && <Link class="reply-to" href={permalink(postId, parent)}>in reply to {parent.author ? <>@{parent.author.handle}</> : 'a deleted comment'}</Link>}
        {open === 'edit' ? (
          <Form mutation={EditComment} submit="Save" complete={(input) => ({ ...input, commentId: id })} then={close}>
            <Field label="Text" hiddenLabel name="text" as="textarea" rows="2" defaultValue={comment.text} />
          </Form>
        ) : <Text text={comment.text} entities={comment.entities} />}
        <footer>
          {comment.viewerCanReply && <button type="button" ref={replyButton} class="quiet" aria-expanded={open === 'reply'} onClick={() => setOpen(open === 'reply' ? null : 'reply')}>Reply</button>}
          {comment.viewerCanEdit && <button type="button" class="quiet" aria-expanded={open === 'edit'} onClick={() => setOpen(open === 'edit' ? null : 'edit')}>Edit</button>}
          {comment.viewerCanDelete && (
            <Confirm class="quiet" label="Delete" question="Delete this comment?" mutation={DeleteComment} input={{ commentId: id }}>
              This can't be undone. If it has replies, they stay.
            </Confirm>
          )}
          {me && me.id !== author.id && <Report subjectId={id} question="Report this comment?" />}
          {comment.repliesCount > 0 && !inTree && <Link class="quiet button" href={permalink(postId, comment)}>{comment.repliesCount === 1 ? '1 reply' : `${comment.repliesCount} replies`}</Link>}
        </footer>
        {open === 'reply' && <CommentForm postId={postId} parent={comment} then={onReplied} />}
        <Published comment={published} postId={postId} />
      </div>
    </li>
  );
}
