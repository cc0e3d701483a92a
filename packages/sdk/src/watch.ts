import { CryptoError } from '@skerry/crypto/errors'
import { invalid, SkerryError, UnavailableError } from './errors.ts'
import type { Resolved, Skerry } from './skerry.ts'
import { sleep } from './transport.ts'

export interface WatchOptions {
  /**
   * The time between two polls, plus or minus a tenth, so that many clients do not poll in step. 1 s to 1 day. Default:
   * 30 s.
   */
  intervalSeconds?: number
  signal?: AbortSignal
  /** The revision that the caller has. Without one, the first answer counts as a change. */
  revision?: string
  /** The next poll waits for it. An error that it throws ends the watch. */
  onChange: (resolved: Resolved) => void | Promise<void>
  /** Called when a poll finds the server unavailable. */
  onUnavailable?: (error: UnavailableError) => void
  /**
   * Called when an answer cannot be used: circular references, a value that does not decrypt, or an answer that differs
   * from the signed directory.
   */
  onUnusable?: (error: SkerryError | CryptoError) => void
}

/**
 * The answer causes these errors, not the caller, and so do all errors of the directory. Someone may repair the environment
 * or sign the change, so the watch goes on.
 */
const unusableCodes = new Set(['reference_cycle', 'reference_too_large', 'decryption_failed', 'malformed_answer'])

const isUnusable = (error: unknown): error is SkerryError | CryptoError =>
  (error instanceof SkerryError || error instanceof CryptoError) &&
  (unusableCodes.has(error.code) || error.code.startsWith('directory_'))

const intervalMaxSeconds = 86_400

/**
 * Polls for changes. An unchanged answer costs one 304 and no ciphertext. Ends when the signal aborts.
 *
 * The watch goes on while the server is unavailable or an answer cannot be used. A last-known-good copy does not count
 * as a change. Any other error ends the watch, for example a refusal after the token was revoked.
 *
 * @throws The errors of `Skerry.resolve`, except those that the watch survives; SkerryError `invalid_request` for an
 *   invalid interval.
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
