import { Day } from './basics.jsx';

// Standing tells moderators that an account is not active, until when, and why.
export function Standing({ of: { kind, until, reason } }) {
  switch (kind) {
    case 'SUSPENDED':
      return <p class="hint">Suspended until <Day at={until} />: “<bdi>{reason}</bdi>”</p>;
    case 'BANNED':
      return <p class="hint">Banned: “<bdi>{reason}</bdi>”</p>;
    case 'DEACTIVATED':
      return <p class="hint">Deactivated by its owner.</p>;
    default:
      return null;
  }
}
