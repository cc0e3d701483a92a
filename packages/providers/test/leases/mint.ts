import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { mongodbUserName } from '@skerry/contract/leases/facts'
import { base62, idLength } from '@skerry/contract/prefixes'
import type { Lease, LeaseAccountRef } from '../../src/leases/provider.ts'

/** A lease id in the format of the server. */
export const leaseId = () => `lse_${Array.from(randomBytes(idLength), (byte) => base62[byte % base62.length]).join('')}`

export const roleName = () => `lease_${randomBytes(6).toString('hex')}`
export const password = () => `p${randomBytes(24).toString('hex')}`
export const digest = (text: string) => createHash('sha256').update(text).digest('hex')

/** RFC 5802 and RFC 7677, as the CLI creates it. */
export function scramVerifier(secret: string, iterations = 4096): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(secret, salt, iterations, 32, 'sha256')
  const key = (text: string) => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(key('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${key('Server Key').toString('base64')}`
}

function nativePasswordHash(secret: string): string {
  const sha1 = (data: string | Buffer) => createHash('sha1').update(data).digest()
  return `*${sha1(sha1(secret)).toString('hex').toUpperCase()}`
}

export const verifierOf = { postgres: scramVerifier, mysql: nativePasswordHash, redis: digest } as const

export type DatabaseTag = 'postgres' | 'mysql' | 'redis' | 'mongodb'

export interface Minted<T extends DatabaseTag> {
  lease: Lease<T>
  name: string
  /** Empty if the target creates the password. */
  secret: string
  verifier: string
  ref: LeaseAccountRef
}

/**
 * A request for a database lease of one hour, under this name. MongoDB creates the password and derives the name from
 * the lease.
 */
export function mintFor<T extends DatabaseTag>(tag: T, name?: string): Minted<T> {
  const expiresAt = new Date(Date.now() + 3_600_000)
  if (tag === 'mongodb') {
    const id = name?.slice(mongodbUserName('').length) ?? leaseId()
    const ref = { id, resourceRef: mongodbUserName(id), verifierDigest: null }
    const lease = { id, ttlSeconds: 3600, expiresAt } as unknown as Lease<T>
    return { lease, name: ref.resourceRef, secret: '', verifier: '', ref }
  }
  const secret = password()
  const verifier = verifierOf[tag as keyof typeof verifierOf](secret)
  const [id, chosen] = [leaseId(), name ?? roleName()]
  const lease = { id, roleName: chosen, verifier, ttlSeconds: 3600, expiresAt } as unknown as Lease<T>
  return { lease, name: chosen, secret, verifier, ref: { id, resourceRef: chosen, verifierDigest: digest(verifier) } }
}

/** A request to a target that creates the whole credential. */
export function askFor(ttlSeconds: number) {
  const id = leaseId()
  const lease = { id, ttlSeconds, expiresAt: new Date(Date.now() + ttlSeconds * 1000) }
  return { lease, ref: { id, resourceRef: id, verifierDigest: null } }
}
