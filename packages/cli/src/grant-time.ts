import { limits } from '@skerry/contract/limits'
import { parseDuration } from './duration.ts'
import { usage } from './failure.ts'

/**
 * Parses `--for`, the time after which a grant ends by itself. Returns undefined without it.
 *
 * @throws Failure if the time is too short or too long.
 */
export function parseGrantTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = parseDuration(text, '--for')
  if (seconds < limits.grantSecondsMin || seconds > limits.grantSecondsMax)
    throw usage(`--for must be from 5m to 90d (you gave '${text}')`, 'without it, access lasts until it is revoked')
  return seconds
}
