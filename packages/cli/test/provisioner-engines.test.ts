import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mariadbScene, missingMariadb } from '../../providers/test/leases/mysql-scene.ts'
import { type PostgresScene, postgresScene } from '../../providers/test/leases/postgres-scene.ts'
import { missingRedis, redisScene } from '../../providers/test/leases/redis-scene.ts'
import { isQuick } from '../../server/test/extent.ts'
import { missingPostgres } from '../../server/test/services/postgres.ts'
import { type InnerNetwork, openInnerNetwork, stopped } from './inner-network.ts'

// Repeats provisioner.test.ts with the other engines, and kills the server while a provisioner works.

describe.skipIf(isQuick)('skerry provisioner', () => {
  let network: InnerNetwork
  beforeAll(async () => {
    network = await openInnerNetwork('Engines Org')
  })
  afterAll(() => network.close())

  /** Registers a target, to which the provisioner signs in before it can be used. */
  async function addTarget(name: string, { config, credential }: { config: object; credential: string }) {
    const executor = { executor: 'provisioner', provisionerTokenId: network.tokenId }
    await network.machine.write(`${name}.json`, JSON.stringify({ ...config, ...executor }))
    return network.ok(['lease', 'target', 'add', name, '--config', `${name}.json`, '--yes'], `${credential}\n`)
  }

  const engines = [
    { kind: 'mysql', skip: missingMariadb(), open: mariadbScene },
    { kind: 'redis', skip: missingRedis(), open: redisScene },
  ] as const
  for (const { kind, skip, open } of engines)
    it.skipIf(skip !== undefined)(`makes accounts of ${kind} that sign in, and ends their sessions`, async () => {
      const scene = await open()
      const provisioner = await network.startProvisioner()
      try {
        const added = await addTarget(kind, scene.target('readonly'))
        expect(added.stderr).toContain('the server cannot')
        expect(added.stderr).toContain(`added target ${kind}: `)
        // The command waits only a limited time for the provisioner.
        await expect.poll(() => network.serverOf(kind)).toMatch(scene.server)
        const { variables, lease } = JSON.parse((await network.ok(['lease', 'create', kind, '--json'])).stdout)
        const url = new URL(variables.DATABASE_URL)
        const client = await scene.signIn(lease.resourceRef, decodeURIComponent(url.password))
        await client.read()
        await expect(client.write()).rejects.toThrow()
        await network.ok(['lease', 'revoke', lease.id, '--yes'])
        await client.ended
        await expect.poll(network.newest).toMatchObject({ status: 'revoked', lastError: null })
        await expect.poll(() => scene.exists(lease.resourceRef)).toBe(false)
      } finally {
        await stopped(provisioner)
        await scene.stop()
      }
    })

  describe.skipIf(missingPostgres())('whose server is killed while it works', () => {
    let scene: PostgresScene
    beforeAll(async () => {
      scene = await postgresScene()
      const provisioner = await network.startProvisioner()
      await addTarget('db', scene.target('readonly'))
      await stopped(provisioner)
    })
    afterAll(() => scene.stop())

    /** Kills the server while the provisioner waits for the target. Starts it again after the target has answered. */
    async function killAmid(): Promise<void> {
      await expect.poll(waiting).toBe(1)
      await network.server.kill9()
      await scene.root.query('COMMIT')
      await expect.poll(waiting).toBe(0)
      await network.server.start()
    }
    const locked = () => scene.root.query('BEGIN; LOCK TABLE pg_authid IN SHARE MODE')
    const waiting = async () =>
      (await scene.root.query(`SELECT FROM pg_locks WHERE NOT granted AND relation = 'pg_authid'::regclass`)).rowCount

    it('reports a created account once the server is back, and the ledger lists the account', async () => {
      const provisioner = await network.startProvisioner()
      await locked()
      const { ended } = network.machine.start(['lease', 'create', 'db', '--json'])
      await killAmid()
      expect((await ended).code).not.toBe(0)
      await expect.poll(async () => (await network.newest()).status).toBe('active')
      const { id, resourceRef } = await network.newest()
      expect(await scene.exists(resourceRef)).toBe(true)
      await network.ok(['lease', 'revoke', id, '--yes'])
      await expect.poll(network.newest).toMatchObject({ status: 'revoked' })
      await expect.poll(() => scene.exists(resourceRef)).toBe(false)
      await stopped(provisioner)
    })

    it('reports a removed account once the server is back', async () => {
      const provisioner = await network.startProvisioner()
      const { lease } = JSON.parse((await network.ok(['lease', 'create', 'db', '--json'])).stdout)
      await locked()
      const { ended } = network.machine.start(['lease', 'revoke', lease.id, '--yes'])
      await killAmid()
      await ended
      await expect.poll(async () => (await network.newest()).status).toBe('revoked')
      await expect.poll(() => scene.exists(lease.resourceRef)).toBe(false)
      await stopped(provisioner)
    })
  })
})
