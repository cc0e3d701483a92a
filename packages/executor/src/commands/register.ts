import { text as readAll } from 'node:stream/consumers'
import { createClient } from '@skerry/sdk/client'
import { catalogOf } from '../config/catalog.ts'
import { loadConfig } from '../config/config.ts'
import { addKey, type Keys, readKeys, registered } from '../keys/keys.ts'
import { registrationFile } from '../keys/registration.ts'
import { sdkVersion } from '../version.ts'
import type { Flags } from './flags.ts'

/**
 * Registers this machine. Keys that are here already are registered too, the current one last: so an executor that replaces
 * another one takes over what was wrapped to them.
 */
export async function register({ config: path, state, server, code }: Flags & { server: string; code?: string }) {
  const config = await loadConfig(path)
  const file = registrationFile(state)
  const before = await file.read()
  if (before && (await isActive(before)))
    throw new Error(`this executor is registered already, as ${before.executorId}; an admin can disable it`)
  const baseUrl = server.replace(/\/$/, '')
  const { vaultExecutor: anonymous } = createClient({ baseUrl, userAgent: sdkVersion })
  const spent = (code ?? (await readAll(process.stdin))).trim()
  const [current, ...earlier] = (await readKeys(state)) ?? ([await addKey(state)] as Keys)
  const [first, ...rest] = [...earlier, current].map(registered)
  const { origin } = config
  const { executorId, projectId, credential } = await anonymous.register({
    body: { code: spent, origin, wrappingKey: first!, catalog: catalogOf(config), sdkVersion },
  })
  await file.write({ server: baseUrl, origin, executorId, projectId, credential })
  const { vaultExecutor } = createClient({ baseUrl, credential: { bearer: credential }, userAgent: sdkVersion })
  for (const wrappingKey of rest) await vaultExecutor.addKey({ body: { wrappingKey } })
  process.stdout.write(`Registered ${executorId} of project ${projectId}, at ${origin}\n`)
  process.stdout.write(`Key ${current.thumbprint}\n`)
  process.stdout.write(`Keep a copy of ${state}/keys.json: without it nobody can open what people connect.\n`)
}

/** An executor that the server no longer knows was disabled, and may be replaced by this one. */
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
