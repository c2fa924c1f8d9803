import { Incoming as Query, IncomingAdded } from '../api/operations.js';
import { useList, useLive, useTitle } from '../hooks.js';
import { Feed } from '../parts/Feed.jsx';
import { Empty } from '../parts/states.jsx';

export function Incoming() {
  useTitle('Incoming');
  const reading = useList(Query, {}, (data) => data.viewer?.incoming);
  useLive(IncomingAdded, {}, reading, reading.list?.pageInfo.startCursor);
  return (
    <>
      <h1>Incoming</h1>
      <p class="hint">Posts that others addressed to you: on your wall, or to a circle of theirs that you are in, whether or not you follow them.</p>
      <Feed reading={reading}><Empty title="Nothing has come in"><p>When someone shares a post with a circle that you are in, it arrives here.</p></Empty></Feed>
    </>
  );
}
