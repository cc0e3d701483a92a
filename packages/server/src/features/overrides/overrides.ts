import { limits } from '@skerry/contract/limits'
import type { overrides } from '@skerry/contract/overrides/endpoints'
import type { Tx } from '../../db/database.ts'
import { matches } from '../../http/etag.ts'
import { PrebuiltResponse } from '../../http/prebuilt-response.ts'
import { type In, type Out, Reply } from '../../http/route.ts'
import { sha256 } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import { lockMember } from '../../model/people/memberships.ts'
import type { InEnv } from '../envs/scope.ts'
import type { InPerson, OnOverride } from './scope.ts'
import {
  countOverrides,
  deleteOverride,
  insertOverride,
  listOverrides,
  listRevisions,
  listSizes,
  lockPublicKey,
  type SealedOverride,
  updateOverride,
} from './store.ts'

/** The tag follows from ids and revisions, so a program that watches does not make the server read the values again. */
export async function list(input: In<typeof overrides.list, InPerson>): Out<typeof overrides.list> {
  const { db, env, principal, headers } = input
  const etag = `"${sha256(JSON.stringify(await listRevisions(db, env, principal.id)))}"`
  const fresh = { etag, 'cache-control': 'private, no-cache' }
  if (matches(headers['if-none-match'], etag))
    return new PrebuiltResponse(304, Object.entries(fresh).flat(), Buffer.alloc(0))
  return new Reply(200, { overrides: await listOverrides(db, env, principal.id) }, fresh)
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
  await checkOwnKey(input)
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
  await checkOwnKey(input)
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
async function lockOwn({ db, org, env, principal }: InPerson & { db: Tx }) {
  if (!(await lockEnvironment(db, env, 'key share'))) throw fail('not_found', 'no such env')
  // Changes of one person’s overrides come one after the other.
  if (!(await lockMember(db, org, principal.id, 'no key update'))) throw fail('not_found', 'no such org')
  return listSizes(db, env, principal.id)
}

/**
 * A tab that was unlocked before the person replaced their key pair would store an override that nothing can open. The
 * first part of the wrapped key is the public point of the key pair that made it.
 */
async function checkOwnKey({ db, principal, body }: { db: Tx; principal: UserPrincipal; body: SealedOverride }) {
  const jwk = await lockPublicKey(db, principal.id)
  const { x = '', y = '' } = jwk === null ? {} : JSON.parse(jwk)
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
  if (body.wrappedKey.split('.')[1] !== point.toString('base64url'))
    throw fail(
      'invalid_request',
      'body.wrappedKey: was made with another key pair than you have now: unlock your keyring again',
    )
}

function checkSize(stored: readonly { characters: number }[], ciphertext: string): void {
  const characters = stored.reduce((sum, one) => sum + one.characters, ciphertext.length)
  if (characters > limits.overridesCharacters)
    throw fail('quota_exceeded', 'your overrides here would exceed 4 MiB, encrypted: remove one')
}
