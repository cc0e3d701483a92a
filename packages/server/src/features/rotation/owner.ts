import type { LeaseConfig } from '@skerry/contract/leases/providers'
import type { AccountKind, RotationConfig } from '@skerry/contract/rotation/kinds'
import type { Tx } from '../../db/database.ts'
import { fail } from '../../kernel/errors.ts'
import { type LeaseTarget, lockTarget } from '../leases/scope.ts'
import { configOf, isOfAccount, usernamesOf } from './account.ts'
import { type Account, deleteAccounts, findAccountOwner, insertAccount } from './account-store.ts'
import type { Rotation } from './scope.ts'

/**
 * Gives a policy its accounts, and frees those that it had before. Refuses an account of another policy, because a
 * password that one policy writes would stop working at the next run of the other. Locks the target against deletion.
 */
export async function claimAccounts(db: Tx, policy: Rotation): Promise<void> {
  await deleteAccounts(db, policy)
  const config = configOf(policy)
  if (!isOfAccount(config) || policy.targetId === null) return
  const target = await lockTarget(db, { id: policy.orgId }, policy.targetId)
  if (!target) throw fail('not_found', 'no such target')
  const server = serverOf(target)
  for (const username of usernamesOf(config)) {
    const account = { server, account: accountOf(config, username) }
    if (!(await insertAccount(db, policy, account))) await refuseAccount(db, policy, { ...account, username })
  }
}

/** Two targets on one server reach the same accounts, whichever database they name. */
function serverOf({ provider, config }: LeaseTarget): string {
  const { connection } = config as unknown as LeaseConfig<AccountKind>
  const { host, port } = connection
  return `${provider} ${host.toLowerCase().replace(/\.+$/, '')}:${port}`
}

/** MySQL and MariaDB ignore the case of the host part. All kinds compare user names to the letter. */
const accountOf = (config: RotationConfig<AccountKind>, username: string): string =>
  config.kind === 'mysql' ? `${username}@${config.userHost.toLowerCase()}` : username

async function refuseAccount(db: Tx, policy: Rotation, { username, ...account }: Account & { username: string }) {
  const owner = await findAccountOwner(db, policy, account)
  // A token that is bound to one environment must not learn the names of another.
  const isNeighbour = owner?.environmentId === policy.environmentId
  const other = isNeighbour ? `the policy of ${owner.secretName}` : 'a policy of another environment'
  throw fail('conflict', `${other} rotates the account ${username} already: an account belongs to one policy`)
}
