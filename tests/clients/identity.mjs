// An OpenID provider, and a site that issues tokens of its own, both from public libraries. It writes
// their addresses as a line of JSON, and ends with its standard input.
import { createServer } from 'node:http'
import { once } from 'node:events'
import Provider from 'oidc-provider'
import { SignJWT, exportJWK, generateKeyPair } from 'jose'

const listen = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, url: `http://127.0.0.1:${server.address().port}` }
}

// openProvider signs mira in without asking her, as if she were signed in there already.
const openProvider = async () => {
  const { server, url } = await listen()
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new Provider(url, {
    clients: [{ client_id: 'plaza-web', redirect_uris: ['http://127.0.0.1/back'], token_endpoint_auth_method: 'none' }],
    jwks: { keys: [{ ...await exportJWK(privateKey), use: 'sig' }] },
    cookies: { keys: ['a key for tests'] },
    claims: { profile: ['preferred_username', 'name'] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId, preferred_username: accountId, name: 'Mira of the provider' }) }),
    loadExistingGrant: async ({ oidc }) => {
      const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid profile')
      await grant.save()
      return grant
    },
  })
  const answer = provider.callback()
  server.on('request', (req, res) => {
    if (req.url.startsWith('/interaction/')) return provider.interactionFinished(req, res, { login: { accountId: 'mira' } })
    answer(req, res)
  })
  return url
}

// openSite publishes its key, and issues a token at /token?sub=…&aud=….
const openSite = async () => {
  const { server, url } = await listen()
  const { privateKey, publicKey } = await generateKeyPair('EdDSA')
  const key = { ...await exportJWK(publicKey), kid: 'the only one', alg: 'EdDSA', use: 'sig' }
  server.on('request', async (req, res) => {
    const { pathname, searchParams: asked } = new URL(req.url, url)
    if (pathname === '/.well-known/openid-configuration') return res.end(JSON.stringify({ issuer: url, jwks_uri: url + '/keys' }))
    if (pathname === '/keys') return res.end(JSON.stringify({ keys: [key] }))
    res.end(await new SignJWT({ preferred_username: asked.get('sub'), name: 'Noor of the site' })
      .setProtectedHeader({ alg: 'EdDSA', kid: key.kid }).setIssuer(url).setSubject(asked.get('sub')).setAudience(asked.get('aud'))
      .setIssuedAt().setExpirationTime('5m').sign(privateKey))
  })
  return url
}

console.log(JSON.stringify({ provider: await openProvider(), site: await openSite() }))
process.stdin.resume().on('end', () => process.exit())
