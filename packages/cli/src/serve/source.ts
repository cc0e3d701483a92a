import type { Resolved, Skerry } from '@skerry/sdk'
import { formatAge } from '../duration.ts'
import { describe, toFailure } from '../failure.ts'
import { note, warn } from '../output.ts'

/** How long an answer is used without asking the server. */
const freshMs = 5000

/**
 * Returns the newest answer of the server, verified and decrypted. It asks the server at most once in five seconds, and
 * once for all callers. While the server is unavailable the SDK answers from its copy. Any other failure gives nothing.
 */
export type Source = () => Promise<Resolved>

export function openSource(skerry: Skerry, first: Resolved): Source {
  const tell = teller(first)
  let latest = Promise.resolve(first)
  let askAgainAtMs = performance.now() + freshMs
  return () => {
    if (performance.now() < askAgainAtMs) return latest
    askAgainAtMs = Number.POSITIVE_INFINITY
    latest = skerry.resolve().finally(() => {
      askAgainAtMs = performance.now() + freshMs
    })
    latest.then(tell.answered, tell.failed)
    return latest
  }
}

/** Writes one line to the log when the state changes, and not one for each request. */
function teller(first: Resolved) {
  let told = ''
  const change = (state: string, write: () => void) => {
    if (state !== told) write()
    told = state
  }
  const answered = ({ stale, ageSeconds }: Resolved) =>
    stale
      ? change('stale', () =>
          warn(`the server cannot be reached: answering from the copy of ${formatAge(ageSeconds)} ago`),
        )
      : change('', () => note('the server answers again'))
  const failed = (error: unknown) => {
    const text = describe(toFailure(error))
    change(text, () => warn(`no secret is given out: ${text}`))
  }
  if (first.stale) answered(first)
  return { answered, failed }
}
