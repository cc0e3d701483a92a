import { createClient } from '@skerry/sdk/client'
import { RefusedError } from '@skerry/sdk/errors'
import { addKey, makeLastCurrent, registered, removeKey } from '../keys/keys.ts'
import { readRegistration } from '../keys/registration.ts'
import { sdkVersion } from '../version.ts'
import type { Flags } from './flags.ts'

/**
 * Creates a new current key. It is on disk before the server knows it, so that nothing is wrapped to a key that a crash
 * could lose. If the server refuses the key, the key is removed. If the server does not answer, the key stays, because
 * the server may have stored it. A running executor uses the new key without a restart.
 */
export async function rotateKey({ state }: Flags): Promise<void> {
  const { server: baseUrl, credential } = await readRegistration(state)
  const { vaultExecutor } = createClient({ baseUrl, credential: { bearer: credential }, userAgent: sdkVersion })
  const key = await addKey(state)
  try {
    await vaultExecutor.addKey({ body: { wrappingKey: registered(key) } })
  } catch (error) {
    if (error instanceof RefusedError) await removeKey(state, key)
    throw error
  }
  await makeLastCurrent(state)
  process.stdout.write(
    `Key ${key.thumbprint} is the current one; earlier ones go on opening what was wrapped to them.\n`,
  )
  process.stdout.write(`Keep a new copy of ${state}/keys.json.\n`)
}
