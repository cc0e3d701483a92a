import { leases } from '@skerry/contract/leases/endpoints'
import { provisioner } from '@skerry/contract/leases/provisioner'
import { beforeEach } from 'vitest'
import { roleName, verifierOf } from '../../providers/test/leases/mint.ts'
import { claimJob, newProvisionedTarget } from './lease-steps.ts'
import { openTenant } from './scene.ts'
import { newToken } from './tenant.ts'

/**
 * Sets up a suite on targets of a provisioner. It covers only the server, so claimed jobs create no accounts. The suite
 * with a real database is cli/test/provisioner.test.ts. Call it at the top of the file:
 *
 * @example const { world, own, mint, jobOf, report } = await openProvisioner()
 */
export async function openProvisioner() {
  const { world, tenant } = await openTenant()
  const { orgId } = tenant
  const { as } = tenant.admin
  const params = { orgId }

  const newOwn = async (name: string) => {
    const token = await newToken(world, tenant)
    return { token, target: await newProvisionedTarget(world, tenant, token, { name }) }
  }
  /** A new token and target for each test: the clock moves, and the next test would claim the jobs that one left. */
  const own = {} as Awaited<ReturnType<typeof newOwn>>
  let count = 0
  beforeEach(async () => {
    Object.assign(own, await newOwn(`database ${++count}`))
  })

  const claim = async (by = own.token, waitSeconds = 0) =>
    (await world.call(provisioner.claim, { as: by.as, body: { waitSeconds } })).body.job
  const report = (jobId: string, body: object = { ok: true }, by = own.token) =>
    world.call(provisioner.report, { as: by.as, params: { jobId }, body: body as { ok: boolean } })
  const jobOf = (by = own.token) => claimJob(world, by)

  const mint = (more: object = {}) => {
    const body = { provider: 'postgres' as const, targetId: own.target.id, roleName: roleName(), ttlSeconds: 600 }
    return world.call(leases.create, { as, params, body: { ...body, verifier: verifierOf.postgres('one'), ...more } })
  }
  const read = async (leaseId: string) => (await world.call(leases.get, { as, params: { orgId, leaseId } })).body.lease
  const newest = async () => (await world.call(leases.list, { as, params, query: { limit: 1 } })).body.leases[0]

  /** Moves the clock past the time that a request waits for a provisioner. */
  const waitOut = async <T>(answer: Promise<T>): Promise<T> => {
    world.clock.advance(21)
    return answer
  }

  async function made(more: object = {}) {
    const answer = mint(more)
    const job = await jobOf()
    await report(job.id)
    const { status, body } = await answer
    if (status !== 201 || body.lease.status !== 'active') throw new Error('the lease is active')
    return body.lease
  }

  return { world, tenant, own, claim, report, jobOf, mint, read, newest, waitOut, made }
}

/** The report of a provisioner that could not do its job. */
export const failure = (changedNothing: boolean) => ({ ok: false, error: { message: 'it said no', changedNothing } })
