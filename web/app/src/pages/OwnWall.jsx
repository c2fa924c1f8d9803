import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { OwnWall as Query, Wall, WallPostAdded } from '../api/operations.js';
import { useList, useLiveAfter, useTitle } from '../hooks.js';
import { Tabs } from '../parts/basics.jsx';
import { Composer } from '../parts/Composer.jsx';
import { Feed } from '../parts/Feed.jsx';
import { Empty, Waiting } from '../parts/states.jsx';
import { useMe } from '../session.jsx';

const views = { ALL: 'By everyone', FOLLOWED: 'By me and the people I follow' };

export function OwnWall() {
  useTitle('My wall');
  const me = useMe();
  // Live posts have the cursors of the wall that others see, so that is read before the two views.
  const { list, error, readAgain } = useList(Wall, { handle: me.handle }, (data) => data.user?.wall, 'network-only');
  return (
    <>
      <h1>My wall</h1>
      <p class="hint">What you write, and what others write to you. <Link href={`/people/${me.handle}`}>See it as others do</Link>.</p>
      <Composer />
      {list ? <Views newest={list.pageInfo.startCursor} /> : <Waiting error={error} again={readAgain} />}
    </>
  );
}

function Views({ newest }) {
  const me = useMe();
  const [view, setView] = useState('ALL');
  const reading = useList(Query, { view }, (data) => data.viewer?.wall, 'cache-and-network');
  useLiveAfter(WallPostAdded, { userId: me.id }, reading, newest);
  return (
    <>
      <Tabs label="Posts" options={views} chosen={view} onChoose={setView} />
      <Feed key={view} reading={reading}><Empty title="Your wall is empty"><p>Write the first post.</p></Empty></Feed>
    </>
  );
}
