import type { ServerResponse } from 'node:http'
import { limits } from '@skerry/contract/limits'
import { fail } from '../../kernel/errors.ts'
import type { Principal } from '../../kernel/principal.ts'

/** A caller who watches an organization. */
export interface Watcher {
  orgId: string
  principal: Principal
  isAdmin: boolean
  /** When the stream ends at the latest, in epoch milliseconds. */
  endsAtMs: number
}

/** An open stream. It has no response until its head is sent. */
export interface Stream extends Watcher {
  response: ServerResponse | null
  /** The second of the heartbeat, so that not all streams beat at once. */
  slot: number
  /** The seconds for which the client has had too much left to read. It gets no events meanwhile. */
  behindSeconds: number
}

export const heartbeatSeconds = 20
const retryAfterSeconds = 10

/** The open streams of this server. */
export interface Streams {
  readonly all: ReadonlySet<Stream>
  /** Returns the streams of an organization; undefined without any. */
  of(orgId: string): ReadonlySet<Stream> | undefined
  orgIds(): string[]
  /** Adds a stream. Refuses it if the caller, the organization or the server has reached its limit. */
  add(watcher: Watcher): Stream
  /** Returns false if the stream was removed before. */
  remove(stream: Stream): boolean
}

const callerOf = ({ principal }: Watcher): string => principal.id

export function openStreams(): Streams {
  const all = new Set<Stream>()
  const ofOrg = new Map<string, Set<Stream>>()
  const ofCaller = new Map<string, number>()
  let count = 0
  return {
    all,
    of: (orgId) => ofOrg.get(orgId),
    orgIds: () => [...ofOrg.keys()],
    add(watcher) {
      const caller = callerOf(watcher)
      const open = ofCaller.get(caller) ?? 0
      const others = ofOrg.get(watcher.orgId)
      checkShares({ ofCaller: open, ofOrg: others?.size ?? 0, all: all.size })
      const stream: Stream = { ...watcher, response: null, slot: count++ % heartbeatSeconds, behindSeconds: 0 }
      ofCaller.set(caller, open + 1)
      all.add(stream)
      if (others) others.add(stream)
      else ofOrg.set(watcher.orgId, new Set([stream]))
      return stream
    },
    remove(stream) {
      if (!all.delete(stream)) return false
      const others = ofOrg.get(stream.orgId)
      others?.delete(stream)
      if (others?.size === 0) ofOrg.delete(stream.orgId)
      const caller = callerOf(stream)
      const left = (ofCaller.get(caller) ?? 0) - 1
      if (left > 0) ofCaller.set(caller, left)
      else ofCaller.delete(caller)
      return true
    },
  }
}

/**
 * Refuses a stream beyond a share. An organization may have at most as many streams as are free, so that none takes all
 * of them.
 */
function checkShares(open: { ofCaller: number; ofOrg: number; all: number }): void {
  const { liveStreamsPerCaller, liveStreamsMax } = limits
  const free = liveStreamsMax - open.all
  if (open.ofCaller >= liveStreamsPerCaller)
    throw tooMany(`you have ${liveStreamsPerCaller} event streams open on this server, which is the limit: close one`)
  if (free <= 0)
    throw tooMany(`this server has ${liveStreamsMax} event streams open, which is its limit: try again later`)
  if (open.ofOrg >= free)
    throw tooMany(
      `your organization has ${open.ofOrg} event streams open on this server, and the other ${free} are kept for other organizations: close some, or try again later`,
    )
}

const tooMany = (message: string) => fail('rate_limited', message, { retryAfterSeconds })

/** A client that is behind is cut after this many seconds. */
const behindSecondsMax = 2

/** Sends bytes to a client, unless it has too much left to read. It is then behind, and gets nothing. */
export function send(stream: Stream, bytes: Buffer): void {
  const { response, behindSeconds } = stream
  if (!response || response.writableEnded || response.destroyed || behindSeconds > 0) return
  if (hasRoom(response, bytes)) response.write(bytes)
  else stream.behindSeconds = 1
}

/** Sends bytes that a client may miss, if there is room. */
export function sendIfRoom(stream: Stream, bytes: Buffer): void {
  if (stream.response && hasRoom(stream.response, bytes)) send(stream, bytes)
}

const hasRoom = ({ writableLength }: ServerResponse, { length }: Buffer): boolean =>
  writableLength + length <= limits.liveUnreadBytes

/**
 * Called each second. A client that was behind and has caught up missed events, so `greet` makes it read the present
 * state. A client that stays behind is cut: it connects again, and then reads the present state, too.
 */
export function watchBehind(stream: Stream, greet: (stream: Stream) => void): void {
  const { response, behindSeconds } = stream
  if (!response || behindSeconds === 0) return
  if (response.writableLength <= limits.liveUnreadBytes / 2) {
    stream.behindSeconds = 0
    greet(stream)
  } else if (behindSeconds >= behindSecondsMax) response.destroy()
  else stream.behindSeconds++
}

/** Ends a stream. The client reads what it was sent, and then the end. A client that is behind may never read it. */
export function end({ response, behindSeconds }: Stream): void {
  if (!response) return
  if (behindSeconds > 0) response.destroy()
  else response.end()
}
