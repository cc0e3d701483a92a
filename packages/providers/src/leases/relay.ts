import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

export interface Relay {
  /** Path of a socket file that only this user can reach. */
  path: string
  /** Why the last connection could not be made. */
  failure(): unknown
  close(): Promise<void>
}

/** Opens a local socket that forwards its connections to `connect`, for a driver that accepts no stream. */
export async function openRelay(connect: () => Promise<Socket>): Promise<Relay> {
  const folder = await mkdtemp(join(tmpdir(), 'skerry-relay-'))
  const path = join(folder, 'relay.sock')
  const open = new Set<Socket>()
  let failure: unknown
  const server = createServer(async (local) => {
    open.add(local)
    local.on('error', () => {})
    local.once('close', () => open.delete(local))
    try {
      const remote = await connect()
      if (local.destroyed) remote.destroy()
      else await Promise.all([pipeline(local, remote), pipeline(remote, local)]).catch(() => {})
    } catch (error) {
      failure = error
      local.destroy()
    }
  })
  server.listen(path)
  await once(server, 'listening')
  return {
    path,
    failure: () => failure,
    async close() {
      for (const local of open) local.destroy()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
