import type { Answer } from '@skerry/contract/endpoint'
import type { vaultProjects } from '@skerry/contract/vault/projects'
import { type BrowserOptions, showPage } from '../dashboard-page.ts'
import { findOne } from '../find-one.ts'
import { note, writeJson, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { openSession } from '../session.ts'
import { type InProject, projectOf } from './find.ts'

type Key = Answer<typeof vaultProjects.get>['keys'][number]

export const keyHeader = ['key', 'status', 'last used', 'id']
export const keyCells = ({ name, revokedAt, lastUsedAt, id }: Key) => [
  name,
  revokedAt === null ? 'active' : 'revoked',
  lastUsedAt ?? 'never',
  id,
]

/** A platform key is minted by a person at a browser, who has just entered a second factor. */
export async function create(flags: InProject & BrowserOptions): Promise<void> {
  const session = await openSession(flags)
  const { place } = await projectOf(session, flags)
  await showPage(session, `/vault/${place.projectId}`, flags)
  note('make the key there: it needs a browser and your second factor, and is shown this once')
}

export async function list(flags: InProject): Promise<void> {
  const session = await openSession(flags)
  const { place } = await projectOf(session, flags)
  const { keys } = await session.client.vaultProjects.get({ params: place })
  if (flags.json) return writeJson({ keys })
  writeTable(keyHeader, keys.map(keyCells))
}

export async function revoke(wanted: string, flags: InProject & { yes?: boolean }): Promise<void> {
  const session = await openSession(flags)
  const { place, project } = await projectOf(session, flags)
  const { keys } = await session.client.vaultProjects.get({ params: place })
  const active = keys.filter((key) => key.id === wanted || key.revokedAt === null)
  const found = findOne(active, wanted, {
    kind: 'vaultKey',
    noun: 'platform key',
    list: 'skerry vault key list',
    nameOf: ({ name }) => name,
  })
  await confirmOrRefuse(`revokes platform key ${found.name} of ${project.name}`, flags)
  await session.client.vaultProjects.revokeKey({ params: { ...place, vaultKeyId: found.id } })
  note(`revoked platform key ${found.name}`)
  if (flags.json) writeJson({ ok: true })
}
