// Who is signed in. Each session has a client of its own, so its cache begins empty.
import { createContext } from 'preact';
import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { Provider, useQuery } from '@urql/preact';
import { connect, endSession, keepSession } from './api/client.js';
import { Me } from './api/operations.js';
import { Failure, Loading } from './parts/states.jsx';

const Session = createContext(null);

// useSession returns { me, config, hasEnded, begin, end, renew }. me is null for people who are signed out.
export const useSession = () => useContext(Session);
export const useMe = () => useSession().me;

export function SessionProvider({ config, children }) {
  const [generation, setGeneration] = useState(0);
  const [hasEnded, setHasEnded] = useState(false);
  const renew = () => setGeneration((before) => before + 1);

  const client = useMemo(() => connect(onEnded), [generation]);
  async function onEnded(ended) {
    if (ended.isLeaving || hasEnded) return; // signing out, or even without the session the server answers only members
    setHasEnded(true);
    await endSession().catch(() => {}); // with the cookie of an ended session, requests fail
    renew();
  }
  useEffect(() => () => client.close(), [client]);

  const session = {
    config, hasEnded, renew,
    async begin(token) {
      await keepSession(token);
      setHasEnded(false);
      renew();
    },
    async end() {
      client.isLeaving = true;
      try {
        await endSession();
        renew();
      } catch (error) {
        client.isLeaving = false;
        throw error;
      }
    },
  };
  return (
    <Provider value={client} key={generation}>
      <WithMe session={session}>{children}</WithMe>
    </Provider>
  );
}

function WithMe({ session, children }) {
  const [{ data, error }, read] = useQuery({ query: Me });
  if (!data && !error) return <Loading />;
  if (error && !data && !session.hasEnded) return <Failure error={error} again={read} />;
  const viewer = data?.viewer;
  const me = viewer ? { ...viewer.user, viewerId: viewer.id, wallPolicy: viewer.wallPolicy } : null;
  return <Session.Provider value={{ ...session, me }}>{children}</Session.Provider>;
}
