import type { Tx } from '../../db/database.ts'
import type { RotationId } from './store.ts'

/** An account whose password a policy changes, identified as its server knows it. */
export interface Account {
  server: string
  account: string
}

export const deleteAccounts = (db: Tx, { orgId, id }: RotationId) =>
  db.rows('delete from rotation_accounts where org_id = $1 and rotation_id = $2', [orgId, id])

/** Returns false if another policy has the account. Waits for a concurrent transaction that may insert it. */
export const insertAccount = async (
  db: Tx,
  { orgId, id }: RotationId,
  { server, account }: Account,
): Promise<boolean> =>
  (await db.row(
    `insert into rotation_accounts (org_id, server, account, rotation_id) values ($1, $2, $3, $4)
     on conflict (org_id, server, account) do nothing returning rotation_id`,
    [orgId, server, account, id],
  )) !== undefined

export const findAccountOwner = (db: Tx, { orgId }: RotationId, { server, account }: Account) =>
  db.row<{ environmentId: string | null; secretName: string }>(
    `select p.environment_id, p.secret_name from rotation_accounts a
       join rotation_policies p on p.org_id = a.org_id and p.id = a.rotation_id
      where a.org_id = $1 and a.server = $2 and a.account = $3`,
    [orgId, server, account],
  )
