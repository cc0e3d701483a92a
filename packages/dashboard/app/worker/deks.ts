import { type Dek, importDek } from '@skerry/crypto/secret'
import { unwrapKey } from '@skerry/crypto/wrap'
import { heldKey } from './held.ts'

const opened = new Map<string, Promise<Dek>>()

/**
 * Returns an environment's key. It is unwrapped once and kept as long as the worker lives, because a page of secrets
 * needs it many times.
 */
export function dekOf(wrappedDek: string): Promise<Dek> {
  const known = opened.get(wrappedDek)
  if (known) return known
  const dek = unwrapKey(wrappedDek, heldKey()).then(importDek)
  opened.set(wrappedDek, dek)
  dek.catch(() => opened.delete(wrappedDek))
  return dek
}
