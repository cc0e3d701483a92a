import { createPublicKey, createVerify } from 'node:crypto'
import type { FakeAnswer, FakeRequest } from './http-fake.ts'

// Google’s token endpoint for service accounts, from RFC 7523 and Google’s documentation: a form with two fields, a
// signed assertion that is valid for an hour at most, and OAuth errors.

export const tokenPath = '/token'
export const formType = 'application/x-www-form-urlencoded'

const refused = (error: string, error_description: string): FakeAnswer => ({
  status: 400,
  body: { error, error_description },
})

/** Answers a request for a token. The assertion must name the account and be signed with its key. */
export function exchangeToken(
  { method, body }: FakeRequest,
  account: { email: string; publicKey: string },
  token: string,
): FakeAnswer {
  if (method !== 'POST') return refused('invalid_request', 'Only POST requests are supported.')
  const form = new URLSearchParams(body)
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    return refused('unsupported_grant_type', 'Invalid grant_type')
  if ([...form.keys()].sort().join() !== 'assertion,grant_type')
    return refused('invalid_request', 'Unknown or missing parameter.')
  const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
  const verifier = createVerify('sha256').update(`${header}.${claims}`)
  if (!verifier.verify(createPublicKey(account.publicKey), signature, 'base64url'))
    return refused('invalid_grant', 'Invalid JWT Signature.')
  const { iss, aud, scope, exp, iat } = JSON.parse(Buffer.from(claims, 'base64url').toString())
  if (iss !== account.email || aud !== 'https://oauth2.googleapis.com/token')
    return refused('invalid_grant', 'Invalid issuer or audience.')
  if (!scope) return refused('invalid_scope', 'Invalid OAuth scope or ID token audience provided.')
  if (exp - iat > 3600) return refused('invalid_grant', 'Invalid JWT: Token must be a short-lived token (60 minutes).')
  return { status: 200, body: { access_token: token, expires_in: 3599, token_type: 'Bearer' } }
}
