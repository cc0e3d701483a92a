import { generateKeyPairSync } from 'node:crypto'
import type { AuditAction } from '@skerry/contract/actions'
import { leases } from '@skerry/contract/leases/endpoints'
import { provisioner } from '@skerry/contract/leases/provisioner'
import { wrapKey } from '@skerry/crypto/wrap'
import { verifierOf } from '../../providers/test/leases/mint.ts'
import { wrappedKey } from './blobs.ts'
import { idOf, keeps, known, only, type Step, step, token, user } from './step.ts'
import { type Actor, newToken, type Tenant } from './tenant.ts'
import { until } from './until.ts'
import type { World } from './world.ts'

const text = (value: string | Buffer) => {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** Makes a key pair of a person or a certificate authority: the public key for OpenSSH, the private key as PEM. */
export function newSshKey(): { publicKey: string; privateKey: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x as string, 'base64url')
  const blob = Buffer.concat([text('ssh-ed25519'), text(raw)])
  return {
    publicKey: `ssh-ed25519 ${blob.toString('base64')}`,
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

/** Wraps a credential to the organization’s broker key, as clients do. */
export async function wrappedForBroker(world: World, { orgId, admin }: Tenant, credential: string): Promise<string> {
  const { body } = await world.call(leases.brokerKey, { as: admin.as, params: { orgId } })
  return wrapKey(new TextEncoder().encode(credential), body.publicKeyJwk)
}

/** The body that registers an SSH target. No host has to run, because the server makes the certificates itself. */
export async function sshTarget(world: World, tenant: Tenant, more: object = {}) {
  const { publicKey: caPublicKey, privateKey } = newSshKey()
  return {
    config: { provider: 'ssh' as const, executor: 'in_broker' as const, caPublicKey, ...more },
    wrappedAdminSecret: await wrappedForBroker(world, tenant, privateKey),
  }
}

export const sshLease = (targetId: string, more: object = {}) => ({
  provider: 'ssh' as const,
  targetId,
  publicKey: newSshKey().publicKey,
  principals: ['deploy'],
  ttlSeconds: 600,
  ...more,
})

export async function newSshTarget(world: World, tenant: Tenant, more: object = {}) {
  const body = await sshTarget(world, tenant, more)
  const answer = await world.call(leases.createTarget, { as: tenant.admin.as, params: { orgId: tenant.orgId }, body })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return answer.body.target
}

export async function newSshLease(world: World, tenant: Tenant, targetId: string, more: object = {}) {
  const body = sshLease(targetId, more)
  const answer = await world.call(leases.create, { as: tenant.admin.as, params: { orgId: tenant.orgId }, body })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return answer.body
}

/** Steps that create, change and end a lease target and a lease. */
export async function leasing(
  world: World,
  ids: Record<string, string>,
  tenant: Tenant,
  admin: Actor,
): Promise<Step[]> {
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const byPerson = { as: admin.as, who: user(admin) }
  const inTarget = only(ids, { targetId: 'targetId' })
  const target = await sshTarget(world, tenant)
  const resource = known(ids, 'targetId')
  return [
    step(leases.createTarget, 'lease_target.created', byToken, {
      params: only(ids, {}),
      body: () => target,
      resource: keeps(ids, 'targetId', 'target'),
    }),
    step(leases.updateTarget, 'lease_target.updated', byPerson, {
      params: inTarget,
      body: () => ({ name: 'hosts' }),
      resource,
    }),
    step(leases.verifyTarget, 'lease_target.verified', byPerson, { params: inTarget, resource }),
    step(leases.create, 'lease.created', byPerson, {
      params: only(ids, {}),
      body: () => sshLease(ids.targetId as string),
      resource: keeps(ids, 'leaseId', 'lease'),
    }),
    step(leases.revoke, 'lease.revoked', byToken, {
      params: only(ids, { leaseId: 'leaseId' }),
      resource: known(ids, 'leaseId'),
    }),
    step(leases.deleteTarget, 'lease_target.deleted', byToken, { params: inTarget, resource }),
  ]
}

/** The settings of a database in a network that only a provisioner can reach. */
export const provisionedConfig = (provisionerTokenId: string, more: object = {}) => ({
  provider: 'postgres' as const,
  executor: 'provisioner' as const,
  provisionerTokenId,
  connection: { host: 'db.internal', port: 5432, database: 'shop' },
  accessLevel: 'readonly' as const,
  schema: 'app',
  ...more,
})

/** Creates a target to which a provisioner has signed in. */
export async function newProvisionedTarget(
  world: World,
  tenant: Tenant,
  token: { id: string; as: string },
  { name = 'provisioned', ...more }: { name?: string; maxTtlSeconds?: number } = {},
) {
  const body = { name, config: provisionedConfig(token.id, more), wrappedAdminSecret: wrappedKey() }
  const asked = world.call(leases.createTarget, { as: tenant.admin.as, params: { orgId: tenant.orgId }, body })
  const job = await claimJob(world, token)
  const found = { ok: true, server: 'PostgreSQL 17.1', notes: [] }
  await world.call(provisioner.report, { as: token.as, params: { jobId: job.id }, body: found })
  const answer = await asked
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return answer.body.target
}

/** Waits for the next job of a provisioner's token. */
export async function claimJob(world: World, { as }: { as: string }) {
  const { job } = (await world.call(provisioner.claim, { as, body: { waitSeconds: 20 } })).body
  if (!job) throw new Error('no job came')
  return job
}

/** Steps on targets of a provisioner: its reports, and requests that are made while it is away. */
export async function provisioning(
  world: World,
  ids: Record<string, string>,
  tenant: Tenant,
  admin: Actor,
): Promise<Step[]> {
  const byPerson = { as: admin.as, who: user(admin) }
  const [busy, away] = [await newToken(world, tenant), await newToken(world, tenant)]
  const target = await newProvisionedTarget(world, tenant, busy)
  const other = await newProvisionedTarget(world, tenant, away, { name: 'away' })
  const { as } = tenant.admin
  const { orgId } = tenant
  void world.call(leases.verifyTarget, { as, params: { orgId, targetId: target.id } })
  const check = await claimJob(world, busy)
  void world.call(leases.create, { as, params: { orgId }, body: accountLease(target.id, 'made') })
  const made = await claimJob(world, busy)
  void world.call(leases.create, { as, params: { orgId }, body: accountLease(target.id, 'refused') })
  const refused = await claimJob(world, busy)
  const report = (action: AuditAction, note: string, jobId: string, resourceId: string, body: object) =>
    step(
      provisioner.report,
      action,
      { as: busy.as, who: token(busy) },
      {
        note,
        params: () => ({ jobId }),
        body: () => ({ ...body }),
        resource: () => resourceId,
      },
    )
  const failed = { ok: false, error: { message: 'it said no', changedNothing: true } }
  return [
    report('lease_target.verified', 'of a check', check.id, target.id, { ok: true, server: 'PostgreSQL 17.1' }),
    report('lease.created', 'of an account', made.id, made.lease!.id, { ok: true }),
    report('lease.failed', 'of a refusal', refused.id, refused.lease!.id, failed),
    step(leases.verifyTarget, 'lease_target.verification_requested', byPerson, {
      note: 'by a provisioner that is away',
      params: () => ({ ...only(ids, {})(), targetId: other.id }),
      meanwhile: waitOut(world, other.id, 'a check'),
      resource: () => other.id,
    }),
    step(leases.create, 'lease.requested', byPerson, {
      note: 'by a provisioner that is away',
      params: only(ids, {}),
      body: () => accountLease(other.id, 'pending'),
      meanwhile: waitOut(world, other.id, 'a lease'),
      resource: (seen) => idOf(seen, 'lease'),
    }),
  ]
}

const accountLease = (targetId: string, roleName: string) => ({
  provider: 'postgres' as const,
  targetId,
  roleName,
  verifier: verifierOf.postgres('a password'),
  ttlSeconds: 600,
})

/** Waits until the job is stored, and then moves the clock past the time that a request waits for a provisioner. */
const waitOut = (world: World, targetId: string, what: 'a check' | 'a lease') => async () => {
  const unclaimed = `select 1 from provisioner_jobs
                      where target_id = $1 and (lease_id is null) = $2 and claimed_until is null`
  const { db } = world.server.context
  await until(`${what} is asked for`, () => db.row(unclaimed, [targetId, what === 'a check']))
  world.clock.advance(21)
}
