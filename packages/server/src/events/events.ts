import { randomUUID } from 'node:crypto'
import type { Sql } from '../db/database.ts'
import { type AnyJob, type Job, job, type Settings } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { KernelContext } from '../kernel/context.ts'
import type { EventFacts, EventType } from './types.ts'

/** An event, as a subscriber receives it. */
export interface Event<T extends EventType> {
  /** The id is the same at each delivery. */
  id: string
  type: T
  /** null for an event about a person outside any organization. */
  orgId: string | null
  at: string
  facts: EventFacts[T]
}

/** An event of one of several types. `event.type` decides which facts it has. */
export type EventOf<T extends EventType> = { [K in T]: Event<K> }[T]

export interface Subscriber<Context> {
  types: readonly EventType[]
  /**
   * Delivers one event to this subscriber. Each subscriber has its own job, which is retried, and kept after it fails
   * for good.
   */
  job: Job<never, Context>
}

/**
 * Creates one row of a feature's subscribers. The subscriber receives each event at least once, soon after its
 * transaction was committed. The order of several events is not defined.
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

/** Emits an event for the organization of the handler's path, or for another one. */
export type Emit = <T extends EventType>(type: T, facts: EventFacts[T], orgId?: string) => Promise<void>

export interface Events {
  /**
   * Emits an event in the transaction of `db`. It is delivered only if that commits. Returns the jobs that deliver it,
   * so that they can be nudged after the commit. The input of a handler has an `emit` that does all this.
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
