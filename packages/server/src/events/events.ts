import { randomUUID } from 'node:crypto'
import type { Sql } from '../db/database.ts'
import { type AnyJob, type Job, job, type Settings } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { KernelContext } from '../kernel/context.ts'
import type { EventFacts, EventType } from './types.ts'

/** Something that has happened, as a subscriber is told of it. */
export interface Event<T extends EventType> {
  /** The same each time that it is delivered. */
  id: string
  type: T
  /** null for what concerns a person outside of any organization. */
  orgId: string | null
  at: string
  facts: EventFacts[T]
}

/** One of several types, so that `event.type` tells which facts it has. */
export type EventOf<T extends EventType> = { [K in T]: Event<K> }[T]

export interface Subscriber<Context> {
  types: readonly EventType[]
  /** Delivers one event to this subscriber alone: it is tried again, and kept when it fails, without the others. */
  job: Job<never, Context>
}

/**
 * One row of a feature's subscribers. It hears of an event at least once, soon after its transaction was committed, and of
 * several in any order.
 */
export function subscriber<T extends EventType, Context = KernelContext>(
  name: string,
  types: readonly T[],
  handle: (context: Context, event: EventOf<T>) => Promise<unknown>,
  settings: Settings<EventOf<T>> = {},
): Subscriber<Context> {
  const deliver = job<EventOf<T>, Context>(
    `events.${name}`,
    { retry: { limit: 12 }, concurrency: 4, ...settings },
    handle,
  )
  return { types, job: deliver }
}

/** How a handler tells of what happens, of the organization in its path or another one. */
export type Emit = <T extends EventType>(type: T, facts: EventFacts[T], orgId?: string) => Promise<void>

export interface Events {
  /**
   * Tells of what happens in the transaction of `db`, if that is committed. Gives the jobs that deliver it, which can be
   * nudged then. The input of a handler has an `emit` that does so.
   */
  emit<T extends EventType>(db: Sql, type: T, orgId: string | null, facts: EventFacts[T]): Promise<AnyJob[]>
}

export const openEvents = (queue: Queue, subscribers: readonly Subscriber<never>[], now: () => Date): Events => ({
  async emit(db, type, orgId, facts) {
    const event = { id: randomUUID(), type, orgId, at: now().toISOString(), facts }
    const jobs = subscribers.filter(({ types }) => types.includes(type)).map((one) => one.job)
    await Promise.all(jobs.map((one) => queue.enqueue(db, one as Job<typeof event, never>, event)))
    return jobs
  },
})
