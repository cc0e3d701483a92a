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
  /** True if the client had too much left to read a second ago. */
  isBehind: boolean
}

export const heartbeatSeconds = 20
const retryAfterSeconds = 10

/** The open streams of this server. */
export interface Streams {
  readonly all: ReadonlySet<Stream>
  /** Returns the streams of an organization; undefined without any. */
  of(orgId: string): ReadonlySet<Stream> | undefined
  orgIds(): string[]
  /** Adds a stream. Refuses it if the caller or the server has reached its limit. */
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
      if (open >= limits.liveStreamsPerCaller)
        throw tooMany(
          `you have ${limits.liveStreamsPerCaller} event streams open on this server, which is the limit: close one`,
        )
      if (all.size >= limits.liveStreamsMax)
        throw tooMany(
          `this server has ${limits.liveStreamsMax} event streams open, which is its limit: try again later`,
        )
      const stream: Stream = { ...watcher, response: null, slot: count++ % heartbeatSeconds, isBehind: false }
      ofCaller.set(caller, open + 1)
      all.add(stream)
      const others = ofOrg.get(watcher.orgId)
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

const tooMany = (message: string) => fail('rate_limited', message, { retryAfterSeconds })

/** No burst of changes is longer than this. */
const burstBytesMax = 16 * limits.liveUnreadBytes

/** Sends bytes to a client. A client with a whole burst left to read is cut at once. */
export function send({ response }: Stream, bytes: Buffer): void {
  if (!response || response.writableEnded || response.destroyed) return
  response.write(bytes)
  if (response.writableLength > burstBytesMax) response.destroy()
}

/**
 * Called each second. Cuts a client that has had too much left to read for a second: its events would fill the memory of
 * the server. A cut client connects again, and then reads the present state.
 */
export function cutIfBehind(stream: Stream): void {
  const { response, isBehind } = stream
  stream.isBehind = response !== null && response.writableLength > limits.liveUnreadBytes
  if (isBehind && stream.isBehind) response?.destroy()
}

/**
 * Ends a stream. The client reads what it was sent, and then the end. A client that is far behind is cut, because it may
 * never read the end.
 */
export function end({ response }: Stream): void {
  if (!response) return
  if (response.writableLength > limits.liveUnreadBytes) response.destroy()
  else response.end()
}
