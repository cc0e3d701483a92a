import type { Sql } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { instant } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import { type EnvironmentKey, rotatorOf } from '../../keys/keypairs.ts'
import { type Env, findEnv } from '../envs/scope.ts'
import { currentCiphertexts } from '../secrets/rotation-writes.ts'
import { namesOf } from './account.ts'
import type { Rotation } from './scope.ts'

/** The rotator’s key of an environment, decrypted for one run. */
export interface RotatorKey {
  env: Env
  key: EnvironmentKey
  /** The wrapped key when it was opened. If it differs later, the environment was re-keyed meanwhile. */
  wrappedDek: string
  /** The current value of a secret, or undefined if there is none or this key does not open it. */
  valueOf(name: string): string | undefined
  has(name: string): boolean
  /**
   * Whether the key has opened a secret of the environment. Without any secret, nothing proves that it is the right
   * key.
   */
  isProven: boolean
}

/** Finds the environment with the key that is wrapped to the rotator, if the rotator has one. */
export const findRotatorEnv = (context: Context, db: Sql, orgId: string, envId: string) =>
  findEnv(db, { id: orgId }, envId, { type: 'rotator', id: orgId }, instant(context))

/** Reads the grant for each run, so that revoking it stops the rotation. */
export async function openRotatorKey(context: Context, rotation: Rotation): Promise<RotatorKey> {
  const env = await findRotatorEnv(context, context.db, rotation.orgId, rotation.environmentId)
  if (!env) throw fail('not_found', 'the environment was deleted')
  if (env.wrappedDek === null) throw fail('conflict', noKey)
  return openWith(context, env, env.wrappedDek, namesOf(rotation))
}

/** Refuses to encrypt a value under a key that may be another environment’s: no reader of this one could open it. */
export function checkProven({ isProven }: RotatorKey): void {
  if (!isProven)
    throw fail(
      'conflict',
      'the environment has no secret to check the rotator’s key against: write a secret there first',
    )
}

export const noKey = 'the rotator holds no key of this environment: its grant was revoked'

/** Refuses a key that is not the environment’s before anything changes, because nobody could open what it encrypts. */
export async function openWith(context: Context, env: Env, wrappedDek: string, names: string[]): Promise<RotatorKey> {
  const grant = { environmentId: env.id, wrappedDek }
  const key = await context.keypairs.openEnvironment(context.db, rotatorOf(env.orgId), grant)
  if (!key) throw fail('conflict', 'the rotator’s key grant is not wrapped to the rotator key')
  const current = await currentCiphertexts(context.db, env, names)
  const values = new Map<string, string>()
  for (const [name, ciphertext] of current) {
    const value = await key.open(name, ciphertext).catch(() => undefined)
    if (value !== undefined) values.set(name, value)
  }
  if (current.size > 0 && values.size === 0)
    throw fail('conflict', 'the key that was granted to the rotator does not open the secrets of this environment')
  return {
    env,
    key,
    wrappedDek,
    valueOf: (name) => values.get(name),
    has: (name) => current.has(name),
    isProven: values.size > 0,
  }
}
