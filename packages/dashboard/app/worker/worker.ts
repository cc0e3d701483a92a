import { CryptoError } from '@skerry/crypto/errors'
import { SkerryError } from '@skerry/sdk/errors'
import { operations } from './operations.ts'

// The keyring's worker. The server sends its script with a policy that forbids all connections (see
// features/dashboard). Whatever goes wrong in here, keys can reach only the page that asked.

export interface Question {
  id: number
  name: keyof typeof operations
  input: unknown
}

export type Answer = { id: number; value: unknown } | { id: number; error: { code: string; message: string } }

addEventListener('message', async ({ data }: MessageEvent<Question>) => {
  postMessage(await answer(data))
})

async function answer({ id, name, input }: Question): Promise<Answer> {
  try {
    // The page's side (keyring.ts) checks by type that the input fits the operation.
    return { id, value: await operations[name](input as never) }
  } catch (error) {
    // The messages of these two errors are fixed texts. Other messages might quote the input.
    if (error instanceof CryptoError || error instanceof SkerryError)
      return { id, error: { code: error.code, message: error.message } }
    return { id, error: { code: 'internal', message: 'the keyring failed' } }
  }
}
