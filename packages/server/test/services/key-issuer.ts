import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'

/** How an issuer answers: correctly, with 503, with text that is not JSON, by hanging up, or with another name. */
type Mood = 'well' | 'failing' | 'garbled' | 'gone' | 'misnamed'

/** A key that an issuer signs with. */
export interface SigningKey {
  alg: string
  kid: string
  privateKey: CryptoKey
  jwk: JWK
}

/** An issuer whose keys and failures a suite controls. */
export interface KeyIssuer {
  url: string
  discovery: Mood
  jwks: Mood
  /** The keys that it publishes. */
  keys: JWK[]
  /** How often its keys were fetched. */
  fetches: number
  close(): Promise<void>
}

export async function newKey(alg: string, kid: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

export async function startKeyIssuer(keys: SigningKey[]): Promise<KeyIssuer> {
  const server = createServer((request, response) => {
    const discovering = request.url === '/.well-known/openid-configuration'
    if (!discovering) issuer.fetches++
    const mood = discovering ? issuer.discovery : issuer.jwks
    if (mood === 'gone') return request.socket.destroy()
    if (mood === 'failing') return response.writeHead(503).end('{}')
    if (mood === 'garbled') return response.end('<html>')
    const named = mood === 'misnamed' ? 'https://other.example' : issuer.url
    const metadata = { issuer: named, jwks_uri: `${issuer.url}/jwks` }
    response.end(JSON.stringify(discovering ? metadata : { keys: issuer.keys }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer: KeyIssuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    discovery: 'well',
    jwks: 'well',
    keys: keys.map((key) => key.jwk),
    fetches: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return issuer
}

/** Signs claims as given: nothing is added, so that each claim can be left out. */
export const sign = (key: SigningKey, claims: Record<string, unknown>, header: { kid?: string } = { kid: key.kid }) =>
  new SignJWT(claims).setProtectedHeader({ alg: key.alg, ...header }).sign(key.privateKey)
