import { invalid, UnavailableError } from './errors.ts'
import type { Resolved, Skerry } from './skerry.ts'
import { sleep } from './transport.ts'

export interface WatchOptions {
  /** Between two polls, give or take a tenth, so that a fleet does not ask in step: 1 s to a day; 30 s unless given. */
  intervalSeconds?: number
  signal?: AbortSignal
  /** The revision that the caller has. Without one, the first answer counts as a change. */
  revision?: string
  /** The next poll waits for it; what it throws ends the watch. */
  onChange: (resolved: Resolved) => void | Promise<void>
  /** Told of polls that found the server unavailable. */
  onUnavailable?: (error: UnavailableError) => void
}

const intervalMaxSeconds = 86_400

/**
 * Polls for changes. An unchanged answer costs one 304 and no ciphertext. Ends when the signal aborts.
 *
 * An unavailable server is waited out, and a last-known-good copy is no change. Anything else ends the watch with its
 * error: a refusal, for example, after the token was revoked.
 *
 * @throws as `Skerry.resolve`, except UnavailableError; SkerryError `invalid_request` for a senseless interval.
 * @example
 * const { revision } = await skerry.resolve()
 * await watch(skerry, { revision, signal, onChange: ({ values }) => restart(values) })
 */
export async function watch(skerry: Skerry, options: WatchOptions): Promise<void> {
  const { intervalSeconds = 30, signal, onChange, onUnavailable } = options
  // A timer takes too long a time, or what is no number, for none at all: the server would be asked without a pause.
  if (!(intervalSeconds >= 1 && intervalSeconds <= intervalMaxSeconds)) {
    throw invalid(`intervalSeconds: 1 to ${intervalMaxSeconds} expected`)
  }
  let { revision } = options
  let wait = revision !== undefined
  while (!signal?.aborted) {
    try {
      if (wait) await sleep(intervalSeconds * 1000 * (0.9 + Math.random() / 5), signal)
      wait = true
      const resolved = await skerry.resolve({ signal })
      if (resolved.stale || resolved.revision === revision) continue
      revision = resolved.revision
      await onChange(resolved)
    } catch (error) {
      if (signal?.aborted) return
      if (!(error instanceof UnavailableError)) throw error
      onUnavailable?.(error)
    }
  }
}
