import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { AuditAction } from '@skerry/contract/actions'
import { audienceOf } from '@skerry/contract/live/audiences'
import type { Database } from '../../db/database.ts'
import type { Announcements, Committed } from '../../kernel/context.ts'
import type { Faults } from '../../kernel/faults.ts'
import { changeOf, concerns, environmentOf, frameOf, heartbeat, retry } from './frames.ts'
import { noPoll, openEntryPoll } from './poll.ts'
import { openPresence, type PresenceBoard } from './presence.ts'
import { findRights, listHolders } from './store.ts'
import {
  cutIfBehind,
  end,
  heartbeatSeconds,
  openStreams,
  type Stream,
  type Streams,
  send,
  type Watcher,
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

/** Changes after which a caller of the organization may have another role, or none. */
const changesRights: ReadonlySet<AuditAction> = new Set<AuditAction>([
  'org.mfa_policy_updated',
  'member.role_changed',
  'member.removed',
  'session.ended',
  'cli_session.revoked',
  'token.revoked',
  'token.deleted',
  'user.totp_removed',
  'user.sign_in_passkey_removed',
])

/** Changes after which others may hold the key of an environment. */
const changesHolders: ReadonlySet<AuditAction> = new Set<AuditAction>([
  'key.granted',
  'key.revoked',
  'key.expired',
  'env.rekeyed',
  'member.removed',
])

/** Opens the hub. One timer serves all streams, and runs only while there are any. */
export function openLiveHub(deps: HubDeps): LiveHub {
  const { db, faults, now } = deps
  const streams = openStreams()
  const generationOf = generations()
  const hello = (stream: Stream) => send(stream, frameOf({ type: 'hello', data: { generation: generationOf() } }))
  const presence = openPresence((orgId, data) => sendAll(streams.of(orgId), frameOf({ type: 'presence', data })))
  const delivery = openDelivery(deps, streams)
  const rights = openRightsCheck(deps, streams)
  const deliver = (entry: Committed) => {
    delivery.deliver(entry)
    if (entry.orgId !== null && changesRights.has(entry.action)) rights.check(streams.of(entry.orgId))
  }
  const noteGap = () => {
    for (const stream of streams.all) hello(stream)
  }
  const warn = (error: unknown) => faults.warn('cannot poll changes for event streams', error)
  const polled = { orgIds: streams.orgIds, deliver, noteGap, warn }
  const poll = db.engine === 'postgres' ? openEntryPoll(db.watch, polled) : noPoll
  const tick = (ticks: number) => {
    delivery.forgetHolders()
    presence.expire(now().getTime())
    for (const stream of streams.all) {
      cutIfBehind(stream)
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
    hello(stream)
    for (const data of presence.of(stream.orgId)) send(stream, frameOf({ type: 'presence', data }))
    if (isClosed) end(stream)
  }
  const clear = () => {
    for (const stream of streams.all) end(stream)
    presence.clear()
  }
  return {
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

/** Returns a function that gives each stream and each gap a new generation. */
function generations(): () => string {
  const boot = randomUUID()
  let count = 0
  return () => `${boot}.${count++}`
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

/** Sends each entry, written once, to the callers who may know of it. */
function openDelivery({ db, faults }: HubDeps, streams: Streams) {
  const holders = new Map<string, Promise<Set<string>>>()
  const holdersOf = (orgId: string, environmentId: string) => {
    const found = holders.get(environmentId) ?? listHolders(db.lookups, orgId, environmentId)
    holders.set(environmentId, found)
    return found
  }
  const sendToHolders = async (orgId: string, environmentId: string, waiting: Stream[], frame: Buffer) => {
    try {
      const ids = await holdersOf(orgId, environmentId)
      for (const stream of waiting) if (ids.has(stream.principal.id)) send(stream, frame)
    } catch (error) {
      // A client that may have missed an event connects again, and then reads the present state.
      for (const stream of waiting) end(stream)
      faults.warn('could not find who may hear of a change', error)
    }
  }
  return {
    forgetHolders: () => holders.clear(),
    deliver(entry: Committed): void {
      const { orgId, action, id } = entry
      const audience = audienceOf(action)
      const watching = orgId === null ? undefined : streams.of(orgId)
      if (orgId === null || !watching || audience === 'nobody') return
      if (changesHolders.has(action)) holders.clear()
      const frame = frameOf({ type: 'change', data: changeOf(entry) }, id)
      const waiting: Stream[] = []
      for (const stream of watching)
        if (stream.isAdmin || audience === 'members' || concerns(entry, stream.principal.id)) send(stream, frame)
        else if (audience === 'holders') waiting.push(stream)
      const environmentId = environmentOf(entry)
      if (waiting.length > 0 && environmentId !== undefined) void sendToHolders(orgId, environmentId, waiting, frame)
    },
  }
}

/**
 * Ends the streams of callers who may no longer watch. One statement looks up all of them. If it fails, their streams
 * end, because nobody knows what they may see.
 */
function openRightsCheck({ db, faults, now }: HubDeps, streams: Streams) {
  const due = new Set<Stream>()
  let isChecking = false
  const checkDue = async () => {
    isChecking = true
    while (due.size > 0) {
      const checked = [...due].filter((stream) => stream.response !== null)
      due.clear()
      const at = now()
      try {
        const rights = await findRights(db.lookups, checked, at.toISOString())
        for (const stream of checked) if (!mayGoOn(stream, rights.get(stream), at.getTime())) end(stream)
      } catch (error) {
        for (const stream of checked) end(stream)
        faults.warn('could not check who may watch events', error)
      }
    }
    isChecking = false
  }
  return {
    check(some: Iterable<Stream> = streams.all): void {
      for (const stream of some) due.add(stream)
      if (!isChecking) void checkDue()
    },
  }
}

/** A stream with another role ends too: its client connects again, and then hears what the new role may know. */
const mayGoOn = ({ isAdmin, endsAtMs }: Stream, role: string | undefined, nowMs: number): boolean =>
  role !== undefined && isAdmin === (role !== 'member') && nowMs < endsAtMs
