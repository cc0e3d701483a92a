import { limits } from '@skerry/contract/limits'
import type { oauth } from '@skerry/contract/oauth/endpoints'
import { unsupportedGrant } from '@skerry/contract/oauth/schemas'
import type { In, Out } from '../../http/route.ts'
import { basicCredentials, type ClientCredentials, machineClient } from '../../identity/client-credentials.ts'
import { insertAccessToken } from '../../identity/store.ts'
import { newSecret, sha256 } from '../../kernel/context.ts'
import { fail, Refusal } from '../../kernel/errors.ts'

/**
 * OAuth 2.0 client credentials (RFC 6749 section 4.4), in the header or in the body, as JSON or as a form. The access
 * token is opaque and looked up on each use, so that it can be ended before it expires.
 */
export async function issue(input: In<typeof oauth.token>): Out<typeof oauth.token> {
  const { db, now, audit } = input
  if (input.body.grant_type !== 'client_credentials') throw fail('invalid_request', unsupportedGrant)
  const client = await identify(input)
  const accessToken = `skm_${newSecret()}`
  const expiresAt = new Date(Date.parse(now) + limits.machineAccessTtlSeconds * 1000).toISOString()
  const issued = await insertAccessToken(db, {
    orgId: client.orgId,
    clientId: client.id,
    secretHash: sha256(credentials(input).clientSecret),
    tokenHash: sha256(accessToken),
    expiresAt,
  })
  if (!issued) throw fail('unauthorized', 'unknown client credentials')
  audit('machine_client.token_issued', client.id, { expiresAt }, { orgId: client.orgId, actor: client })
  return { access_token: accessToken, token_type: 'Bearer', expires_in: limits.machineAccessTtlSeconds }
}

async function identify(input: In<typeof oauth.token>) {
  const { db, context, origin } = input
  try {
    const client = await machineClient(db, credentials(input))
    context.limiter.take('principal', client.id, origin)
    return client
  } catch (error) {
    if (error instanceof Refusal && error.code === 'unauthorized')
      context.limiter.take('stranger', origin.ipAddress ?? '', origin)
    throw error
  }
}

function credentials({ body, headers }: In<typeof oauth.token>): ClientCredentials {
  const header = headers.authorization
  if (typeof header === 'string') {
    if (!/^basic /i.test(header)) throw fail('unauthorized', 'Authorization: use Basic here')
    return basicCredentials(header.slice('basic '.length))
  }
  if (!body.client_id || !body.client_secret)
    throw fail('unauthorized', 'send client_id and client_secret, in the Authorization header or in the body')
  return { clientId: body.client_id, clientSecret: body.client_secret }
}
