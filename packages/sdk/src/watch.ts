import { CryptoError } from '@skerry/crypto/errors'
import { invalid, SkerryError, UnavailableError } from './errors.ts'
import type { Resolved, Skerry } from './skerry.ts'
import { sleep } from './transport.ts'

/** The settings of `watch`. */
export interface WatchOptions {
  /**
   * The time between two requests in seconds, from 1 to 86,400 (1 day). Each pause is up to 10 % longer or shorter,
   * so that many clients do not ask at the same time. Default: 30.
   */
  intervalSeconds?: number
  /** If you abort this signal, `watch` returns. */
  signal?: AbortSignal
  /**
   * The `revision` of the values that you already have. If you leave it out, `watch` calls `onChange` after the first
   * response.
   */
  revision?: string
  /**
   * Called with the new values after a change. The next request waits until your function returns. An error that your
   * function throws ends `watch`.
   */
  onChange: (resolved: Resolved) => void | Promise<void>
  /** Called if the server cannot be reached, and `resolve` has no copy in `cache` that it may use. */
  onUnavailable?: (error: UnavailableError) => void
  /**
   * Called if a response cannot be used. For example, references in its values form a cycle, a value cannot be
   * decrypted, or the response differs from the signed directory.
   */
  onUnusable?: (error: SkerryError | CryptoError) => void
}

/**
 * The answer causes these errors, not the caller, and so do all errors of the directory. Someone may repair the
 * environment or sign the change, so the watch goes on.
 */
const unusableCodes = new Set(['reference_cycle', 'reference_too_large', 'decryption_failed', 'malformed_answer'])

const isUnusable = (error: unknown): error is SkerryError | CryptoError =>
  (error instanceof SkerryError || error instanceof CryptoError) &&
  (unusableCodes.has(error.code) || error.code.startsWith('directory_'))

const intervalMaxSeconds = 86_400

/**
 * Asks the server at regular intervals whether the values have changed, and calls `onChange` after a change. If nothing
 * has changed, the response is short (HTTP status 304). The function ends when you abort the signal.
 *
 * If the server cannot be reached, `watch` calls `onUnavailable` and continues. But if `resolve` then returns a copy
 * from `cache`, `watch` calls none of your functions. If a response cannot be used, `watch` calls `onUnusable` and
 * continues. Any other error ends `watch`, for example if the token was revoked.
 *
 * @throws The errors of `Skerry.resolve`, except those after which `watch` continues; the errors of `onChange`;
 *   SkerryError `invalid_request` if the interval is wrong.
 * @example
 * const { revision } = await skerry.resolve()
 * await watch(skerry, { revision, signal, onChange: ({ values }) => console.log(Object.keys(values)) })
 */
export async function watch(skerry: Skerry, options: WatchOptions): Promise<void> {
  const { intervalSeconds = 30, signal, onChange, onUnavailable, onUnusable } = options
  // `setTimeout` treats a delay that is too large, or NaN, as zero. The server would then be polled without a pause.
  if (!(intervalSeconds >= 1 && intervalSeconds <= intervalMaxSeconds)) {
    throw invalid(`intervalSeconds: must be from 1 to ${intervalMaxSeconds}`)
  }
  let { revision } = options
  let wait = revision !== undefined
  while (!signal?.aborted) {
    let resolved: Resolved
    try {
      if (wait) await sleep(intervalSeconds * 1000 * (0.9 + Math.random() / 5), signal)
      wait = true
      resolved = await skerry.resolve({ signal })
    } catch (error) {
      if (signal?.aborted) return
      if (error instanceof UnavailableError) onUnavailable?.(error)
      else if (isUnusable(error)) onUnusable?.(error)
      else throw error
      continue
    }
    if (resolved.stale || resolved.revision === revision) continue
    revision = resolved.revision
    await onChange(resolved)
  }
}
