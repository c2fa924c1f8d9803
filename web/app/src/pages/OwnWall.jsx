import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { OwnWall as Query, WallPostAdded } from '../api/operations.js';
import { useList, useLive, useTitle } from '../hooks.js';
import { Tabs } from '../parts/basics.jsx';
import { Composer } from '../parts/Composer.jsx';
import { Feed } from '../parts/Feed.jsx';
import { Empty } from '../parts/states.jsx';
import { useMe } from '../session.jsx';

const views = { ALL: 'By everyone', FOLLOWED: 'By me and the people I follow' };

export function OwnWall() {
  useTitle('My wall');
  const me = useMe();
  const [view, setView] = useState('ALL');
  const reading = useList(Query, { view }, (data) => data.viewer?.wall, 'cache-and-network');
  useLive(WallPostAdded, { userId: me.id }, reading, null); // the two views have other cursors
  return (
    <>
      <h1>My wall</h1>
      <p class="hint">What you write, and what others write to you. <Link href={`/people/${me.handle}`}>See it as others do</Link>.</p>
      <Composer />
      <Tabs label="Posts" options={views} chosen={view} onChoose={setView} />
      <Feed key={view} reading={reading}><Empty title="Your wall is empty"><p>Write the first post.</p></Empty></Feed>
    </>
  );
}
