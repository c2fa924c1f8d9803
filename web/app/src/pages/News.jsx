import { Link } from 'wouter-preact';
import { News as Query, NewsItemAdded } from '../api/operations.js';
import { useList, useLive, useTitle } from '../hooks.js';
import { Composer } from '../parts/Composer.jsx';
import { Feed } from '../parts/Feed.jsx';
import { Empty } from '../parts/states.jsx';
import { Suggestions } from '../parts/Suggestions.jsx';

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
