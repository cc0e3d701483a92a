import type { AccountKind, RotationConfig, RotationKind } from '@skerry/contract/rotation/kinds'
import type { AccountCall } from '@skerry/providers/children/messages'
import type { LeaseTarget } from '@skerry/providers/leases/provider'
import type { Context } from '../../http/context.ts'
import { fail } from '../../kernel/errors.ts'
import { brokerOf } from '../../keys/keypairs.ts'
import { checkNotPaused } from '../leases/pause.ts'
import { findTarget, type LeaseTarget as StoredTarget } from '../leases/scope.ts'
import { aroundOf, counted } from '../leases/session.ts'
import type { Rotation } from './scope.ts'

type Config = RotationConfig<AccountKind>

/**
 * The accounts of a policy on their target. Each call opens its own session, and throws `Refusal` if the target
 * refuses.
 */
export interface Accounts {
  verify(username: string): Promise<void>
  change(username: string, password: string, keep: string | null): Promise<void>
  signsIn(username: string, password: string): Promise<boolean>
}

/** The config of a policy, which was checked against the schema of its kind. */
export const configOf = ({ config }: Pick<Rotation, 'config'>) => config as RotationConfig<RotationKind>

/** The secrets that a policy writes. */
export function namesOf(rotation: Pick<Rotation, 'config' | 'secretName'>): string[] {
  const config = configOf(rotation)
  const named = 'usernameSecret' in config ? config.usernameSecret : undefined
  return [rotation.secretName, ...(named === undefined ? [] : [named])]
}

export const isOfAccount = (config: { kind: RotationKind }): config is Config => config.kind !== 'generated'

/** Every account that a policy may change. */
export const usernamesOf = (config: Config): string[] => [
  config.username,
  ...('alternateUsername' in config && config.alternateUsername !== undefined ? [config.alternateUsername] : []),
]

/** Opens the accounts of a policy. Each call decrypts the credential of the target again, and does not keep it. */
export async function openAccounts(
  context: Context,
  policy: { orgId: string; targetId: string | null; config: Config },
): Promise<Accounts> {
  const { orgId, targetId, config } = policy
  const stored = targetId === null ? undefined : await findTarget(context.db, { id: orgId }, targetId)
  if (!stored) throw fail('conflict', 'the lease target of this policy was removed: configure it with another one')
  checkNotPaused(stored)
  const on = (username: string, call: AccountCall): Promise<unknown> =>
    counted(context, stored, async () => {
      const target = { config: stored.config, credential: await openCredential(context, stored) }
      const account = { target: target as unknown as LeaseTarget<AccountKind>, username, config }
      return context.adapters.onAccount(orgId, config.kind, account, aroundOf(context), call)
    })
  return {
    async verify(username) {
      await on(username, { call: 'verify' })
    },
    async change(username, password, keep) {
      await on(username, { call: 'change', password, keep })
    },
    signsIn: (username, password) => on(username, { call: 'signsIn', password }) as Promise<boolean>,
  }
}

async function openCredential(context: Context, { orgId, wrappedAdminSecret }: StoredTarget): Promise<string> {
  const opened = await context.keypairs.openWrapped(context.db, brokerOf(orgId), wrappedAdminSecret)
  if (!opened) throw fail('conflict', 'the credential of the lease target is no longer wrapped to the broker key')
  return new TextDecoder().decode(opened)
}
