import type { VaultMethod } from '@skerry/contract/vault/facts'
import type { Executor } from '../executor.ts'
import { fail } from '../http/refusal.ts'

/**
 * Returns the session of a page's claim token. The session must use this method, and its person must have consented.
 */
export async function verify({ server }: Executor, claimToken: unknown, method: VaultMethod) {
  if (typeof claimToken !== 'string') throw fail('invalid_request', 'claimToken: must be text')
  const { session } = await server.verifySession({ body: { claimToken } })
  if (session.method !== method) throw fail('conflict', `this session is for the method ${session.method}`)
  if (session.consentedAt === null) throw fail('conflict', 'the person has not agreed yet')
  return session
}
