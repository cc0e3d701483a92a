import { fstatSync } from 'node:fs'
import type { Values } from '../formats/names.ts'

/** Which output of a program is masked: `mask.ts` does it. */
export interface Masking {
  values: Values
  /** The descriptors whose output is masked: stdout, stderr, or both. */
  descriptors: readonly (1 | 2)[]
  /** Whether nobody asked for it with `--mask`. */
  isDefault: boolean
}

/**
 * Decides what is masked. With `--mask` it is all output, with `--no-mask` none. Without both, output is masked in a CI
 * job if it is a pipe, because a CI system keeps it in a log that many people read.
 */
export function maskingOf(mask: boolean | undefined, values: Values): Masking | undefined {
  if (mask === true) return { values, descriptors: [1, 2], isDefault: false }
  if (mask === false || !isCi()) return undefined
  const descriptors = ([1, 2] as const).filter(isPipe)
  return descriptors.length === 0 ? undefined : { values, descriptors, isDefault: true }
}

/** CI systems set CI to `true`, or to their name. People turn off what depends on it with `CI=false`. */
const isCi = () => !['', '0', 'false'].includes((process.env.CI ?? '').toLowerCase())

function isPipe(descriptor: number): boolean {
  try {
    const status = fstatSync(descriptor)
    return status.isFIFO() || status.isSocket()
  } catch {
    return false
  }
}
