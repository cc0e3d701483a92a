import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { promisify } from 'node:util'
import { leases } from '@skerry/contract/leases/endpoints'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { password, roleName, verifierOf } from '../../../../providers/test/leases/mint.ts'
import { type MysqlScene, mariadbScene, missingMariadb } from '../../../../providers/test/leases/mysql-scene.ts'
import { missingRedis, redisScene } from '../../../../providers/test/leases/redis-scene.ts'
import { type Folder, folderFor } from '../../../../providers/test/services/process.ts'
import { missingSshd, type Sshd, startSshd } from '../../../../providers/test/services/sshd.ts'
import { newSshKey, wrappedForBroker } from '../../../test/lease-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { endDue } from './ending.ts'

// Leases of targets other than PostgreSQL, through the whole server. databases.test.ts tests the other rules.

const { world, tenant } = await openTenant({ SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' })
const { orgId } = tenant
const { as } = tenant.admin
const params = { orgId }

async function register(name: string, config: object, credential: string) {
  const body = { name, config, wrappedAdminSecret: await wrappedForBroker(world, tenant, credential) }
  const answer = await world.call(leases.createTarget, { as, params, body })
  expect(answer.error).toBeUndefined()
  return answer.body.target
}

// This suite comes first, while the clock of the test server still equals the clock of the host.
describe.skipIf(missingSshd() !== undefined)('an SSH certificate', () => {
  const ca = newSshKey()
  let folder: Folder
  let sshd: Sshd
  beforeAll(async () => {
    folder = folderFor({}, 'server-sshd')
    sshd = await startSshd(folder, [ca.publicKey])
  })
  afterAll(async () => {
    await sshd.stop()
    folder.remove()
  })

  test('lets only its own user sign in to a host that trusts the authority', async () => {
    const user = userInfo().username
    const config = { provider: 'ssh', executor: 'in_broker', caPublicKey: ca.publicKey }
    const target = await register('hosts', config, ca.privateKey)
    const key = `${folder.path}/key`
    await promisify(execFile)('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', key])
    const publicKey = readFileSync(`${key}.pub`, 'utf8').trim()
    const signIn = async (principals: string[]) => {
      const body = { provider: 'ssh' as const, targetId: target.id, publicKey, principals, ttlSeconds: 600 }
      const { body: answer } = await world.call(leases.create, { as, params, body })
      writeFileSync(`${key}-cert.pub`, `${answer.ssh?.certificate}\n`)
      const options = [
        '-F',
        'none',
        '-o',
        'BatchMode=yes',
        '-o',
        'StrictHostKeyChecking=no',
        '-o',
        'IdentityAgent=none',
      ]
      const files = ['-o', `UserKnownHostsFile=${folder.path}/known_hosts`, '-o', 'IdentitiesOnly=yes', '-i', key]
      const args = [...options, ...files, '-p', `${sshd.port}`, `${user}@127.0.0.1`, 'echo in']
      return (await promisify(execFile)('ssh', args)).stdout
    }
    expect(await signIn([user])).toBe('in\n')
    await expect(signIn(['somebody'])).rejects.toThrow('Permission denied')
  })
})

const engines = [
  { tag: 'mysql', skip: missingMariadb(), open: mariadbScene },
  { tag: 'redis', skip: missingRedis(), open: redisScene },
] as const

for (const { tag, skip, open } of engines) {
  describe.skipIf(skip !== undefined)(`a lease of ${tag}`, () => {
    let scene: Awaited<ReturnType<typeof open>>
    let targetId: string
    beforeAll(async () => {
      scene = await open()
      const { config, credential } = scene.target('readonly')
      const target = await register(tag, config, credential)
      expect(target).toMatchObject({ status: 'ready', server: expect.stringMatching(scene.server) })
      targetId = target.id
    })
    afterAll(() => scene.stop())

    const mint = (name: string, secret: string) =>
      world.call(leases.create, {
        as,
        params,
        body: { provider: tag, targetId, roleName: name, verifier: verifierOf[tag](secret), ttlSeconds: 60 },
      })

    test('signs in with its own password, can read but not write, and its session ends when it is revoked', async () => {
      const [name, secret] = [roleName(), password()]
      const { status, body } = await mint(name, secret)
      expect([status, body.connection?.username]).toEqual([201, name])
      const client = await scene.signIn(name, secret)
      await client.read()
      await expect(client.write()).rejects.toThrow()
      const revoked = await world.call(leases.revoke, { as, params: { orgId, leaseId: body.lease.id } })
      expect(revoked.body.lease.status).toBe('revoked')
      await client.ended
      expect(await scene.exists(name)).toBe(false)
    })

    test('loses its account when it expires', async () => {
      const name = roleName()
      const { body } = await mint(name, password())
      expect(await scene.exists(name)).toBe(true)
      world.clock.advance(61)
      await endDue(world.server.context, orgId, targetId)
      const { lease } = (await world.call(leases.get, { as, params: { orgId, leaseId: body.lease.id } })).body
      expect([lease.status, await scene.exists(name)]).toEqual(['expired', false])
    })

    if (tag === 'mysql')
      test('ends even if its holder has changed the password', async () => {
        const [name, secret] = [roleName(), password()]
        const { body } = await mint(name, secret)
        await (scene as MysqlScene).setOwnPassword(name, secret, 'another')
        world.clock.advance(61)
        await endDue(world.server.context, orgId, targetId)
        const { lease } = (await world.call(leases.get, { as, params: { orgId, leaseId: body.lease.id } })).body
        expect([lease.status, lease.lastError, await scene.exists(name)]).toEqual(['expired', null, false])
      })

    test('with the name of an existing account is refused, and that account stays', async () => {
      const name = roleName()
      await scene.createForeign(name)
      const answer = await mint(name, password())
      expect([answer.status, answer.error?.message]).toEqual([409, expect.stringMatching(/^target: .*exists/)])
      expect(await scene.exists(name)).toBe(true)
    })

    test('that five callers request under one name at once is made once, and its password works', async () => {
      const name = roleName()
      const secrets = Array.from({ length: 5 }, () => password())
      const answers = await Promise.all(secrets.map((secret) => mint(name, secret)))
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
      const made = answers.findIndex(({ status }) => status === 201)
      const client = await scene.signIn(name, secrets[made] as string)
      await client.read()
      await world.call(leases.revoke, { as, params: { orgId, leaseId: answers[made]?.body.lease.id as string } })
      await client.ended
      expect(await scene.exists(name)).toBe(false)
    })

    test('leaves no trace of its password or of the admin’s in any log line or answer', () => {
      const seen = [...world.log, ...world.answers].join('\n')
      expect(seen).not.toContain('adminpassword')
      expect(seen).not.toMatch(/"verifier"/)
    })
  })
}
