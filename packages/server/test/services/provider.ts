import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'

export interface IdentityProvider {
  url: string
  close(): Promise<void>
}

/** The resource that the provider issues tokens for, and the client that requests them. */
export const resource = 'https://skerry.example'
export const client = { id: 'dashboard', redirectUri: 'http://127.0.0.1:9/callback' }
/** The base URL of the Skerry server for which the provider has its client. Nothing listens there. */
export const ownBaseUrl = 'http://127.0.0.1:9'

/**
 * Starts a complete OpenID Connect provider on loopback, with sign-in pages. A person who signs in as `ada@example.com`
 * has that address, verified. An address that begins with `unverified-` is not verified.
 */
export async function startProvider(
  signWith: 'RS256' | 'ES256' | 'EdDSA',
  { named = true, baseUrl = ownBaseUrl } = {},
): Promise<IdentityProvider> {
  const { Provider } = await import('oidc-provider')
  const { privateKey } = await generateKeyPair(signWith, { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'provider', alg: signWith, use: 'sig' }
  const server = createServer((request, response) => provider.callback()(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const claimsOf = (sub: string) => ({
    sub,
    email: sub,
    email_verified: !sub.startsWith('unverified-'),
    ...(named ? { name: sub.split('@')[0] } : {}),
  })
  const provider = new Provider(url, {
    jwks: { keys: [key] },
    cookies: { keys: ['a key for cookies of this suite'] },
    clients: [
      {
        client_id: client.id,
        redirect_uris: [client.redirectUri, `${baseUrl}/sign-in/external/callback`],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
        id_token_signed_response_alg: signWith,
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    findAccount: async (_: unknown, sub: string) => ({ accountId: sub, claims: async () => claimsOf(sub) }),
    extraTokenClaims: async (_: unknown, token: { accountId?: string }) => claimsOf(token.accountId ?? ''),
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: async () => ({
          scope: 'secrets',
          audience: resource,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: signWith } },
        }),
      },
    },
  })
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
