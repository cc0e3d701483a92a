import { createClient } from '@skerry/sdk/client'
import { readKeys } from '../keys/keys.ts'
import { readRegistration } from '../keys/registration.ts'
import { sdkVersion } from '../version.ts'
import type { Flags } from './flags.ts'

/** Fails if the executor could not do its work, so that a monitor notices the exit code. */
export async function status({ state }: Flags): Promise<void> {
  const { server: baseUrl, credential } = await readRegistration(state)
  const { vaultExecutor } = createClient({ baseUrl, credential: { bearer: credential }, userAgent: sdkVersion })
  const { executor, project } = await vaultExecutor.me()
  const own = new Set(((await readKeys(state)) ?? []).map(({ thumbprint }) => thumbprint))
  const lines = [
    `Executor ${executor.id}, ${executor.status}, at ${executor.origin}`,
    `Project  ${project.id} (${project.display.name}), ${project.status}`,
    `Catalog  ${executor.catalog.providers.map(({ id }) => id).join(', ') || 'empty'}`,
    ...executor.keys.map(({ thumbprint, current }) => {
      const where = own.has(thumbprint) ? '' : ', missing on this machine'
      return `Key      ${thumbprint}${current ? ', current' : ''}${where}`
    }),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
  const missing = executor.keys.filter(({ thumbprint }) => !own.has(thumbprint))
  if (missing.length > 0)
    throw new Error('a registered key is missing on this machine: restore keys.json from your copy')
}
