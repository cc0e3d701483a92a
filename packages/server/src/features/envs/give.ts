import type { IdKind } from '@skerry/contract/prefixes'
import type { Tx } from '../../db/database.ts'
import { fail } from '../../kernel/errors.ts'
import type { Principal } from '../../kernel/principal.ts'
import { insertGrant } from './grant-store.ts'

interface Request {
  db: Tx
  principal: Principal
  now: string
  newId: (kind: Extract<IdKind, 'keyGrant'>) => string
}

/** Gives someone the key of an environment; undefined where they hold one already, or are no longer there to hold any. */
export const giveKey = (
  { db, principal, now, newId }: Request,
  env: { orgId: string; id: string },
  grant: { principalType: string; principalId: string; wrappedDek: string },
) =>
  insertGrant(db, env.orgId, {
    id: newId('keyGrant'),
    environmentId: env.id,
    ...grant,
    grantedBy: principal,
    now,
  })

/** The same where the environment is new, so that nobody holds its key: who cannot be given it has just lost access. */
export async function giveNewKey(...[request, env, grant]: Parameters<typeof giveKey>): Promise<void> {
  const given = await giveKey(request, env, grant)
  if (!given) throw fail('conflict', `${grant.principalId} has just lost access`)
}

/** The grant to the caller who makes an environment. */
export const toOneself = ({ type, id }: Principal, wrappedDek: string) => ({
  principalType: type,
  principalId: id,
  wrappedDek,
})
