import type { CreateEnvironment } from '@skerry/contract/envs/schemas'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { isUniqueViolation } from '../../db/sql-errors.ts'
import { fail } from '../../kernel/errors.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { EnvironmentRow } from '../../model/environments/table.ts'
import { insertEnvironment, type NewEnvironment } from '../../model/environments/write.ts'
import { coverNew } from '../recovery/covering.ts'
import { giveFirstKeys, grantToCreator } from './give.ts'
import type { Env } from './scope.ts'

interface Request {
  db: Tx
  principal: Principal
  body: Static<typeof CreateEnvironment>
  now: string
  newId: (kind: 'environment' | 'keyGrant') => string
}

/**
 * Creates an environment of an application or a group. Only its creator gets its key. `recoveryWrappedDek` is stored
 * only if the organization has recovery.
 */
export async function createEnvironment(
  input: Request,
  owner: { orgId: string; applicationId: string | null; groupId: string | null },
): Promise<EnvironmentRow> {
  const { db, principal, body, now, newId } = input
  const environment = await makeEnv(db, {
    ...owner,
    id: newId('environment'),
    parentEnvironmentId: null,
    name: body.name,
    slug: body.slug,
    expiresAt: null,
    protection: null,
    manifest: null,
    now,
  })
  const env = { orgId: owner.orgId, id: environment.id }
  await giveFirstKeys(input, env, [grantToCreator(principal, body.wrappedDek)])
  await coverNew(input, env, body.recoveryWrappedDek)
  return environment
}

/** Inserts an environment whose key nobody has yet. */
export const makeEnv = (db: Tx, env: NewEnvironment): Promise<EnvironmentRow> => insertEnvironment(db, env).catch(inUse)

/** Slugs are unique by several partial indexes, which `on conflict` cannot name together. */
function inUse(error: unknown): never {
  if (isUniqueViolation(error, 'environments_pkey') || isUniqueViolation(error, 'environments_id'))
    throw fail('conflict', 'body.id: another environment has it')
  if (isUniqueViolation(error)) throw fail('conflict', 'body.slug: another environment uses it')
  throw error
}

/** An environment as answers show it, without the fields that only access checks need. */
export function toResponse(
  env: EnvironmentRow & Partial<Pick<Env, 'orgId' | 'wrappedDek' | 'protection'>>,
): EnvironmentRow {
  const { orgId, wrappedDek, protection, ...row } = env
  return row
}
