import { type Batch, Reply } from '../../http/route.ts'
import { newId } from '../../kernel/context.ts'
import { userAgentOf } from '../../kernel/unit.ts'

/** Longer ciphertexts go by themselves: others would wait for them. */
const charactersMax = 16 * 1024

type Body = { ciphertext: string; expectedVersion?: number }

/** What `put` does, for a service token whose holder memory knows and where nothing stands against it. */
export const putInBatch: Batch<Body> = async ({ context, origin, token, tokenHash, params, body }) => {
  if (token.orgId !== params.orgId || body.ciphertext.length > charactersMax) return undefined
  // Whether it may write elsewhere is asked the long way.
  if (token.environmentId !== null && token.environmentId !== params.envId) return undefined
  const written = await context.writes.add({
    orgId: token.orgId,
    environmentId: params.envId as string,
    name: params.name as string,
    id: newId('secret'),
    ciphertext: body.ciphertext,
    expectedVersion: body.expectedVersion ?? null,
    tokenHash,
    authorId: token.id,
    auditId: newId('audit'),
    ipAddress: origin.ipAddress,
    userAgent: userAgentOf(origin),
    requestId: origin.requestId,
  })
  if (!written) return undefined
  const { id, environmentId, name, version, createdAt, updatedAt } = written
  const secret = { id, environmentId, name, ciphertext: body.ciphertext, version, createdAt, updatedAt }
  return new Reply(version === 1 ? 201 : 200, { secret })
}
