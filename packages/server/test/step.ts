import type { AuditAction } from '@skerry/contract/actions'
import type { Endpoint } from '@skerry/contract/endpoint'
import type { Actor } from './tenant.ts'

/** An expected audit entry. Without `orgId` it belongs to the organization of the walk. */
interface Expected {
  action: AuditAction
  resourceId: string
  actor: { type: string; id: string }
  orgId?: string | null
}

/** The parts of a response that a walk reads: the ids in it. */
export type Seen = Record<string, Record<string, string>>

/** One mutation, which is sent once and must succeed. Steps store the ids of new objects in `ids`, for later steps. */
export interface Step {
  endpoint: Endpoint
  /** Tells several steps of one endpoint apart. */
  note?: string
  as?: () => string
  headers?: Record<string, string>
  params?: () => Record<string, string>
  query?: () => Record<string, string>
  body?: () => Record<string, unknown>
  /** Runs while the request waits for its response. */
  meanwhile?: () => Promise<void>
  /** Returns the expected entries for a response. May store ids for later steps. */
  entries: (seen: Seen) => Expected[]
}

/** The actor of an expected entry. */
export const user = ({ id }: Actor) => ({ type: 'user', id })
export const machine = ({ id }: Actor) => ({ type: 'm2m', id })
export const token = ({ id }: Actor) => ({ type: 'service_token', id })

export const idOf = (seen: Seen, noun: string) => (seen[noun] as Record<string, string>).id as string

/** Makes a step with one entry by one actor, as most steps are. */
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

/** Stores the id of the created object. */
export const keeps = (ids: Record<string, string>, key: string, noun: string) => (seen: Seen) => {
  ids[key] = idOf(seen, noun)
  return ids[key]
}
export const known = (ids: Record<string, string>, key: string) => () => ids[key] as string
export const only = (ids: Record<string, string>, keys: Record<string, string>) => () => ({
  orgId: ids.orgId as string,
  ...Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, ids[key] as string])),
})
