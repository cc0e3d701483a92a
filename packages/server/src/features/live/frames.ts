import type { LiveChange, LiveEvent } from '@skerry/contract/live/events'
import type { Committed } from '../../kernel/context.ts'

/**
 * Writes an event in the format of server-sent events. JSON escapes line ends, so nothing in the data can end the event
 * or begin another.
 */
export const frameOf = ({ type, data }: LiveEvent, id?: string): Buffer =>
  Buffer.from(`event: ${type}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`)

/** Sent first. The client waits this long before it connects again. */
export const retry = Buffer.from('retry: 2000\n\n')

/** A comment, so that balancers do not close an idle stream. */
export const heartbeat = Buffer.from(': \n\n')

const id = /^[A-Za-z0-9_]{1,64}$/

const idOf = (value: unknown): string | undefined => (typeof value === 'string' && id.test(value) ? value : undefined)

/** The environment of an entry: the one that it is about, or the one that its metadata name. */
export const environmentOf = ({ resourceType, resourceId, metadata }: Committed): string | undefined =>
  idOf(resourceType === 'environment' ? resourceId : metadata.environmentId)

/** Takes ids and names of types from an entry, and nothing else: metadata can hold names, notes and addresses. */
export function changeOf(entry: Committed): LiveChange {
  const { action, resourceType, resourceId, actorType, actorId, metadata, createdAt } = entry
  const ids = {
    resourceId: idOf(resourceId),
    actorId: idOf(actorId),
    applicationId: idOf(resourceType === 'application' ? resourceId : metadata.applicationId),
    environmentId: environmentOf(entry),
  }
  return { action, resourceType, actorType, ...defined(ids), at: createdAt }
}

/** Leaves out fields without a value. */
const defined = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }

/** True if an entry is by this caller or about them. Ids of different kinds have different prefixes. */
export const concerns = ({ resourceId, actorId, metadata }: Committed, callerId: string): boolean =>
  actorId === callerId || resourceId === callerId || metadata.userId === callerId || metadata.principalId === callerId
