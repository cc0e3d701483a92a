import {
  type RotationConfig,
  type RotationKind,
  rotationConfigProblem,
  rotationKinds,
} from '@skerry/contract/rotation/kinds'
import { vendorName } from '@skerry/contract/vendors'
import type { Sql } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { checkShape } from '../../http/validate.ts'
import { fail } from '../../kernel/errors.ts'
import { findTarget } from '../leases/scope.ts'
import type { Org } from '../orgs/scope.ts'
import { configOf, isOfAccount, namesOf, openAccounts, usernamesOf } from './account.ts'
import type { Rotation } from './scope.ts'
import { writerOf } from './store.ts'

export function checkConfig(config: { kind: RotationKind }, secretName: string): RotationConfig<RotationKind> {
  checkShape(rotationKinds[config.kind].config, config, 'body.config')
  const checked = config as RotationConfig<RotationKind>
  const problem = rotationConfigProblem(checked, secretName)
  if (problem !== null) throw fail('invalid_request', `body.config.${problem}`)
  return checked
}

/** A kind that reaches a target needs a lease target of its provider, to which this server itself signs in. */
export async function checkTarget(db: Sql, org: Org, kind: RotationKind, targetId: string | undefined): Promise<void> {
  const { target: provider } = rotationKinds[kind]
  if (provider === null) {
    if (targetId !== undefined) throw fail('invalid_request', `body.targetId: ${kind} reaches no target`)
    return
  }
  if (targetId === undefined) throw fail('invalid_request', `body.targetId: needed for ${kind}`)
  const target = await findTarget(db, org, targetId)
  if (!target) throw fail('not_found', 'body.targetId: no such target')
  if (target.provider !== provider)
    throw fail(
      'invalid_request',
      `body.targetId: the target’s provider is ${vendorName(target.provider)}, not ${vendorName(provider)}`,
    )
  if ((target.config as { executor?: string }).executor !== 'in_broker')
    throw fail('invalid_request', 'body.targetId: this server does not sign in to that target itself (executor)')
}

type Policy = Pick<Rotation, 'environmentId' | 'secretName' | 'config'>

/** Refuses a second policy for a secret, because each would overwrite what the other wrote. */
export async function checkWriters(db: Sql, org: Org, policy: Policy): Promise<void> {
  for (const name of namesOf(policy)) {
    const other = await writerOf(db, org, policy.environmentId, name, policy.secretName)
    if (other) throw fail('conflict', `${name} is written by the rotation of ${other.secretName}`)
  }
}

/** Checks the accounts before anything is stored. Otherwise the policy would only fail later, when nobody watches. */
export async function verifyAccounts(
  context: Context,
  policy: Pick<Rotation, 'config' | 'targetId'> & { orgId: string },
): Promise<void> {
  const config = configOf(policy)
  if (!isOfAccount(config)) return
  const accounts = await openAccounts(context, { ...policy, config })
  for (const username of usernamesOf(config)) await accounts.verify(username)
}
