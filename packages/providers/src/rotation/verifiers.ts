import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'

// Verifiers that a target gets instead of a password, because statements end up in logs, in statistics and on replicas.

/** PostgreSQL’s own default. More iterations would slow down every sign-in of the application. */
const iterations = 4096

/** SCRAM-SHA-256 (RFC 5802, RFC 7677) in the form in which PostgreSQL stores it. */
export async function scramVerifier(password: string): Promise<string> {
  const salt = randomBytes(16)
  const salted = await promisify(pbkdf2)(password, salt, iterations, 32, 'sha256')
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${hmac('Server Key').toString('base64')}`
}

/** mysql_native_password: `*` and SHA1(SHA1(password)) in upper-case hex. */
export function nativePasswordHash(password: string): string {
  const sha1 = (data: string | Buffer) => createHash('sha1').update(data).digest()
  return `*${sha1(sha1(password)).toString('hex').toUpperCase()}`
}

/** The form that ACL SETUSER expects after `#`. */
export const sha256Hex = (password: string): string => createHash('sha256').update(password).digest('hex')
