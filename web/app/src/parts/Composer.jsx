// Writing and editing posts of each type.
import { useState } from 'preact/hooks';
import { CreatePost, EditPost, SetPostAudience, SetReplyPolicy } from '../api/operations.js';
import { AudiencePicker, ReplyPicker } from './Audience.jsx';
import { Dialog, Tabs } from './basics.jsx';
import { Field, Form, useDrafted, useErrors, useSending } from './Form.jsx';

const labels = { status: 'Text', photo: 'Photo', link: 'Link', checkin: 'Check-in', poll: 'Poll' };
const fieldsOf = { status: StatusFields, photo: PhotoFields, link: LinkFields, checkin: CheckinFields, poll: PollFields };
const typeOf = { StatusPost: 'status', PhotoPost: 'photo', LinkPost: 'link', CheckinPost: 'checkin', PollPost: 'poll' };

const TextArea = (props) => <Field as="textarea" rows="3" {...props} />;

function StatusFields({ post }) {
  return <TextArea label="Text" hiddenLabel name="content.status.text" placeholder="What would you like to share?" defaultValue={post?.text} />;
}

function PhotoFields({ post }) {
  const [url, setUrl] = useState(useDrafted('content.photo.url') ?? post?.url ?? '');
  const [size, setSize] = useState(post);
  return (
    <>
      <Field label="Picture URL" name="content.photo.url" type="url" placeholder="https://…" value={url} onChange={(event) => setUrl(event.target.value)} />
      {/^https?:/.test(url) && (
        <img class="photo" src={url} alt="Preview" onLoad={({ target }) => setSize({ width: target.naturalWidth, height: target.naturalHeight })} onError={() => setSize(null)} />
      )}
      <Field label="What does it show?" hint="For people who can't see it" name="content.photo.alt" defaultValue={post?.alt} />
      <TextArea label="Caption" name="content.photo.caption" rows="2" defaultValue={post?.text} />
      <Hidden name="content.photo.width" type="number" value={size?.width || ''} />
      <Hidden name="content.photo.height" type="number" value={size?.height || ''} />
    </>
  );
}

function LinkFields({ post }) {
  return (
    <>
      <Field label="Link URL" name="content.link.url" type="url" placeholder="https://…" defaultValue={post?.url} />
      <Field label="Its title" name="content.link.title" defaultValue={post?.title} />
      <TextArea label="Text" name="content.link.text" rows="2" defaultValue={post?.text} />
    </>
  );
}

function CheckinFields({ post }) {
  const [at, setAt] = useState({
    latitude: useDrafted('content.checkin.latitude') ?? post?.latitude ?? '', longitude: useDrafted('content.checkin.longitude') ?? post?.longitude ?? '',
  });
  const [problem, setProblem] = useState('');
  const locate = () => navigator.geolocation.getCurrentPosition(({ coords }) => setAt(coords), (error) => setProblem(error.message));
  const degrees = (name, most) => (
    <Field label={`${name[0].toUpperCase()}${name.slice(1)}`} name={`content.checkin.${name}`} type="number" step="any" min={-most} max={most} required
      value={at[name]} onChange={(event) => setAt({ latitude: at.latitude, longitude: at.longitude, [name]: event.target.value })} />
  );
  return (
    <>
      <Field label="Place" name="content.checkin.place" defaultValue={post?.place} />
      <div class="pair">{degrees('latitude', 90)}{degrees('longitude', 180)}</div>
      {navigator.geolocation && window.isSecureContext && <button type="button" onClick={locate}>Where I am now</button>}
      {problem && <p class="error" role="alert">{problem}</p>}
      <TextArea label="Text" name="content.checkin.text" rows="2" defaultValue={post?.text} />
      {post?.photo && ['url', 'alt', 'width', 'height'].map((name) => (
        <Hidden key={name} name={`content.checkin.photo.${name}`} type={typeof post.photo[name] === 'number' ? 'number' : 'text'} value={post.photo[name] ?? ''} />
      ))}
    </>
  );
}

function PollFields({ post }) {
  const drafted = useDrafted('content.poll.options') ?? [];
  const [count, setCount] = useState(Math.max(2, drafted.length));
  const sending = useSending();
  const { messages, connected } = useErrors('content.poll.options');
  const question = <TextArea label="Question" name="content.poll.question" rows="2" defaultValue={post?.text} />;
  if (post) { // a poll keeps its options
    return <>{question}{post.options.map(({ id, text }) => <Hidden key={id} name="content.poll.options" data-list value={text} />)}</>;
  }
  return (
    <>
      {question}
      <fieldset {...connected}>
        <legend>Options</legend>
        {Array.from({ length: count }, (_, i) => (
          <input key={i} name="content.poll.options" data-list data-optional aria-label={`Option ${i + 1}`} placeholder={`Option ${i + 1}`} defaultValue={drafted[i]} dir="auto" {...sending} />
        ))}
        {messages}
        {count < 10 && <button type="button" onClick={() => setCount(count + 1)}>Add option</button>}
      </fieldset>
      <Field label="Closes (optional)" name="content.poll.closesAt" type="datetime-local" data-optional />
    </>
  );
}

const Hidden = (props) => <input hidden data-optional {...props} />;

// Composer writes a post on the viewer's wall, or on someone else's.
export function Composer({ wallOwner }) {
  const [type, setType] = useState('status');
  const [written, setWritten] = useState(0); // a new form for each post
  const Fields = fieldsOf[type];
  return (
    <section class="composer card" aria-label={wallOwner ? 'Write on this wall' : 'Write a post'}>
      <Tabs label="Type of post" options={labels} chosen={type} onChoose={setType} />
      <Form
        key={`${type} ${written}`} mutation={CreatePost} submit="Post" draft={`post ${wallOwner?.id ?? ''}`}
        // The API's own default order is OLDEST.
        complete={(input) => ({ ...input, wallOwnerId: wallOwner?.id, commentOrder: 'THREADED' })}
        then={() => { setType('status'); setWritten(written + 1); }}
      >
        <Fields />
        <AudiencePicker wallOwner={wallOwner} />
        <ReplyPicker />
      </Form>
      <p class="hidden" role="status">{written > 0 && 'Your post is published.'}</p>
    </section>
  );
}

export function EditDialog({ post, onClose }) {
  const Fields = fieldsOf[typeOf[post.__typename]];
  return (
    <Dialog title="Edit your post" onClose={onClose}>
      <Form mutation={EditPost} submit="Save" complete={(input) => ({ ...input, postId: post.id })} then={onClose}>
        <Fields post={post} />
      </Form>
    </Dialog>
  );
}

export function AudienceDialog({ post, onClose }) {
  return (
    <Dialog title="Who can see your post?" onClose={onClose}>
      <Form mutation={SetPostAudience} submit="Save" complete={(input) => ({ ...input, postId: post.id })} then={onClose}>
        <AudiencePicker audience={post.audience} wallOwner={post.wallOwner?.id === post.author.id ? null : post.wallOwner} />
      </Form>
    </Dialog>
  );
}

export function RepliesDialog({ post, onClose }) {
  return (
    <Dialog title="Who can reply to your post?" onClose={onClose}>
      <Form mutation={SetReplyPolicy} submit="Save" complete={(input) => ({ ...input, postId: post.id })} then={onClose}>
        <ReplyPicker policy={post.replyPolicy} />
        <p class="hint">Existing comments stay.</p>
      </Form>
    </Dialog>
  );
}
