import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Database } from '../../db/database.ts'
import type { Announcements, Committed } from '../../kernel/context.ts'
import type { Faults } from '../../kernel/faults.ts'
import { openDelivery } from './delivery.ts'
import { frameOf, heartbeat, retry } from './frames.ts'
import { noPoll, openEntryPoll } from './poll.ts'
import { openPresence, type PresenceBoard } from './presence.ts'
import { changesRights, openRightsCheck } from './rights.ts'
import {
  end,
  heartbeatSeconds,
  openStreams,
  type Stream,
  send,
  sendIfRoom,
  type Watcher,
  watchBehind,
} from './streams.ts'

/** The event streams that are open on this server. The hub sends committed changes and presence to them. */
export interface LiveHub extends Announcements {
  /**
   * Adds a stream, and waits until no later commit can be missed. Refuses a stream above the limits.
   *
   * @returns a function that begins the stream on its response
   */
  open(watcher: Watcher): Promise<(response: ServerResponse) => void>
  /** Shows a person at an application to everybody who watches the organization. */
  look: PresenceBoard['look']
  leave: PresenceBoard['leave']
  /** Ends all streams, for example because another database answers. Clients connect again and read anew. */
  clear(): void
  /** Ends all streams, and each later one at once. */
  close(): void
}

interface HubDeps {
  db: Database
  faults: Faults
  now: () => Date
}

const tickMs = 1000
const checkEveryTicks = 5

/** Opens the hub. One timer serves all streams, and runs only while there are any. */
export function openLiveHub(deps: HubDeps): LiveHub {
  const { db, faults, now } = deps
  const streams = openStreams()
  const presence = openPresence((orgId, data) => sendAll(streams.of(orgId), frameOf({ type: 'presence', data })))
  const greet = greeting(presence)
  const delivery = openDelivery(deps, streams)
  const rights = openRightsCheck(deps, streams)
  const deliver = (entry: Committed) => {
    delivery.deliver(entry)
    forgetRemoved(presence, entry)
    if (entry.orgId !== null && changesRights.has(entry.action)) rights.check(streams.of(entry.orgId))
  }
  const noteGap = () => {
    for (const stream of streams.all) greet(stream)
  }
  const warn = (error: unknown) => faults.warn('cannot poll changes for event streams', error)
  const polled = { orgIds: streams.orgIds, deliver, noteGap, warn }
  const poll = db.engine === 'postgres' ? openEntryPoll(db.watch, polled) : noPoll
  const tick = (ticks: number) => {
    delivery.forgetHolders()
    presence.expire(now().getTime())
    for (const stream of streams.all) {
      watchBehind(stream, greet)
      if (stream.slot === ticks % heartbeatSeconds) send(stream, heartbeat)
    }
    if (ticks % checkEveryTicks === 0) rights.check(streams.all)
  }
  const wheel = openWheel(tick)
  let isClosed = false

  const remove = (stream: Stream) => {
    if (!streams.remove(stream)) return
    if (!streams.of(stream.orgId)) presence.forget(stream.orgId)
    if (streams.all.size > 0) return
    wheel.stop()
    poll.stop()
  }
  const begin = (stream: Stream, response: ServerResponse) => {
    stream.response = response
    response.once('close', () => remove(stream))
    if (response.closed) return remove(stream)
    send(stream, retry)
    greet(stream)
    if (isClosed) end(stream)
  }
  const clear = () => {
    for (const stream of streams.all) end(stream)
    presence.clear()
  }
  return {
    isWatched: (orgId) => streams.of(orgId) !== undefined,
    announce(entries) {
      for (const entry of entries)
        if (entry.orgId !== null && streams.of(entry.orgId) && poll.isNew(entry)) deliver(entry)
    },
    async open(watcher) {
      const stream = streams.add(watcher)
      // The cached holders may be old, because grants are not announced while no stream is open.
      delivery.forgetHolders()
      wheel.start()
      poll.start()
      try {
        await poll.ready()
      } catch (error) {
        remove(stream)
        throw error
      }
      return (response) => begin(stream, response)
    },
    look(orgId, ...looking) {
      if (streams.of(orgId)) presence.look(orgId, ...looking)
    },
    leave: presence.leave,
    clear,
    close() {
      isClosed = true
      clear()
    },
  }
}

/** A person who was removed from the organization is no longer shown. */
function forgetRemoved(presence: PresenceBoard, { orgId, action, resourceId }: Committed): void {
  if (action === 'member.removed' && orgId !== null && resourceId !== null) presence.remove(orgId, resourceId)
}

/**
 * Returns a function that tells a client to read anew. Each stream and each gap has a new generation. The people at the
 * applications come along, because no endpoint lists them.
 */
function greeting(presence: PresenceBoard): (stream: Stream) => void {
  const boot = randomUUID()
  let count = 0
  return (stream) => {
    send(stream, frameOf({ type: 'hello', data: { generation: `${boot}.${count++}` } }))
    for (const data of presence.of(stream.orgId)) sendIfRoom(stream, frameOf({ type: 'presence', data }))
  }
}

function sendAll(streams: ReadonlySet<Stream> | undefined, bytes: Buffer): void {
  for (const stream of streams ?? []) send(stream, bytes)
}

function openWheel(tick: (ticks: number) => void) {
  let timer: NodeJS.Timeout | undefined
  let ticks = 0
  return {
    start: () => {
      timer ??= setInterval(() => tick(++ticks), tickMs)
    },
    stop: () => {
      clearInterval(timer)
      timer = undefined
    },
  }
}
