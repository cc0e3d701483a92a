import { createHash } from 'node:crypto'
import type { DirectorySigner } from '@skerry/crypto/directory/signing'
import { ownSocket } from '../sockets.ts'

/**
 * The agent's settings and key. The agent reads them from standard input, which no other process can read, and the
 * sender then forgets them.
 */
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
  /** A key, base64url, that the agent wraps to its own public key. */
  | { op: 'wrap-to-self'; key: string }
  /** The body of a policy, base64url: nothing else is signed. */
  | { op: 'sign-policy'; body: string }
  /** Asks for the public key with which the agent signs the directory. */
  | { op: 'directory-signer' }
  /** The signed bytes of a root or a head of the directory, base64url: nothing else is signed. */
  | { op: 'sign-directory'; body: string }
  | { op: 'lock' }

export interface Status {
  publicKeyJwk: string
  /** Seconds until it locks by itself if it gets no request. */
  locksInSeconds: number
}

/** The public key of a signer of the directory. */
interface SignerKey {
  kid: string
  jwk: DirectorySigner['jwk']
}

export type Answer =
  | { status: Status }
  | { bytes: string }
  | { blob: string }
  | { signer: SignerKey }
  | { ok: true }
  | { error: string }

/** A wrapped key has at most 4,096 characters, a policy of a thousand long rules half a million. */
export const lineMaxBytes = 600_000

/** The path of the agent's socket: one agent per person and server. It answers every program that can connect. */
export const agentSocket = (url: string, userId: string): string =>
  ownSocket(`agent-${createHash('sha256').update(`${url}\n${userId}`).digest('hex').slice(0, 16)}`)
