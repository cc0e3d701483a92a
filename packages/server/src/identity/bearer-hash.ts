import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { sha256 } from '../kernel/context.ts'

const scheme = 'Bearer '
const lastOf = new WeakMap<Socket, { authorization: string; bearerHash: string }>()

/**
 * The hash of the service token that a request presents, undefined where it presents none. A connection mostly sends the
 * same one again, and then it is compared, not hashed: hashing costs more than all else that is asked of a token that
 * memory knows. It is kept no longer than its connection is open.
 */
export function bearerHashOf({ headers: { authorization }, socket }: IncomingMessage): string | undefined {
  if (!authorization?.startsWith(`${scheme}skt_`)) return undefined
  const last = lastOf.get(socket)
  if (last?.authorization === authorization) return last.bearerHash
  const bearerHash = sha256(authorization.slice(scheme.length))
  lastOf.set(socket, { authorization, bearerHash })
  return bearerHash
}
