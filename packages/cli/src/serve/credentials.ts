import { mkdirSync, statSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Resolved } from '@skerry/sdk'
import { Failure } from '../failure.ts'
import { cannotWrite } from '../files.ts'
import { type Selection, select } from '../selection.ts'
import { listenOnSocket } from '../sockets.ts'
import type { Source } from './source.ts'

const retryMs = 1000

/**
 * Makes a socket for each secret. It writes the value to every program that connects, and closes, as `LoadCredential=` of
 * systemd expects. systemd says which credential it wants in the address that it connects from. Node cannot read that
 * address, so the name of the socket is the name of the secret.
 */
export async function serveCredentials(
  folder: string,
  { source, first, selection }: { source: Source; first: Resolved; selection: Selection },
): Promise<Server[]> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw cannotWrite(folder, error)
  }
  requireClosed(folder)
  const servers: Server[] = []
  for (const name of select(first, selection).keys()) {
    // systemd closes its sending side as soon as it has connected.
    const server = createServer({ allowHalfOpen: true }, (socket) => void give(socket, name, source))
    servers.push(server)
    await listenOnSocket(server, join(folder, name))
  }
  return servers
}

/** Another user who may write to the folder could replace a socket, and give a service a credential of their own. */
function requireClosed(folder: string): void {
  const { uid, mode } = statSync(folder)
  const isOwned = uid === 0 || uid === (process.getuid?.() ?? uid)
  if (isOwned && (mode & 0o022) === 0) return
  throw new Failure(
    'refused',
    isOwned ? `other users may write to ${folder}` : `${folder} belongs to another user`,
    'name a folder that only you may write to',
  )
}

/**
 * Writes the value, or waits until there is one. A socket can report no error: a connection that is closed early would be
 * an empty credential to systemd, and the service would start with it.
 */
async function give(socket: Socket, name: string, source: Source): Promise<void> {
  socket.on('error', () => {})
  socket.resume()
  while (!socket.destroyed) {
    const value = await source().then(
      ({ values }) => (Object.hasOwn(values, name) ? values[name] : undefined),
      () => undefined,
    )
    if (value !== undefined) return void socket.end(value)
    await sleep(retryMs)
  }
}
