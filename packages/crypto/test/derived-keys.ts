import { createRequire } from 'node:module'
import type { argon2id as deriveKey } from 'hash-wasm'

// Argon2id is slow on purpose: it would take half of the time of a command that opens a keyring. The same passphrase, salt and
// cost give the same key, so a process derives each key once. Import this file before all others, because hash-wasm
// hands out its function only once.

const library = createRequire(import.meta.url)('hash-wasm') as { argon2id: typeof deriveKey }
const { argon2id } = library
const derived = new Map<string, Promise<Uint8Array>>()

library.argon2id = ((options: Parameters<typeof deriveKey>[0]) => {
  const { password, salt, ...cost } = options
  const inputs = JSON.stringify([Buffer.from(password).toString('hex'), Buffer.from(salt).toString('hex'), cost])
  const key = derived.get(inputs) ?? (argon2id(options) as Promise<unknown> as Promise<Uint8Array>)
  derived.set(inputs, key)
  return key
}) as typeof deriveKey
