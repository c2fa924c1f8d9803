import { Redirect, Route, Router, Switch } from 'wouter-preact';
import { useArrival } from './navigation.js';
import { Boundary } from './parts/Boundary.jsx';
import { Shell } from './parts/Shell.jsx';
import { Account } from './pages/Account.jsx';
import { Circle } from './pages/Circle.jsx';
import { Circles } from './pages/Circles.jsx';
import { Incoming } from './pages/Incoming.jsx';
import { Landing } from './pages/Landing.jsx';
import { ConfirmEmail, ForgotPassword, ResetPassword } from './pages/Mail.jsx';
import { Moderation } from './pages/Moderation.jsx';
import { News } from './pages/News.jsx';
import { Notifications } from './pages/Notifications.jsx';
import { OwnWall } from './pages/OwnWall.jsx';
import { People } from './pages/People.jsx';
import { PostPage } from './pages/PostPage.jsx';
import { Followers, Following, Profile } from './pages/Profile.jsx';
import { Settings } from './pages/Settings.jsx';
import { SignIn, SignUp } from './pages/SignIn.jsx';
import { Broken, Missing } from './parts/states.jsx';
import { useSession } from './session.jsx';

// forMembers are the pages that are about the viewer.
const forMembers = {
  '/': News, '/incoming': Incoming, '/wall': OwnWall, '/circles': Circles, '/circles/:id': Circle, '/notifications': Notifications, '/settings': Settings,
  '/settings/account': Account, '/moderation': Moderation,
};
// Visitors sign in where they are, so that the page that they asked for opens afterwards.
const forMembersOnly = Object.fromEntries(Object.keys(forMembers).map((path) => [path, SignIn]));
const forVisitors = { '/': Landing, '/sign-in/*?': SignIn, '/sign-up': SignUp };
const forAll = {
  '/people': People, '/people/:handle': Profile, '/people/:handle/followers': Followers, '/people/:handle/following': Following,
  '/post/:id': PostPage, '/post/:id/comment/:slug': PostPage,
};

// People who forgot their password can't sign in, so these pages are open to everyone, even on a
// Plaza for members.
const ofMails = { '/reset-password': ResetPassword, '/confirm-email': ConfirmEmail };

export function App() {
  const { config, me, notice } = useSession();
  // They sign in wherever that is, so that the same page opens afterwards.
  const mustSignIn = !me && ['ended', 'members'].includes(notice);
  const open = config.mail ? { '/forgot-password': ForgotPassword, ...ofMails } : ofMails;
  const pages = { ...open, ...(mustSignIn ? { '/sign-up': SignUp } : { ...(me ? forMembers : { ...forMembersOnly, ...forVisitors }), ...forAll }) };
  return (
    <Router base="/app">
      <Shell>
        <Switch>
          {Object.entries(pages).map(([path, Page]) => (
            <Route key={path} path={path}>{(params) => <PageIn Page={Page} params={params} key={Object.values(params).join()} />}</Route>
          ))}
          {me && Object.keys(forVisitors).map((path) => (
            <Route key={path} path={path}><Redirect to={history.state?.from ?? '/'} replace /></Route>
          ))}
          <Route><PageIn Page={mustSignIn ? SignIn : NotFound} /></Route>
        </Switch>
      </Shell>
    </Router>
  );
}

function PageIn({ Page, params }) {
  useArrival();
  return <Boundary fallback={<Broken />}><Page {...params} /></Boundary>;
}

const NotFound = () => <Missing title="There is no such page">The address may be mistyped.</Missing>;
