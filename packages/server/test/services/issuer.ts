import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'

export interface Issuer {
  url: string
  audience: string
  /** Signs a session token as an identity provider does. The given claims override the usual ones. */
  token(claims: JWTPayload & { sub: string }, header?: { kid?: string }): Promise<string>
  close(): Promise<void>
}

/**
 * Starts the part of an OpenID Connect issuer that the server uses: discovery and keys over HTTP, and tokens signed
 * with ES256. A complete provider with sign-in pages runs in oidc-provider.test.ts.
 */
export async function startIssuer(now: () => Date): Promise<Issuer> {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url === '/.well-known/openid-configuration')
      return response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/jwks` }))
    if (request.url === '/jwks') return response.end(JSON.stringify({ keys: [jwk] }))
    response.writeHead(404).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const audience = 'skerry-tests'
  return {
    url,
    audience,
    token(claims, header = {}) {
      const seconds = Math.floor(now().getTime() / 1000)
      return new SignJWT({ iss: url, aud: audience, iat: seconds, exp: seconds + 3600, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'one', ...header })
        .sign(privateKey)
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
