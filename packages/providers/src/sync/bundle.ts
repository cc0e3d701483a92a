import { createHash } from 'node:crypto'
import { ProviderError } from '../provider-error.ts'
import type { NameRule, SyncChanges, SyncEntry, SyncOutcome } from './provider.ts'

// All names of a binding in one secret, as a JSON object. Entries of others stay as they are, in their order.

export type Bundle = Map<string, unknown>

/** The largest secret that AWS Secrets Manager and Google Cloud Secret Manager accept. */
export const bundleBytesMax = 65_536

export const bundleName: NameRule = {
  pattern: '^[^\\u0000-\\u001f\\u007f]{1,255}$',
  words: 'up to 255 characters, none of them a control character',
  reserved: [],
  form: 'exact',
  prefix: '',
}

/** Refuses a value that is no JSON object. It belongs to somebody else, and would be lost. */
export function readBundle(text: string): Bundle {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = null
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ProviderError('unsupported', 'nothing was written, because the existing secret is not a JSON object')
  return new Map(Object.entries(value))
}

export const bundleEntries = (bundle: Bundle): SyncEntry[] =>
  [...bundle].map(([name, value]) => ({
    name,
    revision: revisionOf(value),
    ...(typeof value === 'string' ? {} : { locked: 'The existing value is not text.' }),
  }))

/** Returns the text to write, with the values of others, or null if the text would not change. */
export function changedBundle(bundle: Bundle, changes: SyncChanges): { text: string; values: string[] } | null {
  const next = new Map(bundle)
  for (const { name, value } of changes.write) next.set(name, value)
  for (const { name } of changes.remove) next.delete(name)
  const text = textOf(next)
  const bytes = Buffer.byteLength(text)
  if (bytes > bundleBytesMax)
    throw new ProviderError(
      'invalid',
      `all values together are ${bytes} bytes, but one secret can have at most ${bundleBytesMax} bytes`,
    )
  return text === textOf(bundle)
    ? null
    : { text, values: [...next.values()].filter((value) => typeof value === 'string') }
}

export const bundleOutcome = (changes: SyncChanges, memo: string | null = null): SyncOutcome => ({
  written: changes.write.map(({ name, value }) => ({ name, revision: revisionOf(value), memo })),
  removed: changes.remove.map(({ name }) => name),
  failed: [],
})

const textOf = (bundle: Bundle) => JSON.stringify(Object.fromEntries(bundle))

const revisionOf = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('base64url')
