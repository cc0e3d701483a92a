import type { Sql, Tx } from '../../db/database.ts'
import { type WrittenRow, writeSecret } from '../../model/secrets/write.ts'
import type { Env } from '../envs/scope.ts'
import { listSome } from './store.ts'

/** How many other secrets are read to check a key against. A single one may be unreadable for its own reason. */
const othersMax = 5

/** Returns current ciphertexts by name: the requested ones and a few others. */
export async function currentCiphertexts(db: Sql, env: Env, names: readonly string[]): Promise<Map<string, string>> {
  const rows = await listSome(db, env, names, names.length + othersMax)
  return new Map(rows.map(({ name, ciphertext }) => [name, ciphertext]))
}

interface RotatedVersion {
  name: string
  ciphertext: string
  now: string
  newId: (kind: 'secret') => string
}

/**
 * Appends a version that the rotator has made to whatever version is current, because the target already accepts the
 * new value. It also writes in a protected environment, because an admin has decided on the policy.
 */
export async function writeRotatedVersion(
  db: Tx,
  env: Env,
  { name, ciphertext, now, newId }: RotatedVersion,
): Promise<WrittenRow> {
  const author = { type: 'rotator', id: env.orgId }
  const write = { newId: newId('secret'), name, ciphertext, expectedVersion: null, author, now }
  const written = await writeSecret(db, env, write)
  if (!written) throw new Error('a write that expects no version is made')
  return written
}
