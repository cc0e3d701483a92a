import type { Batch } from '../../http/route.ts'
import { userAgentOf } from '../../kernel/audit.ts'
import { newAuditId, newId } from '../../kernel/context.ts'
import type { SecretsContext } from './context.ts'
import { chooseGroup } from './quota-cache.ts'
import { writtenReply } from './secrets.ts'

/**
 * The longest ciphertext that joins a group. Longer ciphertexts are written alone, because other writes would wait for
 * them.
 */
const charactersMax = 16 * 1024

type Body = { ciphertext: string; expectedVersion?: number }

/** Does a `put` as part of a group, for a token that is cached in memory. Returns undefined for the normal route. */
export const putInBatch: Batch<Body, SecretsContext> = async ({ context, origin, token, tokenHash, params, body }) => {
  if (token.orgId !== params.orgId || body.ciphertext.length > charactersMax) return undefined
  // The normal route checks whether the token may write to another environment.
  if (token.environmentId !== null && token.environmentId !== params.envId) return undefined
  const { orgId } = token
  const environmentId = params.envId as string
  const group = await chooseGroup(context, { orgId, environmentId, bytes: body.ciphertext.length })
  if (group === 'long') return undefined
  const writes = group === 'free' ? context.writes : context.countedWrites
  const written = await writes.add({
    orgId,
    environmentId,
    name: params.name as string,
    newId: newId('secret'),
    ciphertext: body.ciphertext,
    expectedVersion: body.expectedVersion ?? null,
    authorType: token.type,
    authorId: token.id,
    tokenHash,
    auditId: newAuditId(context.now()),
    ipAddress: origin.ipAddress,
    userAgent: userAgentOf(origin),
    requestId: origin.requestId,
  })
  if (group === 'free' && written && written.version > 1) context.quotaCache.release(environmentId)
  return written && writtenReply(written, body.ciphertext)
}
