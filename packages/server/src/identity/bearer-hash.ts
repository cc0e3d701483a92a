import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { sha256 } from '../kernel/context.ts'

const scheme = 'Bearer '
const lastOf = new WeakMap<Socket, { authorization: string; bearerHash: string }>()

/**
 * Returns the hash of the service token of a request, or undefined if it has none. A connection usually sends the same
 * token again. A comparison is enough then. A hash would cost more than all other work for a cached token. The token is
 * kept only while its connection is open.
 */
export function bearerHashOf({ headers: { authorization }, socket }: IncomingMessage): string | undefined {
  if (!authorization?.startsWith(`${scheme}skt_`)) return undefined
  const last = lastOf.get(socket)
  if (last?.authorization === authorization) return last.bearerHash
  const bearerHash = sha256(authorization.slice(scheme.length))
  lastOf.set(socket, { authorization, bearerHash })
  return bearerHash
}
