// What is around every page: the navigation, the search, and who is signed in.
import { useRef } from 'preact/hooks';
import { useQuery } from '@urql/preact';
import { Link, useLocation, useRoute, useSearchParams } from 'wouter-preact';
import { Circles, NotificationAdded, Notifications } from '../api/operations.js';
import { useIsPaused, useList, useLive } from '../hooks.js';
import { hasRight } from '../rights.js';
import { useSession } from '../session.jsx';
import icon from '../icon.svg';
import { Avatar, EntryLink } from './basics.jsx';
import { Drawing } from './icons.jsx';
import { SignOut } from './SignOut.jsx';

export function Shell({ children }) {
  const { me } = useSession();
  const main = useRef(null);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); main.current.focus(); }}>Skip to the content</a>
      <header class="bar">
        <Link class="logo" href="/"><img src={icon} alt="" width="28" height="28" />Plaza</Link>
        <Search />
        {me ? <Link class="account" href={`/people/${me.handle}`} aria-label="Your profile"><Avatar user={me} /></Link> : <VisitorLinks />}
      </header>
      <div class={me ? 'columns' : 'columns visitor'}>
        {me && <Navigation me={me} />}
        <main id="main" ref={main} tabIndex="-1"><LiveStatus />{children}</main>
        {me && <OwnCircles />}
      </div>
      <PageFooter />
    </>
  );
}

function LiveStatus() {
  const isPaused = useIsPaused();
  return <p class={isPaused ? 'hint' : 'hidden'} role="status">{isPaused && 'Live updates are paused. Reconnecting…'}</p>;
}

function Search() {
  const [, navigate] = useLocation();
  const [search] = useSearchParams();
  function onSubmit(event) {
    event.preventDefault();
    navigate(`/people?q=${encodeURIComponent(new FormData(event.currentTarget).get('q').trim())}`);
  }
  return (
    <form class="search" role="search" onSubmit={onSubmit}>
      <Drawing of="search" />
      <input name="q" type="search" aria-label="Find people by name or handle" placeholder="Find people" maxLength={100} defaultValue={search.get('q') ?? ''} key={search.get('q')} />
    </form>
  );
}

const VisitorLinks = () => (
  <nav aria-label="Account"><EntryLink class="button" href="/sign-in">Sign in</EntryLink></nav>
);

function Navigation({ me }) {
  return (
    <nav class="side" aria-label="Plaza">
      <Entry to="/" of="news">News</Entry>
      <Entry to="/incoming" of="incoming">Incoming</Entry>
      <Entry to="/circles" of="CIRCLES">Circles</Entry>
      <Entry to="/notifications" of="notifications">Notifications<Unread /></Entry>
      <Entry to="/wall" of="profile">My wall</Entry>
      {hasRight(me.rights, 'MODERATE') && <Entry to="/moderation" of="moderation">Moderation</Entry>}
      <Entry to="/settings" within="/settings/*?" of="settings">Settings</Entry>
      <p class="signed-in">Signed in as <Link href={`/people/${me.handle}`}>@{me.handle}</Link> <SignOut class="quiet" /></p>
    </nav>
  );
}

function Entry({ to, within = to, of, children }) {
  const [isHere] = useRoute(within);
  return <Link href={to} aria-current={isHere ? 'page' : undefined}><Drawing of={of} /><span>{children}</span></Link>;
}

// Unread counts unread notifications, and keeps their list live on every page.
function Unread() {
  const reading = useList(Notifications, {}, (data) => data.viewer?.notifications);
  useLive(NotificationAdded, {}, reading, reading.list?.pageInfo.startCursor);
  const count = reading.data?.viewer?.unreadNotificationsCount ?? 0;
  return (
    <span role="status" class={count > 0 ? 'badge' : 'hidden'}>
      {count > 0 && <>{count >= 100 ? '99+' : count}<span class="hidden"> unread</span></>}
    </span>
  );
}

function OwnCircles() {
  const [{ data }] = useQuery({ query: Circles });
  const circles = data?.viewer?.circles?.edges;
  return (
    <aside aria-label="Your circles">
      {circles && (
        <section class="card">
          <h2>Your circles</h2>
          <ul class="plain">
            {circles.slice(0, 12).map(({ node: { id, name, membersCount } }) => (
              <li key={id}><Link href={`/circles/${id}`}><bdi>{name}</bdi></Link><span class="count">{membersCount}</span></li>
            ))}
          </ul>
          <Link href="/circles">All circles</Link>
        </section>
      )}
    </aside>
  );
}

function PageFooter() {
  const { config } = useSession();
  return (
    <footer class="page">
      <a href="/app/licenses.md">Licences</a>
      {config.graphiql && <a href={config.graphiql}>GraphiQL</a>}
    </footer>
  );
}
