import type { IncomingMessage, ServerResponse } from 'node:http'
import { limits } from '@skerry/contract/limits'
import { fail } from '../kernel/errors.ts'

export interface LargeBodies {
  /** Lets the server read the body of a request, or refuses for now. A body that is not large is always admitted. */
  admit(request: IncomingMessage, response: ServerResponse, principalId: string): void
}

/** While read, large bodies take a few times as much memory as their bytes, and the process should stay small. */
const atOnce = 3
/** Without this limit, a body that arrives slowly could keep its slot forever. */
const arrivalMs = 120_000
const retryAfterSeconds = 5

export function openLargeBodies(): LargeBodies {
  const reading = new Set<string>()
  return {
    admit(request, response, principalId) {
      // A body without a length, such as a chunked one, may become large.
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
