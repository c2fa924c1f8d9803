import { Link } from 'wouter-preact';
import { useTitle } from '../hooks.js';
import { Drawing } from '../parts/icons.jsx';
import { useSession } from '../session.jsx';
import { DemoButton, Invitation } from './SignIn.jsx';

export function Landing() {
  useTitle('');
  const { config: { demo, membersOnly } } = useSession();
  return (
    <section class="landing">
      <h1>Share with the right people.</h1>
      <p class="lead">On Plaza you arrange the people you know in circles. Each post says who sees it: everyone, all your circles, some of them, or only you.</p>
      <ul class="points">
        <li><Drawing of="CIRCLES" /><span>Circles are private. You alone see their names and who is in them.</span></li>
        <li><Drawing of="ONLY_ME" /><span>To people who may not see a post, it looks like a post that never existed.</span></li>
        <li><Drawing of="comment" /><span>News, comments and reactions arrive while you read.</span></li>
      </ul>
      <div class="actions"><DemoButton /><p><Link class="button" href="/sign-in">Sign in</Link></p></div>
      <Invitation />
      {demo && !membersOnly && <p>Or read what everyone can see, such as <Link href={`/people/${demo.handle}`}>the wall of @{demo.handle}</Link>.</p>}
    </section>
  );
}
