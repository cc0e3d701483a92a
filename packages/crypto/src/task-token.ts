import { encodeBase64url } from './base64url.ts'
import { tokenHash } from './digest.ts'
import { newId, randomBytes } from './random.ts'

/** The token of a task. `token` goes to the agent and nowhere else. The other two members are registered. */
export interface NewTaskToken {
  token: string
  taskRef: string
  tokenHash: string
}

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
