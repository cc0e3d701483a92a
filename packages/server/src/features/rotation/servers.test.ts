import { rotation } from '@skerry/contract/rotation/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { expect, test } from 'vitest'
import { engine } from '../../../test/engine.ts'
import { generatedRotation, newKeyedEnv, newRotation } from '../../../test/rotation-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { stopSchedules } from '../../../test/state.ts'
import { start } from '../../../test/world.ts'
import { sweep } from './jobs.ts'

const { world, tenant } = await openTenant()
await stopSchedules(world)

// An embedded database has one server.
test.skipIf(engine() === 'embedded')(
  'if two servers both find a policy due, only one of them rotates it, once',
  async () => {
    const other = await start(world.server.context.config, [], world.clock.now)
    try {
      const env = await newKeyedEnv(world, tenant)
      const ids: string[] = []
      for (const secretName of ['A', 'B', 'C', 'D', 'E', 'F']) {
        const body = await generatedRotation(world, tenant, env, { secretName })
        ids.push((await newRotation(world, tenant, body)).rotation.id)
      }
      world.clock.advance(4000)
      await Promise.all([world.server, other, world.server, other].map(({ context }) => sweep(context)))
      const { orgId, admin } = tenant
      const waiting = async () => {
        const rows = await world.server.context.db.foreign<{ count: string }>(
          `select count(*) as count from jobs where name = 'rotation.run' and state in ('waiting', 'active')`,
        )
        return Number(rows[0]?.count)
      }
      await expect.poll(waiting).toBe(0)
      for (const rotationId of ids) {
        const { body } = await world.call(rotation.get, { as: admin.as, params: { orgId, rotationId } })
        expect(body.rotation).toMatchObject({ lastVersion: 1, failureStreak: 0 })
      }
      const params = { orgId, envId: env.envId }
      const { body } = await world.call(secrets.list, { as: admin.as, params })
      const rotated = body.secrets.filter(({ name }) => name !== 'PRESENT')
      expect(rotated.map(({ version }) => version)).toEqual([1, 1, 1, 1, 1, 1])
    } finally {
      await other.close()
    }
  },
)
