import type { AuditAction } from '@skerry/contract/actions'
import { leases } from '@skerry/contract/leases/endpoints'
import { machineClients } from '@skerry/contract/machine-clients/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { offboardings } from '@skerry/contract/offboardings/endpoints'
import { newAgent } from './agent-steps.ts'
import { newKmsKey, signKey } from './kms-steps.ts'
import { newSshTarget, sshLease } from './lease-steps.ts'
import { setUpRecovery } from './recovery-steps.ts'
import { idOf, type Step, step, token } from './step.ts'
import { grantKey, newApp, newEnv, newMember, newToken, signUp, type Tenant } from './tenant.ts'
import { newPlatformKey, newProject } from './vault-scene.ts'
import type { World } from './world.ts'

/** Offboards a new member who could read an environment. The first row is that of the environment. */
export async function newOffboarding(world: World, tenant: Tenant, envId: string) {
  const person = await newMember(world, tenant)
  await grantKey(world, tenant, envId, person)
  const { as } = tenant.admin
  const { orgId } = tenant
  const { body } = await world.call(offboardings.start, { as, params: { orgId }, body: { userId: person.id } })
  const offboardingId = body.offboarding.id
  const { rows } = (await world.call(offboardings.rows, { as, params: { orgId, offboardingId } })).body
  return { offboardingId, offboardingRowId: rows[0]?.id as string }
}

/** Makes a member with one object of each kind that an offboarding revokes. Recovery must not be set up yet. */
async function newMaker(world: World, tenant: Tenant) {
  const params = { orgId: tenant.orgId }
  const person = await newMember(world, tenant, 'admin')
  const { as } = person
  const others = [await newMember(world, tenant), await newMember(world, tenant)]
  await setUpRecovery(world, tenant, [person, ...others], 2)
  const target = await newSshTarget(world, tenant)
  const lease = await world.call(leases.create, { as, params, body: sshLease(target.id) })
  const client = await world.call(machineClients.create, { as, params, body: { name: 'deploy' } })
  const invite = await world.call(invites.create, { as, params, body: { email: 'invited-by-leaver@example.com' } })
  const project = await newProject(world, tenant)
  return {
    person,
    tokenId: (await newToken(world, { orgId: tenant.orgId, machine: person })).id,
    clientId: client.body.client.id,
    agentId: (await newAgent(world, { ...tenant, admin: person })).id,
    leaseId: lease.body.lease.id,
    platformKeyId: (await newPlatformKey(world, tenant, project.id, person)).id,
    inviteId: invite.body.invite.id,
    kmsKeyId: (await newKmsKey(world, tenant, signKey([person]))).id,
  }
}

/** Steps that offboard a member of another organization; and that change a row of an offboarding, and finish it. */
export async function leaving(world: World, ids: Record<string, string>, tenant: Tenant): Promise<Step[]> {
  const other = await signUp(world)
  const made = await newMaker(world, other)
  const by = { as: tenant.admin.as, who: token(tenant.admin) }
  const environment = await newEnv(world, tenant, (await newApp(world, tenant)).id)
  const assignee = await newMember(world, tenant, 'admin')
  const begun = await newOffboarding(world, tenant, environment.id)
  const resource = () => begun.offboardingId
  const params = () => ({ orgId: ids.orgId as string, offboardingId: begun.offboardingId })
  const entry = (action: AuditAction, resourceId: string) => ({
    action,
    resourceId,
    actor: token(other.admin),
    orgId: other.orgId,
  })
  return [
    {
      endpoint: offboardings.start,
      as: () => other.admin.as,
      params: () => ({ orgId: other.orgId }),
      body: () => ({ userId: made.person.id }),
      entries: (seen) => [
        entry('offboarding.started', idOf(seen, 'offboarding')),
        entry('member.removed', made.person.id),
        entry('recovery.custodian_removed', other.orgId),
        entry('kms_grant.revoked', made.kmsKeyId),
        entry('token.revoked', made.tokenId),
        entry('machine_client.revoked', made.clientId),
        entry('agent.updated', made.agentId),
        entry('vault.key.revoked', made.platformKeyId),
        entry('lease.revoked', made.leaseId),
        entry('invite.revoked', made.inviteId),
      ],
    },
    step(offboardings.change, 'offboarding.row_changed', by, {
      params: () => ({ ...params(), offboardingRowId: begun.offboardingRowId }),
      body: () => ({ note: 'on Monday', assigneeId: assignee.id }),
      resource,
    }),
    step(offboardings.remind, 'offboarding.row_reminded', by, {
      params: () => ({ ...params(), offboardingRowId: begun.offboardingRowId }),
      resource,
    }),
    step(offboardings.finish, 'offboarding.finished', by, { params, body: () => ({ acceptOpen: true }), resource }),
  ]
}
