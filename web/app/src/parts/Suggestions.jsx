import { useQuery } from '@urql/preact';
import { SuggestedUsers } from '../api/operations.js';
import { Names, PersonRow } from './basics.jsx';
import { FollowToggle } from './Follow.jsx';

// Suggestions keep those that the viewer follows meanwhile, to undo it, until they are shown again.
export function Suggestions() {
  const [{ data }] = useQuery({ query: SuggestedUsers, requestPolicy: 'cache-and-network' });
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
