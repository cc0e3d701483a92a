import { generateKeyPairSync } from 'node:crypto'
import { leases } from '@skerry/contract/leases'
import { wrapKey } from '@skerry/crypto/wrap'
import { keeps, known, only, type Step, step, token, user } from './step.ts'
import type { Actor, Tenant } from './tenant.ts'
import type { World } from './world.ts'

const text = (value: string | Buffer) => {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** A new key of a person or of a certificate authority, in the forms of OpenSSH and PEM. */
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

/** The body that registers an SSH target. Nothing has to run for it: certificates are made on the server. */
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

/** A target and a lease, from their beginning to their end. */
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
