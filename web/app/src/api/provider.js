// Sign-in with an OpenID provider: the authorization code flow with PKCE. docs/guide.md explains
// its steps.
import { randomKey } from './client.js';

const memory = 'plaza sign-in'; // what the tab must know when the provider sends it back

// Each provider sends people back to a page of its own. With one for all, a hostile provider could
// send them to another one, and get the code of that one (RFC 9700, section 4.4).
const pages = '/app/sign-in/';
export const nameOf = ({ issuer }) => issuer.replace(/^https?:\/\//, '').replace(/\/$/, '');
const redirectUriOf = (provider) => location.origin + pages + nameOf(provider);

const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const random = () => randomKey() + randomKey(); // a verifier has at least 43 characters
const hash = async (text) => base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));

// Browsers compute hashes only on pages that came over HTTPS, or from this machine.
export const canLeave = Boolean(crypto.subtle);

async function ask(provider, url, init) {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(20_000) }).catch(() => null);
  const answer = await response?.json().catch(() => null);
  if (!response?.ok || !answer) throw new Error(`${nameOf(provider)} does not answer as it should. Try again later.`);
  return answer;
}

const originOf = (url) => (URL.canParse(url) ? new URL(url).origin : null);

// settingsOf reads the provider's addresses. The page's policy allows requests to the issuer's
// origin alone.
async function settingsOf(provider) {
  const { issuer } = provider;
  const settings = await ask(provider, `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const isWeb = /^https?:/.test(settings.authorization_endpoint) && originOf(settings.authorization_endpoint);
  if (settings.issuer !== issuer || !isWeb || originOf(settings.token_endpoint) !== originOf(issuer)) {
    throw new Error(`This app can't sign in with ${nameOf(provider)}.`);
  }
  return settings;
}

// leave goes to the provider, { issuer, clientId }. from is where the person wants to go
// afterwards.
export async function leave(provider, from) {
  const { authorization_endpoint } = await settingsOf(provider);
  const { issuer, clientId } = provider;
  const begun = { issuer, clientId, from, verifier: random(), nonce: random(), state: random() };
  sessionStorage.setItem(memory, JSON.stringify(begun));
  const url = new URL(authorization_endpoint);
  for (const [name, value] of Object.entries({
    response_type: 'code', scope: 'openid profile', client_id: clientId, redirect_uri: redirectUriOf(provider), state: begun.state,
    nonce: await hash(begun.nonce), code_challenge: await hash(begun.verifier), code_challenge_method: 'S256',
  })) url.searchParams.set(name, value);
  location.assign(url);
}

// isBack: a provider has sent the tab here.
export const isBack = () => location.pathname.startsWith(pages) && new URLSearchParams(location.search).has('state');

// comeBack returns { idToken, nonce }, once: the code works once. Where the person wants to go is
// in history.state then.
export async function comeBack() {
  const answer = new URLSearchParams(location.search);
  const page = location.origin + location.pathname;
  const begun = JSON.parse(sessionStorage.getItem(memory) ?? '{}');
  sessionStorage.removeItem(memory);
  history.replaceState({ from: begun.from }, '', page);
  const isOurs = begun.state && answer.get('state') === begun.state && page === new URL(redirectUriOf(begun)).href
    && (answer.get('iss') ?? begun.issuer) === begun.issuer;
  if (!isOurs) throw new Error('This sign-in has expired, or began in another tab. Please start again.');
  if (answer.has('error')) throw new Error(answer.get('error_description') ?? `${nameOf(begun)} says: ${answer.get('error')}`);
  const { token_endpoint } = await settingsOf(begun);
  const { id_token: idToken } = await ask(begun, token_endpoint, { method: 'POST', body: new URLSearchParams({
    grant_type: 'authorization_code', code: answer.get('code'), redirect_uri: redirectUriOf(begun), client_id: begun.clientId, code_verifier: begun.verifier,
  }) });
  if (typeof idToken !== 'string') throw new Error(`${nameOf(begun)} does not answer as it should. Try again later.`);
  return { idToken, nonce: begun.nonce };
}
