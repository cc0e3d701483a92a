import { CryptoError } from '@skerry/crypto/errors'
import { SkerryError } from '@skerry/sdk/errors'
import { operations } from './operations.ts'

// The keyring's worker. Its answer from the server forbids it every connection (see features/dashboard): whatever might
// go wrong in here, no key can be sent anywhere but to the page that asked.

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
    // The page's side (keyring.ts) has only let through what this operation takes.
    return { id, value: await operations[name](input as never) }
  } catch (error) {
    // Messages of these two are fixed text; any other message might quote its input.
    if (error instanceof CryptoError || error instanceof SkerryError)
      return { id, error: { code: error.code, message: error.message } }
    return { id, error: { code: 'internal', message: 'the keyring failed' } }
  }
}
