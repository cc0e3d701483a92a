import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresScene, postgresScene } from '../../providers/test/leases/postgres-scene.ts'
import { bytes, openHostileTarget } from '../../server/test/services/hostile-target.ts'
import { missingPostgres } from '../../server/test/services/postgres.ts'
import { type InnerNetwork, openInnerNetwork, stopped } from './inner-network.ts'
import { newPersonMachine, openPeopleServer } from './people.ts'

let network: InnerNetwork
let scene: PostgresScene
let credential: string

describe.skipIf(missingPostgres())('skerry provisioner', () => {
  beforeAll(async () => {
    network = await openInnerNetwork('Inner Network')
    scene = await postgresScene()
    const target = scene.target('readonly')
    credential = target.credential
    await network.machine.write('ca.pem', target.config.connection.caCertificate!)
  })
  afterAll(async () => {
    await scene.stop()
    await network.close()
  })

  it('signs in to a target that the server cannot reach, and creates and removes its accounts', async () => {
    const provisioner = await network.startProvisioner()
    const added = await network.ok(
      [
        ...['lease', 'target', 'add', 'db', '--schema', 'app', '--ca-file', 'ca.pem', '--tls', 'verify-full'],
        ...['--provisioner', network.tokenId, '--yes'],
      ],
      `${credential}\n`,
    )
    expect(added.stderr).toContain('the server cannot')
    expect(added.stderr).toContain('added target db: ')
    // The command waits only a limited time for the provisioner.
    await expect.poll(() => network.serverOf('db')).toMatch(/^PostgreSQL \d/)
    const sql = 'select current_user || (select count(*) from app.notes)'
    const { stdout } = await network.ok(['lease', 'create', 'db', '--', 'psql', '-Atc', sql])
    const [, name = ''] = /^(lease_[a-z0-9]{16})1\n$/.exec(stdout) ?? []
    await expect.poll(network.newest).toMatchObject({ resourceRef: name, status: 'revoked', lastError: null })
    await expect.poll(() => scene.exists(name)).toBe(false)
    await stopped(provisioner)
  })

  it('creates a lease that was requested before it started', async () => {
    const { child, says, ended } = network.machine.start(['lease', 'create', 'db', '--', 'sh', '-c', 'echo "$PGUSER"'])
    await expect.poll(async () => (await network.newest()).status).toBe('pending')
    const provisioner = await network.startProvisioner(['--allow', `localhost:${scene.port}`])
    await says('lease_')
    expect(await ended).toMatchObject({ code: 0 })
    expect(child.exitCode).toBe(0)
    await expect.poll(network.newest).toMatchObject({ status: 'revoked' })
    await stopped(provisioner)
  })

  it('does not connect to a target that --allow does not name', async () => {
    const provisioner = await network.startProvisioner(['--allow', 'elsewhere.internal:5432'])
    const ended = await network.machine.skerry(['lease', 'create', 'db', '--', 'true'])
    expect(ended).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('may not connect to it'),
    })
    expect(await network.newest()).toMatchObject({ status: 'failed' })
    await stopped(provisioner)
  })

  it('survives a target that crashes its driver, and the server pauses that target', async () => {
    const hostile = await openHostileTarget()
    hostile.attack(bytes('44 00000006 ffff'))
    const provisioner = await network.startProvisioner()
    const add = ['lease', 'target', 'add', 'evil', '--schema', 'app', '--tls', 'disable']
    await network.ok(
      [...add, '--provisioner', network.tokenId, '--yes'],
      `postgres://skerry:secret@127.0.0.1:${hostile.port}/shop\n`,
    )
    const read = async () => {
      const { targets } = JSON.parse((await network.ok(['lease', 'target', 'list', '--json'])).stdout)
      return targets.find(({ name }: { name: string }) => name === 'evil')
    }
    for (let time = 1; time < 3; time++) {
      await expect
        .poll(async () => (await read()).lastError)
        .toContain('the target sent an answer that the driver cannot read, so the connection was closed')
      await network.machine.skerry(['lease', 'target', 'verify', 'evil'])
    }
    await expect.poll(async () => (await read()).status).toBe('paused')
    await network.ok(['lease', 'target', 'verify', 'db'])
    await stopped(provisioner)
    await hostile.close()
  })

  it.each([
    ['an empty token', [], { SKERRY_TOKEN: '' }, 2],
    ['an invalid address', ['--allow', 'db.internal'], {}, 2],
  ])('does not start with %s', async (_, args, env, code) => {
    expect(await network.inner.skerry(['provisioner', ...args], { env })).toMatchObject({ code })
  })

  it('does not start with the credential of a person', async () => {
    const people = await openPeopleServer()
    const person = await newPersonMachine(people, 'provisioner@example.com')
    const { child, ended } = person.start(['provisioner'])
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await person.remove()
      await people.close()
    })
    const { code, stdout, stderr } = await ended
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('a provisioner needs a service token; set SKERRY_TOKEN')
  })

  // A minute must pass before the server gives the job to another provisioner.
  it('that is killed during a job leaves no account that the ledger does not know', async () => {
    const { root } = scene
    const waiting = async () =>
      (await root.query(`SELECT FROM pg_locks WHERE NOT granted AND relation = 'pg_authid'::regclass`)).rowCount
    const killed = await network.startProvisioner()
    await root.query('BEGIN; LOCK TABLE pg_authid IN SHARE MODE')
    const { says, ended } = network.machine.start(['lease', 'create', 'db', '--', 'sh', '-c', 'echo "$PGUSER"'])
    await expect.poll(waiting).toBe(1)
    killed.child.kill('SIGKILL')
    await killed.ended
    const next = await network.startProvisioner()
    await root.query('COMMIT')
    await says('lease_')
    expect(await ended).toMatchObject({ code: 0 })
    await expect.poll(network.newest).toMatchObject({ status: 'revoked' })
    const { resourceRef } = await network.newest()
    await expect.poll(() => scene.exists(resourceRef)).toBe(false)
    await stopped(next)
  }, 300_000)

  it('ends by itself once its token is revoked', async () => {
    const provisioner = await network.startProvisioner()
    await network.ok(['token', 'revoke', network.tokenId, '--yes'])
    expect(await provisioner.ended).toMatchObject({ code: 3 })
    const refused = await network.machine.skerry(['lease', 'create', 'db', '--', 'true'])
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('provisionerTokenId') })
  })
})
