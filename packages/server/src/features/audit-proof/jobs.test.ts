import { auditProof } from '@skerry/contract/audit-proof'
import { expect, onTestFinished, test } from 'vitest'
import { openWorld } from '../../../test/world.ts'

test('a new server has its export key at once, and turns of sealing before cron adds the first', async () => {
  const world = await openWorld()
  onTestFinished(world.close)
  const { status, body } = await world.call(auditProof.exportKey)
  expect([status, body.algorithm]).toEqual([200, 'Ed25519'])
  const due = await world.server.context.db.foreign<{ seconds: number }>(
    `select ceil(extract(epoch from start_after - created_on))::int as seconds from jobs.job
      where name = 'audit.seal' and data ? 'isAgain' order by 1`,
  )
  // The copied database has turns of the server that made it.
  expect([...new Set(due.map(({ seconds }) => seconds))].slice(0, 3)).toEqual([5, 10, 15])
})

test('a server without a server key publishes none', async () => {
  const world = await openWorld({ SKERRY_SERVER_KEY: '' })
  onTestFinished(world.close)
  const hasKey = world.server.context.serverKey !== null
  expect((await world.call(auditProof.exportKey)).status).toBe(hasKey ? 200 : 404)
})
