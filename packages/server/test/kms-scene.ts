import { audit } from '@skerry/contract/audit/endpoints'
import { kms } from '@skerry/contract/kms/endpoints'
import { encryptKey, kmsGrant, newKmsKey } from './kms-steps.ts'
import { openEnv } from './scene.ts'
import type { Actor } from './tenant.ts'

/** Sets up a suite on managed keys: a world with one organization, and functions that make, grant and look up keys. */
export async function openKms() {
  const scene = await openEnv()
  const { world, tenant } = scene
  const { orgId, admin } = tenant

  let count = 0
  const named = (more: object = {}) => ({ name: `key-${++count}`, ...more })
  const at = (kmsKeyId: string) => ({ orgId, kmsKeyId })
  const make = (body: Record<string, unknown>, by: Actor = admin) =>
    world.call(kms.create, { as: by.as, params: { orgId }, body })
  const newKey = (grantees: Actor[] = [admin]) => newKmsKey(world, tenant, encryptKey(grantees, named()))
  const own = ({ as }: Actor, id: string) => world.call(kms.own, { as, params: at(id) })
  const grant = (to: Actor, id: string, more: object = {}) =>
    world.call(kms.grant, { as: admin.as, params: at(id), body: kmsGrant(to, more) })
  const rotate = (id: string, grantees: Actor[], more: object = {}) =>
    world.call(kms.rotate, {
      as: admin.as,
      params: at(id),
      body: { grants: grantees.map((one) => kmsGrant(one)), ...more },
    })
  const act = <E extends typeof kms.disable | typeof kms.enable | typeof kms.delete>(endpoint: E, id: string) =>
    world.call(endpoint, { as: admin.as, params: at(id) } as never)
  const holders = async (id: string) =>
    (await world.call(kms.grants, { as: admin.as, params: at(id) })).body.grants.map(
      ({ principalId, versions }) => `${principalId} ${versions}`,
    )
  const trail = async (action: string, resourceId: string) =>
    (await world.call(audit.list, { as: admin.as, params: { orgId }, query: { action, resourceId } })).body.entries
  return { ...scene, named, at, make, newKey, own, grant, rotate, act, holders, trail }
}

/** Returns the status and the message of a refusal. */
export const refusal = ({ status, error }: { status: number; error?: { message: string } | undefined }) => [
  status,
  error?.message,
]
