import { createClient } from '@skerry/sdk/client'
import { RefusedError } from '@skerry/sdk/errors'
import { addKey, makeLastCurrent, registered, removeKey } from '../keys/keys.ts'
import { readRegistration } from '../keys/registration.ts'
import { sdkVersion } from '../version.ts'
import type { Flags } from './flags.ts'

/**
 * Makes a new current key. It is on disk before the server knows it: nothing is ever wrapped to a key that could be lost by a
 * crash. A key that the server refuses is taken back; without a verdict it stays, because the server may have it. An executor
 * that runs takes the new key up by itself.
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
