import type { Answer } from '@skerry/contract/endpoint'
import type { vaultProjects } from '@skerry/contract/vault/projects'
import { type BrowserOptions, showPage } from '../dashboard-page.ts'
import { findOne } from '../find-one.ts'
import { note, type Output, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { shownTime } from '../times.ts'
import type { AtProject, InProject } from './find.ts'

type Key = Answer<typeof vaultProjects.get>['keys'][number]

export const keyHeader = ['key', 'status', 'last used', 'id']
export const keyCells = ({ name, revokedAt, lastUsedAt, id }: Key) => [
  name,
  revokedAt === null ? 'active' : 'revoked',
  shownTime(lastUsedAt),
  id,
]

/** Opens the page where a person makes a platform key. It needs a browser, and the second factor of a person who has one. */
export async function create({ session, flags, place }: AtProject<InProject & BrowserOptions>): Promise<Output> {
  const next =
    'create the key in the dashboard: it needs a browser and your second factor, if you have one, and is shown only once'
  return showPage(session, `/vault/${place.projectId}`, { ...flags, next })
}

export async function list({ session, place }: AtProject): Promise<Output> {
  const { keys } = await session.client.vaultProjects.get({ params: place })
  return {
    json: { keys },
    text: () => writeTable(keyHeader, keys.map(keyCells), 'no keys yet; create one with `skerry vault key create`'),
  }
}

export async function revoke(
  wanted: string,
  { session, flags, place, project }: AtProject<InProject & { yes?: boolean }>,
): Promise<Output> {
  const { keys } = await session.client.vaultProjects.get({ params: place })
  const active = keys.filter((key) => key.id === wanted || key.revokedAt === null)
  const found = findOne(active, wanted, {
    kind: 'vaultKey',
    noun: 'platform key',
    list: 'skerry vault key ls',
    nameOf: ({ name }) => name,
  })
  await confirmOrRefuse(`revokes platform key ${found.name} of ${project.name}`, flags)
  await session.client.vaultProjects.revokeKey({ params: { ...place, vaultKeyId: found.id } })
  note(`revoked platform key ${found.name}`)
  return { json: { ok: true } }
}
