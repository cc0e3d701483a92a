import type { AuditAction } from '@skerry/contract/actions'
import type { Endpoint } from '@skerry/contract/endpoint'
import type { Actor } from './tenant.ts'

/** What an entry must say; where `orgId` is left out, the organization of the walk. */
interface Expected {
  action: AuditAction
  resourceId: string
  actor: { type: string; id: string }
  orgId?: string | null
}

/** An answer, as far as a walk looks: the ids in it. */
export type Seen = Record<string, Record<string, string>>

/** One mutation, sent once and successfully. Later steps find what earlier ones made in `ids`. */
export interface Step {
  endpoint: Endpoint
  /** Where one endpoint does several things. */
  note?: string
  as?: () => string
  headers?: Record<string, string>
  params?: () => Record<string, string>
  query?: () => Record<string, string>
  body?: () => Record<string, unknown>
  /** What has to happen before the answer comes. */
  meanwhile?: () => Promise<void>
  /** The entries of the answer. May note ids for later. */
  entries: (seen: Seen) => Expected[]
}

/** Who an entry says did it. */
export const user = ({ id }: Actor) => ({ type: 'user', id })
export const machine = ({ id }: Actor) => ({ type: 'm2m', id })
export const token = ({ id }: Actor) => ({ type: 'service_token', id })

export const idOf = (seen: Seen, noun: string) => (seen[noun] as Record<string, string>).id as string

/** A step of one entry by one actor: most are. `keep` is the id that the answer's noun is kept under. */
export function step(
  endpoint: Endpoint,
  action: AuditAction,
  actor: { as: string; who: { type: string; id: string } },
  parts: {
    note?: string
    params: () => Record<string, string>
    query?: () => Record<string, string>
    body?: () => Record<string, unknown>
    meanwhile?: () => Promise<void>
    resource: (seen: Seen) => string
  },
): Step {
  const { note, params, query, body, meanwhile, resource } = parts
  return {
    endpoint,
    as: () => actor.as,
    params,
    entries: (seen) => [{ action, resourceId: resource(seen), actor: actor.who }],
    ...(note === undefined ? {} : { note }),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body }),
    ...(meanwhile === undefined ? {} : { meanwhile }),
  }
}

/** Remembers the id of what was made. */
export const keeps = (ids: Record<string, string>, key: string, noun: string) => (seen: Seen) => {
  ids[key] = idOf(seen, noun)
  return ids[key]
}
export const known = (ids: Record<string, string>, key: string) => () => ids[key] as string
export const only = (ids: Record<string, string>, keys: Record<string, string>) => () => ({
  orgId: ids.orgId as string,
  ...Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, ids[key] as string])),
})
