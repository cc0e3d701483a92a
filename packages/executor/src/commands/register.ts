import { text as readAll } from 'node:stream/consumers'
import { signRegistration } from '@skerry/crypto/vault'
import { createClient } from '@skerry/sdk/client'
import { catalogOf } from '../config/catalog.ts'
import { loadConfig } from '../config/config.ts'
import { addKey, type Keys, readKeys, registered } from '../keys/keys.ts'
import { type Registration, registrationFile } from '../keys/registration.ts'
import { checkWritable } from '../keys/state.ts'
import { sdkVersion } from '../version.ts'
import type { Flags } from './flags.ts'

/**
 * Registers this machine. Existing keys are registered too, the current one last: an executor that replaces another one
 * can then open what was wrapped to them. Everything here is checked before the code is used up. An executor that is
 * still active but has lost its credential can register again with its key.
 */
export async function register({ config: path, state, server, code }: Flags & { server: string; code?: string }) {
  const config = await loadConfig(path)
  const file = registrationFile(state)
  const before = await file.read()
  await checkWritable(state)
  if (before && (await isActive(before))) return complete(before, state)
  const baseUrl = server.replace(/\/$/, '')
  const { vaultExecutor: anonymous } = createClient({ baseUrl, userAgent: sdkVersion })
  const spent = (code ?? (await readAll(process.stdin))).trim()
  const keys = (await readKeys(state)) ?? ([await addKey(state)] as Keys)
  const [current] = keys
  const { origin } = config
  const proof = await signRegistration(current.privateKey, spent, origin)
  const { executorId, projectId, credential } = await anonymous.register({
    body: { code: spent, origin, wrappingKey: registered(current), catalog: catalogOf(config), sdkVersion, proof },
  })
  const registration = { server: baseUrl, origin, executorId, projectId, credential }
  await file.write(registration)
  await registerKeys(registration, keys)
  process.stdout.write(`Registered ${executorId} of project ${projectId}, at ${origin}\n`)
  process.stdout.write(`Key ${current.thumbprint}\n`)
  process.stdout.write(`Keep a copy of ${state}/keys.json: without it nobody can open what people connect.\n`)
}

/** Completes an earlier registration that ended before the server knew all keys. */
async function complete(before: Registration, state: string): Promise<void> {
  const keys = await readKeys(state)
  const count = keys ? await registerKeys(before, keys) : 0
  if (count === 0)
    throw new Error(
      `this executor is already registered, as ${before.executorId}; to register it again, an admin must disable it first`,
    )
  process.stdout.write(`Registered ${count} more keys of ${before.executorId}\n`)
}

/** Registers the keys that the server lacks, the current one last -> how many it sent. */
async function registerKeys({ server, credential }: Registration, [current, ...earlier]: Keys): Promise<number> {
  const { vaultExecutor } = createClient({ baseUrl: server, credential: { bearer: credential }, userAgent: sdkVersion })
  const { executor } = await vaultExecutor.me()
  const known = new Map(executor.keys.map(({ thumbprint, current: isCurrent }) => [thumbprint, isCurrent]))
  const missing = earlier.filter(({ thumbprint }) => !known.has(thumbprint)).reverse()
  const isDone = missing.length === 0 && known.get(current.thumbprint) === true
  const told = isDone ? [] : [...missing, current]
  for (const key of told) await vaultExecutor.addKey({ body: { wrappingKey: registered(key) } })
  return told.length
}

/** If the server no longer knows an executor, that one was disabled, and this machine may replace it. */
async function isActive({ server, credential }: { server: string; credential: string }): Promise<boolean> {
  const { vaultExecutor } = createClient({ baseUrl: server, credential: { bearer: credential }, userAgent: sdkVersion })
  try {
    await vaultExecutor.me()
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code === 'unauthorized') return false
    throw error
  }
}
