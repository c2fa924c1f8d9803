import { useQuery } from '@urql/preact';
import { Link } from 'wouter-preact';
import { News as Query, NewsItemAdded, SomePeople } from '../api/operations.js';
import { useList, useLive, useTitle } from '../hooks.js';
import { PersonRow } from '../parts/basics.jsx';
import { Composer } from '../parts/Composer.jsx';
import { Feed } from '../parts/Feed.jsx';
import { FollowButton } from '../parts/Follow.jsx';
import { Empty } from '../parts/states.jsx';
import { useMe } from '../session.jsx';

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
  const me = useMe();
  const [{ data }] = useQuery({ query: SomePeople });
  const people = Object.values(data ?? {}).flatMap((list) => list?.edges?.slice(0, 2) ?? []).filter(({ node }) => node.id !== me?.id);
  if (people.length === 0) return null;
  return (
    <>
      <h3>Some people here</h3>
      <ul class="plain">{people.map(({ node }) => <PersonRow key={node.id} user={node}>{me && <FollowButton handle={node.handle} />}</PersonRow>)}</ul>
    </>
  );
}
