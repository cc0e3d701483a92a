import type { secrets } from '@skerry/contract/secrets/endpoints'
import type { NamedBy } from '@skerry/contract/secrets/schemas'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { boundTo } from '../../kernel/principal.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import { renameDetails } from '../../model/secrets/details.ts'
import { renameSecret } from '../../model/secrets/versions.ts'
import type { Env, InEnv } from '../envs/scope.ts'
import { isAdmin } from '../orgs/scope.ts'
import type { SecretsContext } from './context.ts'
import { checkEnvironmentQuota } from './quota-cache.ts'
import { findRotationOf, listDetailsOf, listNamedBy } from './rename-store.ts'
import { conflict, lockedSecret } from './secrets.ts'
import { findSecret } from './store.ts'

type Request = In<typeof secrets.rename, InEnv, SecretsContext>

/**
 * Gives a secret another name. The client encrypts the value anew, because a ciphertext opens under its name alone. Earlier
 * versions keep the name that they were encrypted under. Programs see that one name is gone and another is there.
 *
 * The lock on the environment keeps its protection, its rotation policies and its names as they are until commit.
 */
export async function rename(input: Request): Out<typeof secrets.rename> {
  const { context, db, env, params, body, principal, now, audit } = input
  const { name } = params
  const { newName, ciphertext, formerNames } = body
  if (newName === name) throw fail('invalid_request', `body.newName: the secret is called ${name} already`)
  const there = await lockEnvironment(db, env, 'update')
  if (!there) throw fail('not_found', 'no such env')
  const secret = await lockedSecret(db, env, name, body.expectedVersion)
  if (there.protection !== null)
    throw fail(
      'conflict',
      `the environment is protected: propose to write ${newName} and to delete ${name} in one change request`,
    )
  if (await findSecret(db, env, newName)) throw conflict(newName, 0)
  await checkRotation(db, env, [name, newName])
  const details = await checkDetails(input)
  const size = { bytes: ciphertext.length, recordBytes: formerNames.length }
  const hasReserved = await checkEnvironmentQuota(context, db, env, { name, ...size })
  const by = { author: principal, now }
  const renamed = await renameSecret(db, env, secret.id, { newName, ciphertext, formerNames, ...by })
  if (hasReserved) context.quotaCache.release(env.id)
  if (details) await renameDetails(db, env, { name, newName, sealed: body.details?.sealed ?? null }, by)
  audit('secret.renamed', secret.id, {
    environmentId: env.id,
    name: newName,
    formerName: name,
    version: renamed.version,
  })
  return { secret: renamed, namedBy: shownTo(input, await listNamedBy(db, env, name)) }
}

/** Only admins list agents and sync bindings. Others learn that there is one, so that they can ask an admin. */
function shownTo(caller: Request, named: Static<typeof NamedBy>[]): Static<typeof NamedBy>[] {
  if (isAdmin(caller) && boundTo(caller.principal) === null) return named
  const kinds = new Set(named.map(({ type }) => type))
  kinds.delete('change_request')
  const others = [...kinds].map((type) => ({ type, id: null, name: null }))
  return [...others, ...named.filter(({ type }) => type === 'change_request')]
}

/** The rotator would write the former name again, or overwrite the renamed secret. */
async function checkRotation(db: Tx, env: Env, names: string[]): Promise<void> {
  const policy = await findRotationOf(db, env, names)
  if (policy)
    throw fail(
      'conflict',
      `the rotation of ${policy.secretName} writes one of these names: delete it first, and configure it again afterwards`,
    )
}

/** Returns the details to move, if there are any. A description must come encrypted anew, so that none is lost by mistake. */
async function checkDetails({ db, env, params, body }: Pick<Request, 'db' | 'env' | 'params' | 'body'>) {
  const { newName, details } = body
  const rows = await listDetailsOf(db, env, [params.name, newName])
  const own = rows.find(({ name }) => name === params.name)
  const sealedRevision = own?.sealed == null ? undefined : own.revision
  if (details?.expectedRevision !== sealedRevision)
    throw fail('conflict', `the description of ${params.name} has changed`)
  if (own && rows.some(({ name }) => name === newName))
    throw fail('conflict', `both ${params.name} and ${newName} have details: remove the details of one of them first`)
  return own
}
