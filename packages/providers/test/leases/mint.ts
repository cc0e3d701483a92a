import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { base62, idLength } from '@skerry/contract/prefixes'

/** A lease id as the server makes them. */
export const leaseId = () => `lse_${Array.from(randomBytes(idLength), (byte) => base62[byte % base62.length]).join('')}`

export const roleName = () => `lease_${randomBytes(6).toString('hex')}`
export const password = () => `p${randomBytes(24).toString('hex')}`
export const digest = (text: string) => createHash('sha256').update(text).digest('hex')

/** RFC 5802 and RFC 7677, as the CLI makes it. */
export function scramVerifier(secret: string, iterations = 4096): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(secret, salt, iterations, 32, 'sha256')
  const key = (text: string) => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(key('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${key('Server Key').toString('base64')}`
}

export function nativePasswordHash(secret: string): string {
  const sha1 = (data: string | Buffer) => createHash('sha1').update(data).digest()
  return `*${sha1(sha1(secret)).toString('hex').toUpperCase()}`
}

export const verifierOf = { postgres: scramVerifier, mysql: nativePasswordHash, redis: digest } as const
