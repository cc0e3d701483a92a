import type { IncomingMessage, ServerResponse } from 'node:http'
import { limits } from '@skerry/contract/limits'
import { fail } from '../kernel/errors.ts'

export interface LargeBodies {
  /** Lets the body of a request be read, or refuses for now. One that is not large is always let through. */
  admit(request: IncomingMessage, response: ServerResponse, principalId: string): void
}

/** Together they hold a few times as much memory as their bytes, in a process that is meant to be small. */
const atOnce = 3
/** A body that trickles in would keep its place for as long as it likes. */
const arrivalMs = 120_000
const retryAfterSeconds = 5

export function openLargeBodies(): LargeBodies {
  const reading = new Set<string>()
  return {
    admit(request, response, principalId) {
      // Without a length, as in chunks, it may become large.
      const length = request.headers['content-length']
      if (length !== undefined && Number(length) <= limits.bodyBytes) return
      if (reading.size >= atOnce || reading.has(principalId))
        throw fail('rate_limited', `too many large bodies at once; try again in ${retryAfterSeconds} s`, {
          retryAfterSeconds,
        })
      reading.add(principalId)
      const deadline = setTimeout(() => request.destroy(), arrivalMs)
      request.once('end', () => clearTimeout(deadline))
      response.once('close', () => {
        clearTimeout(deadline)
        reading.delete(principalId)
      })
    },
  }
}
