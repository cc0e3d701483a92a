import { CryptoError } from '@skerry/crypto/errors'
import { invalid, SkerryError, UnavailableError } from './errors.ts'
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
  /** Told of polls whose answer cannot be used: references in a circle, a value that does not decrypt. */
  onUnusable?: (error: SkerryError | CryptoError) => void
}

/** What is wrong with an answer, and not with who asks: it may be mended as it was broken. */
const unusableCodes = new Set(['reference_cycle', 'reference_too_large', 'decryption_failed', 'malformed_answer'])

const isUnusable = (error: unknown): error is SkerryError | CryptoError =>
  (error instanceof SkerryError || error instanceof CryptoError) && unusableCodes.has(error.code)

const intervalMaxSeconds = 86_400

/**
 * Polls for changes. An unchanged answer costs one 304 and no ciphertext. Ends when the signal aborts.
 *
 * An unavailable server is waited out, and so is an answer that cannot be used; a last-known-good copy is no change.
 * Anything else ends the watch with its error: a refusal, for example, after the token was revoked.
 *
 * @throws as `Skerry.resolve`, except what is waited out; SkerryError `invalid_request` for a senseless interval.
 * @example
 * const { revision } = await skerry.resolve()
 * await watch(skerry, { revision, signal, onChange: ({ values }) => console.log(Object.keys(values)) })
 */
export async function watch(skerry: Skerry, options: WatchOptions): Promise<void> {
  const { intervalSeconds = 30, signal, onChange, onUnavailable, onUnusable } = options
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
      if (error instanceof UnavailableError) onUnavailable?.(error)
      else if (isUnusable(error)) onUnusable?.(error)
      else throw error
    }
  }
}
