import { leases } from '@skerry/contract/leases/endpoints'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { password, roleName, verifierOf } from '../../../../providers/test/leases/mint.ts'
import { type MysqlScene, mariadbScene, missingMariadb } from '../../../../providers/test/leases/mysql-scene.ts'
import { type PostgresScene, postgresScene } from '../../../../providers/test/leases/postgres-scene.ts'
import { wrappedForBroker } from '../../../test/lease-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { missingPostgres } from '../../../test/services/postgres.ts'
import { openWire, type Wire } from '../../../test/services/wire.ts'
import { endDue } from './ending.ts'

// Tests the ledger while a lease's statement waits on its target. Adapters alone: providers/test/leases/stuck.ts.

const { world, tenant } = await openTenant({ SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' })
const { orgId } = tenant
const { as } = tenant.admin
const { context } = world.server

const engines = [
  { tag: 'postgres', skip: missingPostgres(), open: postgresScene, lateSeconds: 90 },
  { tag: 'mysql', skip: missingMariadb(), open: mariadbScene, lateSeconds: 900 },
] as const

for (const { tag, skip, open, lateSeconds } of engines)
  describe.skipIf(skip !== undefined)(`a lease of ${tag} whose statement waits on its target`, () => {
    let scene: PostgresScene | MysqlScene
    let wire: Wire
    let targetId: string
    let unblock = async () => {}
    beforeAll(async () => {
      scene = await open()
      const { config, credential } = scene.target('readonly')
      wire = await openWire(`tcp://127.0.0.1:${new URL(credential).port}`)
      const port = Number(new URL(wire.url).port)
      const { database } = config.connection
      const through = { ...config, connection: { host: '127.0.0.1', port, database, tls: 'disable' } }
      const secret = credential.replace(/@localhost:\d+/, `@127.0.0.1:${port}`)
      const body = { name: tag, config: through, wrappedAdminSecret: await wrappedForBroker(world, tenant, secret) }
      const answer = await world.call(leases.createTarget, { as, params: { orgId }, body: body as never })
      expect(answer.error).toBeUndefined()
      targetId = answer.body.target.id
      // The first lease makes objects that all leases share. They exist from here on.
      expect((await mint(roleName())).status).toBe(201)
    })
    beforeEach(async () => {
      const free = await scene.block()
      unblock = async () => {
        unblock = async () => {}
        await free()
      }
      return () => unblock()
    })
    afterAll(async () => {
      await wire.close()
      await scene.stop()
    })

    const mint = (name: string, verifier = verifierOf[tag](password())) =>
      world.call(leases.create, {
        as,
        params: { orgId },
        body: { provider: tag, targetId, roleName: name, verifier, ttlSeconds: 3600 },
      })
    const newest = async () => {
      const { body } = await world.call(leases.list, { as, params: { orgId }, query: { limit: 1 } })
      return body.leases[0]!
    }
    const look = async () => {
      await endDue(context, orgId, targetId)
      return (await newest()).status
    }

    test('loses an account that appears after its connection was cut, and fails once none can appear', async () => {
      const [name, verifier] = [roleName(), verifierOf[tag](password())]
      const minted = mint(name, verifier)
      await expect.poll(() => scene.waiting()).toBe(1)
      wire.cut()
      const { status, error } = await minted
      expect([status, error?.message]).toEqual([409, expect.stringMatching(/^target: /)])
      expect([await look(), await scene.exists(name)]).toEqual(['revoking', false])
      await unblock()
      // PostgreSQL makes the account now. MySQL ended the statement, so the test makes what a late one would.
      if (tag === 'mysql') await scene.createHalf({ id: (await newest()).id, roleName: name, verifier })
      await expect.poll(() => scene.exists(name)).toBe(true)
      world.clock.advance(lateSeconds - 30)
      expect([await look(), await scene.exists(name)]).toEqual(['revoking', false])
      world.clock.advance(60)
      expect([await look(), await scene.exists(name)]).toEqual(['failed', false])
    })

    test('fails when its target ends the statement after the time limit', async () => {
      const { statementMs } = context.outbound
      Object.assign(context.outbound, { statementMs: 2000 })
      const name = roleName()
      const { status, error } = await mint(name).finally(() => Object.assign(context.outbound, { statementMs }))
      expect([status, error?.message]).toEqual([409, expect.stringMatching(/^target: .*(timeout|exceeded)/i)])
      expect([await look(), await scene.waiting()]).toEqual(['failed', 0])
      await unblock()
      expect(await scene.exists(name)).toBe(false)
    })
  })
