import { createHash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../failure.ts'
import { makePrivateFolder } from '../files.ts'
import { stateFolder } from '../folders.js'

/** What the agent is handed on its standard input, which nobody else can read, and then forgotten by the sender. */
export interface Start {
  socket: string
  /** PKCS8, base64url. */
  privateKey: string
  idleSeconds: number
  lifeSeconds: number
}

/** One request and one answer per connection, each a line of JSON. */
export type Request =
  | { op: 'status' }
  | { op: 'unwrap'; blob: string }
  /** The body of a policy, base64url: nothing else is signed. */
  | { op: 'sign-policy'; body: string }
  | { op: 'lock' }

export interface Status {
  publicKeyJwk: string
  /** Seconds until it locks by itself if nobody asks for anything. */
  locksInSeconds: number
}

export type Answer = { status: Status } | { bytes: string } | { ok: true } | { error: string }

/** A wrapped key has at most 4,096 characters, a policy of a thousand long rules half a million. */
export const lineMaxBytes = 600_000

/** What a socket's path may have (`sun_path` of macOS, with its final NUL). */
const pathMaxBytes = 103

/** One agent per person and server. Its folder is closed to other users, because every program that can connect may ask. */
export function agentSocket(url: string, userId: string): string {
  const name = `agent-${createHash('sha256').update(`${url}\n${userId}`).digest('hex').slice(0, 16)}`
  const { XDG_RUNTIME_DIR: runtime } = process.env
  const shared = join(tmpdir(), `skerry-${process.getuid?.() ?? 'user'}`)
  const folders = [...(runtime?.startsWith('/') ? [join(runtime, 'skerry')] : []), stateFolder(), shared]
  const folder = folders.find((one) => Buffer.byteLength(join(one, name)) <= pathMaxBytes) ?? shared
  makePrivateFolder(folder)
  const status = lstatSync(folder)
  if (!status.isDirectory() || (process.getuid && status.uid !== process.getuid())) {
    throw new Failure('refused', `${folder} belongs to somebody else`, 'set XDG_RUNTIME_DIR to a folder of your own')
  }
  return join(folder, name)
}
