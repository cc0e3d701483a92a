import type { Sql } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { instant } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import { type EnvironmentKey, rotatorOf } from '../../keys/keypairs.ts'
import { type Env, findEnv } from '../envs/scope.ts'
import { currentCiphertexts } from '../secrets/rotation-writes.ts'
import { namesOf } from './account.ts'
import type { Rotation } from './scope.ts'

/** An environment whose key the rotator holds, opened for one run. */
export interface RotatorKey {
  env: Env
  key: EnvironmentKey
  /** As it lay there when it was opened: another one means that the environment has been re-keyed since. */
  wrappedDek: string
  /** The current value of a secret; undefined where there is none, or none that this key opens. */
  valueOf(name: string): string | undefined
  has(name: string): boolean
  /** The key has opened a secret of the environment. In an environment without secrets nothing shows that it is the right one. */
  isProven: boolean
}

/** The environment as the rotator sees it: with the key that is wrapped to the rotator, where it holds one. */
export const findRotatorEnv = (context: Context, db: Sql, orgId: string, envId: string) =>
  findEnv(db, { id: orgId }, envId, { type: 'rotator', id: orgId }, instant(context))

/** Reads the grant anew each time: who revokes it has ended rotation there. */
export async function openRotatorKey(context: Context, rotation: Rotation): Promise<RotatorKey> {
  const env = await findRotatorEnv(context, context.db, rotation.orgId, rotation.environmentId)
  if (!env) throw fail('not_found', 'the environment is gone')
  if (env.wrappedDek === null) throw fail('conflict', noKey)
  return openWith(context, env, env.wrappedDek, namesOf(rotation))
}

/** Refuses to seal a value under a key that may be another environment's: no reader of this one could open it. */
export function checkProven({ isProven }: RotatorKey): void {
  if (!isProven)
    throw fail(
      'conflict',
      'the environment has no secret to check the rotator’s key against: write a secret there first',
    )
}

export const noKey = 'the rotator holds no key of this environment: its grant was revoked'

/** Refuses a key that is not the environment’s before anything is changed: what it sealed, nobody could open. */
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
    throw fail('conflict', 'the key that the rotator was given does not open this environment’s secrets')
  return {
    env,
    key,
    wrappedDek,
    valueOf: (name) => values.get(name),
    has: (name) => current.has(name),
    isProven: values.size > 0,
  }
}
