import type { ServerResponse } from 'node:http'
import { fail } from '../kernel/errors.ts'
import type { PrebuiltResponse } from './prebuilt-response.ts'

/** The large answers that are on their way, whose bytes stay in memory until they are taken. */
export interface InFlight {
  /** Counts an answer until it is taken, or says that there is no room for it. One that is small always has room. */
  admits(response: ServerResponse, caller: string, prebuilt: PrebuiltResponse): boolean
}

/** Of the room, so that one caller who reads slowly leaves some to others. */
const shareOfCaller = 4
/** As long as a request may take to arrive: 32 MiB over a line of a megabit. */
const deliveryMsMax = 300_000
const retryAfterSeconds = 2

/**
 * Bounds what slow readers make the server keep. An answer that goes to many at once is one buffer, counted once. A caller
 * with no answer under way gets one of any size, as long as there is room.
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
