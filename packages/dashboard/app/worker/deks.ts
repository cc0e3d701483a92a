import { type Dek, importDek } from '@skerry/crypto/secret'
import { unwrapKey } from '@skerry/crypto/wrap'
import { heldKey } from './held.ts'

const opened = new Map<string, Promise<Dek>>()

/** An environment's key, unwrapped once: a page of secrets asks for it again and again. Ends with the worker. */
export function dekOf(wrappedDek: string): Promise<Dek> {
  const known = opened.get(wrappedDek)
  if (known) return known
  const dek = unwrapKey(wrappedDek, heldKey()).then(importDek)
  opened.set(wrappedDek, dek)
  dek.catch(() => opened.delete(wrappedDek))
  return dek
}
