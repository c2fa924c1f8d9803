import { useQuery } from '@urql/preact';
import { Link } from 'wouter-preact';
import { News as Query, NewsItemAdded, SuggestedUsers } from '../api/operations.js';
import { useList, useLive, useTitle } from '../hooks.js';
import { Names, PersonRow } from '../parts/basics.jsx';
import { Composer } from '../parts/Composer.jsx';
import { Feed } from '../parts/Feed.jsx';
import { FollowToggle } from '../parts/Follow.jsx';
import { Empty } from '../parts/states.jsx';

export function News() {
  useTitle('News');
  const reading = useList(Query, {}, (data) => data.viewer?.news);
  useLive(NewsItemAdded, {}, reading, reading.list?.pageInfo.startCursor);
  return (
    <>
      <h1 class="hidden">News</h1>
      <Composer />
      <Feed reading={reading}>
        <Empty title="Your news feed is empty">
          <p>Here you read what the people in your circles write, and what you write yourself. <Link href="/people">Find people to follow</Link>.</p>
          <Suggestions />
        </Empty>
      </Feed>
    </>
  );
}

export function Suggestions() {
  const [{ data }] = useQuery({ query: SuggestedUsers });
  const suggested = data?.viewer?.suggestedUsers ?? [];
  if (suggested.length === 0) return null;
  return (
    <>
      <h3>People you may want to follow</h3>
      <ul class="plain">
        {suggested.map(({ user, followedBy }) => (
          <PersonRow key={user.id} user={user} note={followedBy.length > 0 && <>Followed by <Names of={followedBy} /></>}>
            <FollowToggle user={user} />
          </PersonRow>
        ))}
      </ul>
    </>
  );
}
