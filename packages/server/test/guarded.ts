import { changes, protection } from '@skerry/contract/changes/endpoints'
import type { Queued } from '@skerry/contract/changes/schemas'
import { secrets } from '@skerry/contract/secrets/endpoints'
import type { Static } from 'typebox'
import { ciphertext, wrappedKey } from './blobs.ts'
import { type Actor, newApp, newEnv, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** The protection settings of an environment. Missing fields get their defaults. */
export interface Settings {
  requiredApprovals?: number
  allowSelfApproval?: boolean
}

/** Creates a new application with an environment, protected unless `settings` is null. The admin token has its key. */
export async function newGuarded(world: World, tenant: Tenant, settings: Settings | null = {}): Promise<string> {
  const app = await newApp(world, tenant)
  const envId = (await newEnv(world, tenant, app.id)).id
  if (settings) await protect(world, tenant, envId, settings)
  return envId
}

export async function protect(world: World, { orgId, machine }: Tenant, envId: string, body: Settings = {}) {
  const answer = await world.call(protection.put, { as: machine.as, params: { orgId, envId }, body })
  if (answer.error) throw new Error(answer.error.message)
  return answer.body.protection
}

export const unprotect = (world: World, { orgId, machine }: Tenant, envId: string) =>
  world.call(protection.delete, { as: machine.as, params: { orgId, envId } })

/** Returns the change request of a response, which must be a 202. */
export function queuedIn<B extends object>({ status, body }: { status: number; body: B }) {
  if (status !== 202 || !('queued' in body)) throw new Error(`not queued: ${status}`)
  return (body as unknown as Static<typeof Queued>).changeRequest
}

/** Proposes a value by the tenant's admin token, or by another holder of a grant. */
export async function proposePut(
  world: World,
  tenant: Tenant,
  envId: string,
  name: string,
  { by = tenant.admin, text = ciphertext(), note }: { by?: Actor; text?: string; note?: string } = {},
) {
  const params = { orgId: tenant.orgId, envId, name }
  const headers: Record<string, string> = note === undefined ? {} : { 'x-skerry-change-note': note }
  return queuedIn(await world.call(secrets.put, { as: by.as, params, body: { ciphertext: text }, headers }))
}

/** Proposes values and deletions in one request, by the tenant's admin token or by another holder of a grant. */
export async function proposeGroup(
  world: World,
  tenant: Tenant,
  envId: string,
  { puts = [], deletes = [], by = tenant.admin }: { puts?: string[]; deletes?: string[]; by?: Actor },
) {
  const body = {
    puts: puts.map((name) => ({ name, ciphertext: ciphertext() })),
    deletes: deletes.map((name) => ({ name })),
  }
  const answer = await world.call(changes.propose, { as: by.as, params: { orgId: tenant.orgId, envId }, body })
  if (answer.error) throw new Error(answer.error.message)
  return answer.body
}

/** Proposes a new key for an environment without secrets, by the tenant's admin token, which alone keeps it. */
export async function proposeRekey(world: World, tenant: Tenant, envId: string) {
  const { admin, orgId } = tenant
  const grants = [{ principalType: 'service_token', principalId: admin.id, wrappedDek: wrappedKey() }]
  const body = { expectedVersions: {}, grants, secrets: [] }
  const answer = await world.call(changes.proposeRekey, { as: admin.as, params: { orgId, envId }, body })
  if (answer.error) throw new Error(answer.error.message)
  return answer.body.changeRequest
}

export type Decision = 'approve' | 'reject' | 'withdraw'

export const decide = (
  world: World,
  { orgId }: Pick<Tenant, 'orgId'>,
  decision: Decision,
  changeRequestId: string,
  by: Actor,
  body: { comment?: string; rekey?: true } = {},
) =>
  world.call(changes[decision] as typeof changes.approve, {
    as: by.as,
    params: { orgId, changeRequestId },
    ...(decision === 'withdraw' ? {} : { body }),
  })
