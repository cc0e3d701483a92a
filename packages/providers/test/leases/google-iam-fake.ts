import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { exchangeToken, formType, tokenPath } from '../google-token-fake.ts'
import { type FakeAnswer, type FakeRequest, httpFake } from '../http-fake.ts'

// A fake of the token exchange (RFC 7523) and of IAM Credentials v1, from its discovery document. Not verified against
// the real service.

export const account = 'deploy@shop-1.iam.gserviceaccount.com'
export const base = 'skerry@shop-1.iam.gserviceaccount.com'
const { privateKey, publicKey: key } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const publicKey = key.export({ type: 'spki', format: 'pem' }) as string

/** The admin credential. Its own address for the token exchange must be ignored. */
export const serviceAccountKey = {
  type: 'service_account',
  client_email: base,
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  private_key_id: 'k1',
  token_uri: 'https://attacker.example/token',
}

export interface GoogleFake {
  origin: string
  /** The longest lifetime that the account allows. */
  capSeconds: number
  /** The requests for tokens, and how often the credential was exchanged. */
  generated: Record<string, unknown>[]
  exchanges: number
  /** Tokens that the fake has created, with the end of each. */
  tokens: Map<string, Date>
  stop(): Promise<void>
}

/** Both services for one account. The account of the credential may create tokens for it. */
export async function googleFake(): Promise<GoogleFake> {
  const refusal = (code: number, status: string, message: string): FakeAnswer => ({
    status: code,
    body: { error: { code, message, status } },
  })

  function answer(request: FakeRequest): FakeAnswer {
    if (request.method !== 'POST') return refusal(404, 'NOT_FOUND', 'no such method')
    if (request.path === tokenPath) {
      fake.exchanges++
      return exchangeToken(request, { email: base, publicKey }, 'base-token')
    }
    if (request.headers.authorization !== 'Bearer base-token')
      return refusal(401, 'UNAUTHENTICATED', 'invalid authentication credentials')
    const [, name] = /^\/v1\/projects\/-\/serviceAccounts\/([^/:]+):generateAccessToken$/.exec(request.path) ?? []
    if (decodeURIComponent(name ?? '') !== account)
      return refusal(403, 'PERMISSION_DENIED', "Permission 'iam.serviceAccounts.getAccessToken' denied")
    return generate(JSON.parse(request.body))
  }

  function generate(body: Record<string, unknown>): FakeAnswer {
    fake.generated.push(body)
    const unknown = Object.keys(body).find((name) => !['scope', 'delegates', 'lifetime'].includes(name))
    if (unknown) return refusal(400, 'INVALID_ARGUMENT', `Invalid JSON payload received. Unknown name "${unknown}"`)
    if (!Array.isArray(body.scope) || body.scope.length === 0)
      return refusal(400, 'INVALID_ARGUMENT', 'scope is required')
    const seconds = Number(/^(\d+)s$/.exec(String(body.lifetime))?.[1])
    if (!(seconds <= fake.capSeconds))
      return refusal(400, 'INVALID_ARGUMENT', 'The token lifetime is above the maximum')
    const accessToken = `ya29.${randomBytes(16).toString('hex')}`
    const until = new Date(Math.floor(Date.now() / 1000 + seconds) * 1000)
    fake.tokens.set(accessToken, until)
    return { status: 200, body: { accessToken, expireTime: until.toISOString().replace(/\.\d+/, '') } }
  }

  const served = await httpFake(answer, {
    contentType: ({ path }) => (path === tokenPath ? formType : 'application/json'),
    refuse: (status, words) => refusal(status === 413 ? 413 : 400, 'INVALID_ARGUMENT', words),
  })
  const fake: GoogleFake = { ...served, capSeconds: 3600, generated: [], exchanges: 0, tokens: new Map() }
  return fake
}
