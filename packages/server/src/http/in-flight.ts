import type { ServerResponse } from 'node:http'
import { fail } from '../kernel/errors.ts'
import type { PrebuiltResponse } from './prebuilt-response.ts'

/** Counts the large answers being sent. Their bytes stay in memory until the clients have read them. */
export interface InFlight {
  /**
   * Counts an answer until the client has read it, or returns false if the buffer is full. A small answer is always
   * admitted.
   */
  admits(response: ServerResponse, caller: string, prebuilt: PrebuiltResponse): boolean
}

/** One caller may use at most a quarter of the buffer, so that a slow reader cannot fill it alone. */
const shareOfCaller = 4
/**
 * The time limit for a delivery, the same as for the arrival of a request: 32 MiB over a line of one megabit per
 * second.
 */
const deliveryMsMax = 300_000
const retryAfterSeconds = 2

/**
 * Limits the memory that slow readers use. An answer that is sent to many clients at once is one buffer, and counts
 * once. A caller without a running answer gets one of any size that still fits.
 */
export function openInFlight(bytesMax: number, deliveryMs = deliveryMsMax): InFlight {
  const takers = new Map<Buffer, number>()
  const ofCaller = new Map<string, number>()
  let bytes = 0
  const add = (caller: string, more: number) => {
    bytes += more
    const sum = (ofCaller.get(caller) ?? 0) + more
    if (sum > 0) ofCaller.set(caller, sum)
    else ofCaller.delete(caller)
  }
  const hasRoom = (caller: string, more: number) =>
    (bytes === 0 || bytes + more <= bytesMax) &&
    (!ofCaller.has(caller) || (ofCaller.get(caller) ?? 0) + more <= bytesMax / shareOfCaller)
  return {
    admits(response, caller, { body }) {
      if (typeof body === 'string') return true
      const others = takers.get(body) ?? 0
      if (others === 0 && !hasRoom(caller, body.length)) return false
      takers.set(body, others + 1)
      if (others === 0) add(caller, body.length)
      const deadline = setTimeout(() => response.destroy(), deliveryMs)
      response.once('close', () => {
        clearTimeout(deadline)
        const left = (takers.get(body) ?? 0) - 1
        if (left > 0) return void takers.set(body, left)
        takers.delete(body)
        add(caller, -body.length)
      })
      return true
    },
  }
}

export const tooManyInFlight = () =>
  fail('rate_limited', `too many large answers are under way; try again in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  })
