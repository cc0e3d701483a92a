import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresScene, postgresScene } from '../../providers/test/leases/postgres-scene.ts'
import { isQuick } from '../../server/test/extent.ts'
import { missingPostgres } from '../../server/test/services/postgres.ts'
import { type Machine, newMachine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

/** No network is allowed to it: whatever reaches the target is the provisioner. */
let server: Server
let machine: Machine
/** Another machine, which has nothing but the provisioner's token. */
let inner: Machine
let scene: PostgresScene
let tokenId: string
let credential: string

const ok = async (args: string[], input?: string) => {
  const ended = await machine.skerry(args, input === undefined ? {} : { input })
  expect([ended.code, ended.stderr]).toEqual([0, expect.any(String)])
  return ended
}
const newest = async () => JSON.parse((await ok(['lease', 'list', '--json'])).stdout).leases[0]

const startProvisioner = async (args: string[] = []) => {
  const running = inner.start(['provisioner', ...args], { input: null })
  await running.tells('waits for work')
  return running
}
type Provisioner = Awaited<ReturnType<typeof startProvisioner>>

async function stopped({ child, ended }: Provisioner) {
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0 })
}

describe.skipIf(missingPostgres())('skerry provisioner', () => {
  beforeAll(async () => {
    server = await openServer()
    machine = await signedUp(server.url, 'Inner Network')
    inner = await newMachine(server.url)
    scene = await postgresScene()
    const target = scene.target('readonly')
    credential = target.credential
    await machine.write('ca.pem', target.config.connection.caCertificate!)
    const made = JSON.parse((await ok(['token', 'create', '--name', 'provisioner', '--provisioner', '--json'])).stdout)
    tokenId = made.serviceToken.id
    inner.env.SKERRY_TOKEN = made.token
  })
  afterAll(async () => {
    await inner.remove()
    await machine.remove()
    await scene.stop()
    await server.close()
  })

  it('signs in to a target that the server does not reach, and makes and removes its accounts', async () => {
    const provisioner = await startProvisioner()
    const added = await ok(
      [
        ...['lease', 'target', 'add', 'db', '--schema', 'app', '--ca-file', 'ca.pem', '--tls', 'verify-full'],
        ...['--provisioner', tokenId, '--yes'],
      ],
      `${credential}\n`,
    )
    expect(added.stderr).toContain('the server cannot')
    expect(added.stderr).toMatch(/added target db: PostgreSQL \d/)
    const sql = 'select current_user || (select count(*) from app.notes)'
    const { stdout } = await ok(['lease', 'create', 'db', '--', 'psql', '-Atc', sql])
    const [, name = ''] = /^(lease_[a-z0-9]{16})1\n$/.exec(stdout) ?? []
    expect(await newest()).toMatchObject({ resourceRef: name, status: 'revoked', lastError: null })
    expect(await scene.exists(name)).toBe(false)
    await stopped(provisioner)
  })

  it.skipIf(isQuick)('a lease waits for a provisioner that comes a moment later', async () => {
    const { child, says, ended } = machine.start(['lease', 'create', 'db', '--', 'sh', '-c', 'echo "$PGUSER"'])
    await expect.poll(async () => (await newest()).status).toBe('pending')
    const provisioner = await startProvisioner(['--allow', `localhost:${scene.port}`])
    await says('lease_')
    expect(await ended).toMatchObject({ code: 0 })
    expect(child.exitCode).toBe(0)
    expect(await newest()).toMatchObject({ status: 'revoked' })
    await stopped(provisioner)
  })

  it.skipIf(isQuick)('a target that is none of those that --allow names is not connected to', async () => {
    const provisioner = await startProvisioner(['--allow', 'elsewhere.internal:5432'])
    const ended = await machine.skerry(['lease', 'create', 'db', '--', 'true'])
    expect(ended).toMatchObject({ code: 5, stderr: expect.stringContaining('may connect to (--allow)') })
    expect(await newest()).toMatchObject({ status: 'failed' })
    await stopped(provisioner)
  })

  it.each([
    ['a person’s or no credential', [], { SKERRY_TOKEN: '' }, 3],
    ['an address that is none', ['--allow', 'db.internal'], {}, 2],
  ])('does not start with %s', async (_, args, env, code) => {
    expect(await inner.skerry(['provisioner', ...args], { env })).toMatchObject({ code })
  })

  // A minute has to pass before what it had in hand is given to another.
  it.skipIf(isQuick)('that is killed in the middle leaves no account that the ledger does not know', async () => {
    const { root } = scene
    const killed = await startProvisioner()
    await root.query('BEGIN; LOCK TABLE pg_authid IN SHARE MODE')
    const { says, ended } = machine.start(['lease', 'create', 'db', '--', 'sh', '-c', 'echo "$PGUSER"'])
    await expect.poll(async () => (await newest()).status).toBe('creating')
    killed.child.kill('SIGKILL')
    await killed.ended
    const next = await startProvisioner()
    await root.query('COMMIT')
    await says('lease_')
    expect(await ended).toMatchObject({ code: 0 })
    const { status, resourceRef } = await newest()
    expect([status, await scene.exists(resourceRef)]).toEqual(['revoked', false])
    await stopped(next)
  })

  it('ends by itself once its token is revoked', async () => {
    const provisioner = await startProvisioner()
    await ok(['token', 'revoke', tokenId, '--yes'])
    expect(await provisioner.ended).toMatchObject({ code: 3 })
    const refused = await machine.skerry(['lease', 'create', 'db', '--', 'true'])
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('provisionerTokenId') })
  })
})
