import { needed, object, text } from '@skerry/proxy/config/read'
import type { Executor } from '../executor.ts'
import { fail } from '../http/refusal.ts'
import { answer, type Call } from '../http/server.ts'

const wanted = object({ userRef: needed(text), connectionId: needed(text) })

/** After these reasons, the stored credential may still be valid: its provider failed, or a lost key was restored. */
const mendable: ReadonlySet<string | null> = new Set(['provider_rejected_credential', 'reauth_requested'])

/**
 * Makes a connection `active` again without its person. The next request shows whether the provider accepts the
 * credential. If not, the connection needs its person again.
 */
export async function reactivate({ credentials, server }: Executor, { body }: Call) {
  const { userRef, connectionId } = wanted(body, '')
  await credentials.connectionOf(connectionId, userRef)
  const params = { vaultConnectionId: connectionId }
  const { connection } = await server.connection({ params })
  const { status, statusReason, method } = connection
  if (status === 'revoked') throw fail('connection_revoked', 'the connection was revoked')
  if (status === 'active') return answer({ status })
  if (method === 'browser' || !mendable.has(statusReason))
    throw fail('conflict', `only the person can repair this connection: ${statusReason}`)
  const moved = await server.setStatus({ params, body: { status: 'active' } })
  return answer({ status: moved.connection.status })
}
