import { auditProof } from '@skerry/contract/audit-proof/endpoints'
import { createClient } from '@skerry/sdk/client'
import { verifyTrail } from '@skerry/sdk/internal/audit-proof'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newApp, signUp } from '../../../test/tenant.ts'
import { openWorld, type World } from '../../../test/world.ts'
import { seal } from './seal.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
  await world.server.context.queue.stop()
})
afterAll(() => world.close())

test('several sealing runs at once add each entry once, while others are written', async () => {
  const { context } = world.server
  const tenants = await Promise.all(Array.from({ length: 3 }, () => signUp(world)))
  const write = async () => {
    for (let n = 0; n < 10; n++) await Promise.all(tenants.map((of) => newApp(world, of)))
  }
  const sealAgain = async () => {
    for (let n = 0; n < 10; n++) await seal(context)
  }
  await Promise.all([write(), write(), sealAgain(), sealAgain(), sealAgain()])
  await seal(context)

  for (const of of tenants) {
    const { n } = (await context.db.row<{ n: number }>(
      'select count(*)::int as n from audit_entries where org_id = $1',
      [of.orgId],
    ))!
    const { leaves } = (
      await world.call(auditProof.leaves, { as: of.admin.as, params: { orgId: of.orgId }, query: {} })
    ).body
    expect(new Set(leaves.map(({ entryId }) => entryId)).size).toBe(n)
    expect(leaves).toHaveLength(n)
    const credential = { bearer: of.admin.as.replace('Bearer ', '') }
    const verified = await verifyTrail(createClient({ baseUrl: world.url, credential }), of.orgId)
    expect(verified).toMatchObject({ size: n })
  }
})
