import type { Origin } from '@skerry/crypto/layers'
import type { Resolved } from '@skerry/sdk'
import { mustVerifyIn } from '../known-directories.ts'
import { checkNames, type Place } from '../places.ts'
import type { Session } from '../session.ts'

/**
 * The source of a value: the environment itself, a composed group, or the environment that a branch was forked from.
 */
export interface Source {
  type: 'own' | 'group' | 'parent'
  environmentId: string
  /** `shop/development`, `shop/development@pr-7`, `shared:development`. */
  label: string
}

export const ownSource = ({ envId: environmentId, label }: Place): Source => ({ type: 'own', environmentId, label })

/** The text of a source in a column of a table. */
export const sourceText = ({ type, label }: Source): string => (type === 'own' ? 'own' : label)

/** Maps each name of a resolved environment to the source of its value. */
export function sourcesOf({ provenance }: Pick<Resolved, 'provenance'>, place: Place): Record<string, Source> {
  const sources: Record<string, Source> = Object.create(null)
  for (const [name, origin] of Object.entries(provenance)) sources[name] = sourceOf(origin, place)
  return sources
}

function sourceOf({ source, environmentId, slug, groupSlug }: Origin, place: Place): Source {
  if (source === 'group') return { type: 'group', environmentId, label: `${groupSlug}:${slug}` }
  if (environmentId === place.envId) return ownSource(place)
  return { type: 'parent', environmentId, label: place.label.replace(/@.*$/, '') }
}

/**
 * Lists the environments that a program's values come from, the lowest precedence first. It decrypts nothing, so it
 * asks for no passphrase.
 */
export async function listSources(session: Session, place: Place, groups: string[] = []): Promise<Source[]> {
  const query = {
    env: place.parentId,
    ...(place.kind === 'branch' ? { branch: place.envId } : {}),
    ...(groups.length > 0 ? { with: groups } : {}),
  }
  const { layers } = mustVerifyIn(session, place.orgId)
    ? await (await import('../trust/layers.ts')).resolveSigned(session, query, place.label)
    : await session.client.resolve.get({ query })
  const sources = layers.map((layer) => sourceOf(layer, place))
  await checkNames(
    session,
    place.orgId,
    sources.map(({ label, environmentId: envId }) => ({ label, envId })),
  )
  return sources
}
