import { useState } from 'preact/hooks';
import { useQuery } from '@urql/preact';
import { useSearchParams } from 'wouter-preact';
import { PeopleByName, Profile } from '../api/operations.js';
import { useDelayed, useList, useTitle } from '../hooks.js';
import { PersonRow, withoutAt } from '../parts/basics.jsx';
import { More } from '../parts/Feed.jsx';
import { FollowButton } from '../parts/Follow.jsx';
import { Waiting } from '../parts/states.jsx';
import { Suggestions } from '../parts/Suggestions.jsx';
import { useMe } from '../session.jsx';

export function People() {
  useTitle('People');
  const me = useMe();
  const [search] = useSearchParams();
  const startsWith = withoutAt(search.get('q') ?? '');
  return (
    <>
      <h1>People</h1>
      {startsWith
        ? <Found startsWith={startsWith}>{(user) => me && me.id !== user.id && <FollowButton handle={user.handle} />}</Found>
        : <section class="card"><p>Search for the beginning of a name, or for a whole handle.</p><Suggestions /></section>}
    </>
  );
}

// Found lists the people whose names begin with a text, after the person whose handle it is;
// children(user) returns what to do with each.
export function Found({ startsWith, children }) {
  const reading = useList(PeopleByName, { startsWith }, (data) => data.usersByName);
  const [{ data }] = useQuery({ query: Profile, variables: { handle: startsWith } });
  if (!reading.list) return <Waiting error={reading.error} again={reading.readAgain} />;
  const exact = data?.user;
  const found = reading.list.edges.map(({ node }) => node).filter(({ id }) => id !== exact?.id);
  if (exact) found.unshift(exact);
  return (
    <section class="card">
      {found.length === 0 && <p role="status">No name begins with “<bdi>{startsWith}</bdi>”, and it is not a handle.</p>}
      <ul class="plain">{found.map((user) => <PersonRow key={user.id} user={user}>{children(user)}</PersonRow>)}</ul>
      <More reading={reading} />
    </section>
  );
}

// Finder searches while one writes.
export function Finder({ label, children }) {
  const [text, setText] = useState('');
  const startsWith = useDelayed(withoutAt(text), 250);
  return (
    <>
      <input type="search" aria-label={label} placeholder={label} value={text} maxLength={100} onInput={(event) => setText(event.target.value)} />
      {startsWith && <Found startsWith={startsWith}>{children}</Found>}
    </>
  );
}
