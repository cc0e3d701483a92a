import { Failure } from '../failure.ts'

/** A terminal cannot enter a second factor. A session that a browser has just approved has it. */
export function askForFactor(error: unknown): never {
  if ((error as { code?: unknown }).code !== 'mfa_required') throw error
  throw new Failure(
    'refused',
    'this needs your second factor, entered within the last 10 minutes',
    'sign in again with `skerry login`, and repeat this',
  )
}
