import { leases } from '@skerry/contract/leases/endpoints'
import { provisioner } from '@skerry/contract/leases/provisioner'
import { describe, expect, test } from 'vitest'
import { verifierOf } from '../../../../providers/test/leases/mint.ts'
import { engine } from '../../../test/engine.ts'
import { held, waiting } from '../../../test/held.ts'
import { claimJob, newProvisionedTarget, newSshTarget, sshLease } from '../../../test/lease-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { stopSchedules } from '../../../test/state.ts'
import { newToken } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'

const { world, tenant } = await openTenant()
await stopSchedules(world)
const { orgId } = tenant
const { as } = tenant.admin
const { db } = world.server.context

const mint = (body: object) => world.call(leases.create, { as, params: { orgId }, body: body as never })
const remove = (targetId: string, query: { force?: 'true' } = {}) =>
  world.call(leases.deleteTarget, { as, params: { orgId, targetId }, query })
/** Leases that are live in the ledger, but have no target any more, so that nobody can remove their accounts. */
const lost = () =>
  db.rows(`select id from leases where target_id is null and status not in ('revoked', 'expired', 'failed')`)

describe('a target that is deleted while leases are minted', () => {
  test.each([{}, { force: 'true' as const }])('leaves no live lease without a target: %o', async (query) => {
    for (let round = 0; round < 15; round++) {
      const { id } = await newSshTarget(world, tenant, {})
      const [first, removed, second] = await Promise.all([mint(sshLease(id)), remove(id, query), mint(sshLease(id))])
      const statuses = [first.status, second.status]
      if (removed.status === 409) expect(statuses).toContain(201)
      else expect([removed.status, query.force ? 0 : statuses.filter((one) => one === 201).length]).toEqual([200, 0])
      for (const one of [first, second]) {
        expect([201, 404, 409]).toContain(one.status)
        if (one.status === 404) expect(one.error?.message).toBe('body.targetId: no such target')
      }
      expect(await lost()).toEqual([])
    }
  })

  test('waits for a mint in progress, and then counts its lease', async () => {
    if (engine() !== 'postgres') return // The embedded database has one connection, so nothing waits.
    const { id } = await newSshTarget(world, tenant)
    const lease = (await mint(sshLease(id))).body.lease
    await world.call(leases.revoke, { as, params: { orgId, leaseId: lease.id } })
    const minting = await held(db, async (tx) => {
      await tx.rows('select 1 from lease_targets where id = $1 for key share', [id])
      await tx.rows(`update leases set status = 'active' where id = $1`, [lease.id])
    })
    const removing = remove(id)
    await until('it waits', async () => (await waiting(db)) > 0).finally(minting.commit)
    const { status, error } = await removing
    expect([status, error?.message]).toEqual([409, expect.stringContaining('1 leases of this target are live')])
  })
})

describe('the name of an account', () => {
  const verifier = verifierOf.postgres('a password')

  test('goes to one of six leases that request it at once, and is free again when that lease has ended', async () => {
    const token = await newToken(world, tenant)
    const target = await newProvisionedTarget(world, tenant, token)
    const body = { provider: 'postgres', targetId: target.id, roleName: 'reader', verifier, ttlSeconds: 600 }
    const minting = Array.from({ length: 6 }, () => mint(body))
    const job = await claimJob(world, token)
    expect((await db.rows(`select 1 from leases where target_id = $1`, [target.id])).length).toBe(1)
    await world.call(provisioner.report, { as: token.as, params: { jobId: job.id }, body: { ok: true } })
    const answers = await Promise.all(minting)
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409])
    const leaseId = answers.find(({ status }) => status === 201)?.body.lease.id as string
    const says = new RegExp(`^body\\.roleName: the lease ${leaseId} \\(\\w+\\) of this target has the name reader$`)
    for (const { status, error } of answers) if (status === 409) expect(error?.message).toMatch(says)

    const revoking = world.call(leases.revoke, { as, params: { orgId, leaseId } })
    const removal = await claimJob(world, token)
    // The account may still exist.
    expect((await mint(body)).status).toBe(409)
    await world.call(provisioner.report, { as: token.as, params: { jobId: removal.id }, body: { ok: true } })
    expect((await revoking).body.lease.status).toBe('revoked')
    const again = mint(body)
    const made = await claimJob(world, token)
    await world.call(provisioner.report, { as: token.as, params: { jobId: made.id }, body: { ok: true } })
    expect((await again).status).toBe(201)
  })
})
