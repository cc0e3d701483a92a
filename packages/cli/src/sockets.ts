import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { createConnection, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from './failure.ts'
import { cannotWrite, makePrivateFolder } from './files.ts'
import { stateFolder } from './folders.js'

/** The longest path of a socket, without its final NUL (`sun_path` of macOS). */
const pathMaxBytes = 103

/** The path of a socket in a folder that is closed to other users. */
export function ownSocket(name: string): string {
  const { XDG_RUNTIME_DIR: runtime } = process.env
  const shared = join(tmpdir(), `skerry-${process.getuid?.() ?? 'user'}`)
  const folders = [...(runtime?.startsWith('/') ? [join(runtime, 'skerry')] : []), stateFolder(), shared]
  const folder = folders.find((one) => Buffer.byteLength(join(one, name)) <= pathMaxBytes) ?? shared
  makePrivateFolder(folder)
  const status = lstatSync(folder)
  if (!status.isDirectory() || (process.getuid && status.uid !== process.getuid())) {
    throw new Failure('refused', `${folder} belongs to another user`, 'set XDG_RUNTIME_DIR to a folder of your own')
  }
  return join(folder, name)
}

/**
 * Listens on a socket that only its owner can open. A socket that an ended process has left is replaced, and one that a
 * process listens on is not.
 */
export async function listenOnSocket(server: Server, path: string): Promise<void> {
  if (Buffer.byteLength(path) > pathMaxBytes)
    throw new Failure('failure', `the path ${path} is too long for a socket`, `use at most ${pathMaxBytes} bytes`)
  await removeLeftSocket(path)
  const before = process.umask(0o077)
  try {
    await listen(server, { path })
    chmodSync(path, 0o600)
  } finally {
    process.umask(before)
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses it',
  EADDRNOTAVAIL: 'this machine does not have this address',
  // Also for a folder that does not exist.
  EACCES: 'the place does not exist, or you may not use it',
}

/** Listens on a port or a socket. It fails with a sentence that names the place. */
export async function listen(server: Server, at: { path: string } | { host: string; port: number }): Promise<void> {
  const place = 'path' in at ? at.path : `${at.host}, port ${at.port}`
  await new Promise<void>((done, failed) => {
    server.once('error', (error) => {
      const { code = 'unknown reason' } = error as NodeJS.ErrnoException
      failed(new Failure('failure', `cannot listen on ${place}: ${reasons[code] ?? code}`))
    })
    server.listen(at, done)
  })
}

async function removeLeftSocket(path: string): Promise<void> {
  let status: ReturnType<typeof lstatSync> | undefined
  try {
    status = lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw cannotWrite(path, error)
  }
  if (status === undefined) return
  if (!status.isSocket()) throw new Failure('conflict', `${path} exists and is not a socket`, 'name another path')
  if (await isListenedOn(path))
    throw new Failure('conflict', `another program listens on ${path}`, 'stop it, or name another path')
  rmSync(path, { force: true })
}

const isListenedOn = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const connection = createConnection(path)
    connection.once('connect', () => resolve(true)).once('error', () => resolve(false))
    connection.once('connect', () => connection.destroy())
  })
