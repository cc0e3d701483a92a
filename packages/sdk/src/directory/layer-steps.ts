import type { DirectoryDraft } from './draft.ts'
import { slugsInOrder } from './group-order.ts'
import { ownerOf } from './named.ts'

// The steps of edits that change the groups of an environment.

type EnvironmentKey = `environment/${string}`

/**
 * Leaves environments unsigned that the server says to include a new environment of a group. The server could name any
 * environment, so a signer reads and signs the groups of each one.
 */
export async function leaveLayer(draft: DirectoryDraft, layer: string): Promise<void> {
  const slug = layer.slice(layer.indexOf(':') + 1)
  const keys = [...draft.all<EnvironmentKey>('environment/')]
    .map(([key]) => key)
    .filter((key) => key.endsWith(`/${slug}`))
  await draft.claims(keys)
  for (const key of keys) {
    const claimed = draft.claimOf(key)?.value?.layers
    if (isNames(claimed) && claimed.includes(layer)) draft.unsigned.add(key)
  }
}

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

interface Composed {
  groupId: string
  slug: string
  position: number
}

const listGroups = async (
  { context: { client, orgId } }: DirectoryDraft,
  envId: string,
): Promise<readonly Composed[]> => (await client.composition.list({ params: { orgId, envId } })).groups

/**
 * Adds a group to the layers that were signed: as the last one, or where it was. Positions are the server's numbers, so a
 * place that the user chose by position is signed only if the user has seen the order that results.
 */
export async function compose(
  draft: DirectoryDraft,
  envId: string,
  { groupId, position }: { groupId: string; position?: number },
): Promise<void> {
  const key = draft.environmentKey(envId)
  const value = key && draft.valueOf(key)
  if (!key || !value) return
  const { client, orgId } = draft.context
  const groups = await listGroups(draft, envId)
  const known = groups.find((one) => one.groupId === groupId)
  const slug = ownerOf(draft, known?.slug ?? (await client.groups.get({ params: { orgId, groupId } })).group.slug)
  if (slug === undefined) return void draft.unsigned.add(key)
  const layerOf = (group: string) => `${group}:${key.slice(key.lastIndexOf('/') + 1)}`
  const layer = layerOf(slug)
  await draft.claims([`environment/${layer}`])
  if (draft.claimOf(`environment/${layer}`) === undefined) return
  const rest = value.layers.filter((one) => one !== layer)
  if (position === undefined) {
    if (rest.length === value.layers.length) draft.set(key, { ...value, layers: [...rest, layer] })
    return
  }
  const order = slugsInOrder([...groups.filter((one) => one.groupId !== groupId), { groupId, slug, position }])
  const layers = order.map(layerOf).filter((one) => one === layer || rest.includes(one))
  const isAsSigned = layers.filter((one) => one !== layer).join() === rest.join()
  const isSeen = rest.length === 0 || order.join() === draft.typed.groups?.join()
  if (isAsSigned && isSeen) draft.set(key, { ...value, layers })
  else draft.unsigned.add(key)
}

/** Takes a group from the layers that were signed. */
export async function decompose(draft: DirectoryDraft, envId: string, groupId: string): Promise<void> {
  const key = draft.environmentKey(envId)
  const value = key && draft.valueOf(key)
  if (!key || !value) return
  const shown = (await listGroups(draft, envId)).find((one) => one.groupId === groupId)?.slug
  const slug = shown === undefined ? draft.typed.owner : ownerOf(draft, shown)
  if (slug === undefined) return void draft.unsigned.add(key)
  const layer = `${slug}:${key.slice(key.lastIndexOf('/') + 1)}`
  draft.set(key, { ...value, layers: value.layers.filter((one) => one !== layer) })
}
