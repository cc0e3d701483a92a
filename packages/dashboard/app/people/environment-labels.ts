import { queryOptions } from '@tanstack/react-query'
import { api } from '../api.ts'
import { noteShown } from '../envs/meanings.ts'

/** An environment with its full label, for lists of several. */
export interface Place {
  id: string
  /** `Web shop / Production`, or for a branch `Web shop / Production @ fix-login`. */
  label: string
  /** The slug that its colour follows. Branches have one colour, that of this word. */
  slug: string
  kind: 'application' | 'group' | 'branch'
  /** Whether this person holds its key. Undefined for branches, because their lists do not say. */
  canDecrypt: boolean | undefined
}

/** All environments of an organization, including those of groups, and branches. */
export const environmentLabelsQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'places'],
    queryFn: async ({ signal }): Promise<Place[]> => {
      const params = { orgId }
      const [{ apps }, { groups }] = await Promise.all([
        api.apps.list({ params }, { signal }),
        api.groups.list({ params }, { signal }),
      ])
      const found = await Promise.all([
        ...apps.map(({ id, name }) => placesOfApp(orgId, id, name, signal)),
        ...groups.map(({ id, name }) => placesOfGroup(orgId, id, name, signal)),
      ])
      return found.flat()
    },
    staleTime: 0,
  })

async function placesOfApp(orgId: string, appId: string, app: string, signal: AbortSignal): Promise<Place[]> {
  const params = { orgId, appId }
  const [{ environments }, { branches }] = await Promise.all([
    api.apps.envs({ params }, { signal }),
    api.apps.branches({ params }, { signal }),
  ])
  noteShown(orgId, app, environments)
  const labels = new Map(environments.map(({ id, name }) => [id, `${app} / ${name}`]))
  return [
    ...environments.map(
      ({ id, slug, canDecrypt }): Place => ({ id, label: labels.get(id) ?? id, slug, kind: 'application', canDecrypt }),
    ),
    ...branches.map(({ id, parentEnvironmentId, name }): Place => {
      const label = `${labels.get(parentEnvironmentId ?? '') ?? app} @ ${name}`
      return { id, label, slug: 'branch', kind: 'branch', canDecrypt: undefined }
    }),
  ]
}

async function placesOfGroup(orgId: string, groupId: string, group: string, signal: AbortSignal): Promise<Place[]> {
  const { environments } = await api.groups.envs({ params: { orgId, groupId } }, { signal })
  noteShown(orgId, `group ${group}`, environments)
  return environments.map(({ id, name, slug, canDecrypt }) => ({
    id,
    slug,
    label: `${group} / ${name}`,
    kind: 'group',
    canDecrypt,
  }))
}
