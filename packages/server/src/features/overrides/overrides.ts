import { limits } from '@skerry/contract/limits'
import type { overrides } from '@skerry/contract/overrides/endpoints'
import type { Tx } from '../../db/database.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import type { InEnv } from '../envs/scope.ts'
import type { InPerson, OnOverride } from './scope.ts'
import {
  countOverrides,
  deleteOverride,
  insertOverride,
  listOverrides,
  listSizes,
  lockMember,
  updateOverride,
} from './store.ts'

export async function list({ db, env, principal }: In<typeof overrides.list, InPerson>): Out<typeof overrides.list> {
  return { overrides: await listOverrides(db, env, principal.id) }
}

export async function count({ db, env }: In<typeof overrides.count, InEnv>): Out<typeof overrides.count> {
  return { counts: await countOverrides(db, env) }
}

export async function create(input: In<typeof overrides.create, InPerson>): Out<typeof overrides.create> {
  const { db, env, principal, body, now, newId, audit } = input
  const { seen, ...sealed } = body
  const stored = await lockOwn(input)
  // The server does not know the names, so only the client can say whether the name is new.
  if (stored.length !== seen.length || !stored.every(({ id }) => seen.includes(id)))
    throw fail('conflict', 'your overrides were changed in the meantime: list them again')
  if (stored.length >= limits.overridesMax)
    throw fail('quota_exceeded', `an environment has at most ${limits.overridesMax} overrides of yours: remove one`)
  checkSize(stored, sealed.ciphertext)
  const override = await insertOverride(db, env, { id: newId('override'), userId: principal.id, sealed, now })
  audit('override.stored', env.id, { environmentId: env.id })
  return { override }
}

export async function replace(input: In<typeof overrides.replace, OnOverride>): Out<typeof overrides.replace> {
  const { db, env, override, body, now, audit } = input
  const { expectedRevision: revision, ...sealed } = body
  const { id } = override
  const others = (await lockOwn(input)).filter((stored) => stored.id !== id)
  checkSize(others, sealed.ciphertext)
  const after = await updateOverride(db, env, { id, revision, sealed, now })
  if (!after) throw fail('conflict', `the override is no longer at revision ${revision}: read it again`)
  audit('override.stored', env.id, { environmentId: env.id })
  return { override: after }
}

export async function remove({
  db,
  env,
  override,
  audit,
}: In<typeof overrides.delete, OnOverride>): Out<typeof overrides.delete> {
  if (!(await deleteOverride(db, env, override.id))) throw fail('not_found', 'no such override')
  audit('override.deleted', env.id, { environmentId: env.id })
  return { ok: true }
}

/** Locks the person's overrides in the environment until commit, and returns their sizes. */
async function lockOwn({ db, env, principal }: InPerson & { db: Tx }) {
  if (!(await lockEnvironment(db, env, 'key share'))) throw fail('not_found', 'no such env')
  if (!(await lockMember(db, env, principal.id))) throw fail('not_found', 'no such org')
  return listSizes(db, env, principal.id)
}

function checkSize(stored: readonly { characters: number }[], ciphertext: string): void {
  const characters = stored.reduce((sum, one) => sum + one.characters, ciphertext.length)
  if (characters > limits.overridesCharacters)
    throw fail('quota_exceeded', 'your overrides here would exceed 4 MiB, encrypted: remove one')
}
