import { idLength, idPrefixes } from '@skerry/contract/prefixes'
import { encodeBase64url } from './base64url.ts'
import { tokenHash } from './digest.ts'
import { CryptoError } from './errors.ts'
import { newId, randomBytes } from './random.ts'

/** The token of a task: `token` goes to the agent and nowhere else, the other two are registered. */
export interface NewTaskToken {
  token: string
  taskRef: string
  tokenHash: string
}

const tokenPattern = new RegExp(`^(${idPrefixes.taskRef}[0-9A-Za-z]{${idLength}})_[A-Za-z0-9_-]{43}$`)

/**
 * Makes the token of a task: `skd_<22 characters>_<32 bytes, base64url>`.
 *
 * @example const { token, taskRef, tokenHash } = await newTaskToken()
 */
export async function newTaskToken(): Promise<NewTaskToken> {
  const taskRef = newId('taskRef')
  const token = `${taskRef}_${encodeBase64url(randomBytes(32))}`
  return { token, taskRef, tokenHash: await tokenHash(token) }
}

/**
 * The public segment of a task's token, which logs and people may see.
 *
 * @throws CryptoError `malformed_task`.
 * @example taskRefOf(token) // 'skd_...'
 */
export function taskRefOf(token: string): string {
  const [, taskRef] = tokenPattern.exec(token) ?? []
  if (taskRef === undefined) throw new CryptoError('malformed_task')
  return taskRef
}
