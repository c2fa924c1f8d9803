// Who is signed in. Each session has a client of its own, so its cache begins empty.
import { createContext } from 'preact';
import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { Provider, useQuery } from '@urql/preact';
import { connect, endSession, isUnauthenticated, keepSession, pause, readViewerId } from './api/client.js';
import { Me } from './api/operations.js';
import { clearDrafts } from './drafts.js';
import { Failure, Loading } from './parts/states.jsx';

const Session = createContext(null);

// useSession returns { me, config, notice, begin, end, renew }. me is null for people who are
// signed out. notice says why they must sign in ('ended', 'members'), or what they have done to
// their account ('deactivated', 'deleted'). end(notice) ends the session. renew begins again with
// an empty cache, in all tabs.
export const useSession = () => useContext(Session);
export const useMe = () => useSession().me;

// The tabs of a browser share the cookie, so each tells the others when it may be another person's.
const tabs = new BroadcastChannel('plaza-session');

export function SessionProvider({ config, children }) {
  const [generation, setGeneration] = useState(0);
  const [notice, setNotice] = useState(null);
  const renew = () => setGeneration((before) => before + 1);

  const client = useMemo(() => connect(onRefused), [generation]);
  useEffect(() => () => client.close(), [client]);
  useChanges(client, (isOut) => {
    if (isOut) clearDrafts();
    setNotice(null);
    renew();
  });

  // onRefused finds out why the server refuses a client. Another tab may have signed someone in by
  // now, so only a cookie with which even Me fails is known to be useless.
  async function onRefused(refused) {
    if (refused.isLeaving) return;
    if (refused.viewerId === null) { // without a session, too, Me is allowed
      setNotice((before) => (before === 'ended' ? before : 'members'));
      return;
    }
    refused.isLeaving = true;
    if (refused.viewerId === undefined) {
      setNotice((before) => before ?? 'ended');
      await endSession().catch(() => pause(5));
    }
    renew();
  }

  function change(message, notice = null) {
    tabs.postMessage(message);
    setNotice(notice);
    renew();
  }
  const session = {
    config, notice,
    renew: () => change('renewed'),
    async begin(token) {
      await keepSession(token);
      change('in');
    },
    async end(notice) {
      client.isLeaving = true;
      try {
        await endSession();
      } catch (error) {
        if (!notice) { // otherwise the session ended with the account, and only the cookie is left
          client.isLeaving = false;
          throw error;
        }
      }
      clearDrafts();
      change('out', notice);
    },
  };
  return (
    <Provider value={client} key={generation}>
      <WithMe client={client} session={session}>{children}</WithMe>
    </Provider>
  );
}

// useChanges calls onChange(isOut) when another tab has changed the session, also if this one slept
// meanwhile.
function useChanges(client, onChange) {
  useEffect(() => {
    const onMessage = ({ data }) => onChange(data === 'out');
    async function onVisible() {
      if (document.hidden || client.viewerId === undefined) return;
      const viewerId = await readViewerId();
      if (viewerId !== undefined && viewerId !== client.viewerId && !client.isLeaving) onChange(false);
    }
    tabs.addEventListener('message', onMessage);
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      tabs.removeEventListener('message', onMessage);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [client]);
}

function WithMe({ client, session, children }) {
  const [{ data, error }, read] = useQuery({ query: Me });
  if (!data) return !error || isUnauthenticated(error.graphQLErrors) ? <Loading /> : <Failure error={error} again={read} />;
  const { viewer } = data;
  client.viewerId = viewer?.id ?? null;
  const me = viewer ? { ...viewer.user, viewerId: viewer.id, wallPolicy: viewer.wallPolicy, rights: viewer.rights } : null;
  return <Session.Provider value={{ ...session, me }}>{children}</Session.Provider>;
}
