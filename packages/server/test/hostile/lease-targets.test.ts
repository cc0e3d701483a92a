import { readFileSync } from 'node:fs'
import { audit } from '@skerry/contract/audit/endpoints'
import { leases } from '@skerry/contract/leases/endpoints'
import type { LeaseTag } from '@skerry/contract/leases/providers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { password, roleName, verifierOf } from '../../../providers/test/leases/mint.ts'
import { endDue } from '../../src/features/leases/ending.ts'
import { newSshLease, newSshTarget, wrappedForBroker } from '../lease-steps.ts'
import { openTenant } from '../scene.ts'
import { type Attack, bytes, endless, type HostileTarget, openHostileTarget, pour } from '../services/hostile-target.ts'
import { missingPostgres } from '../services/postgres.ts'
import { startMailServer } from '../services/smtp.ts'
import { adminPassword, newShopTarget, openShop, type Shop } from '../shop.ts'
import { mailsWritten } from '../state.ts'
import { newMember, signUp } from '../tenant.ts'
import { until } from '../until.ts'
import { longMs } from '../wait-limits.ts'

// Targets that try to crash, block or fill the process that reads their answers. In each test the server must still
// answer another organization.

const mails = await startMailServer()
afterAll(() => mails.close())
const { world, tenant } = await openTenant({
  SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  SKERRY_SMTP_URL: mails.url,
  SKERRY_BASE_URL: 'https://skerry.example',
})
const { orgId } = tenant
const { as } = tenant.admin
const { context } = world.server
const other = await signUp(world)

/** Sets how long a target may take for one answer. A child process that takes six times as long is killed. */
const waitFor = (answerMs: number) => Object.assign(context.outbound, { answerMs })
afterEach(() => Object.assign(context.outbound, { answerMs: longMs }))

async function expectServing(): Promise<void> {
  expect((await fetch(`${world.url}/health`)).status).toBe(200)
  const target = await newSshTarget(world, other)
  expect((await newSshLease(world, other, target.id)).lease.status).toBe('active')
  await world.call(leases.deleteTarget, {
    as: other.admin.as,
    params: { orgId: other.orgId, targetId: target.id },
    query: { force: 'true' },
  })
}

async function register(provider: LeaseTag, port: number, owner = tenant) {
  const database = provider === 'redis' ? { db: 0 } : { database: 'shop' }
  const scheme = { postgres: 'postgres', redis: 'redis', mysql: 'mysql', mongodb: 'mongodb' }[provider as 'redis']
  const path = provider === 'redis' ? '0' : 'shop'
  const credential = `${scheme}://skerry:${adminPassword}@127.0.0.1:${port}/${path}`
  const config = {
    provider,
    executor: 'in_broker',
    connection: { host: '127.0.0.1', port, ...database },
    accessLevel: 'readonly',
    ...(provider === 'postgres' ? { schema: 'app' } : {}),
    ...(provider === 'mysql' ? { userHost: '%' } : {}),
  }
  const wrappedAdminSecret = await wrappedForBroker(world, owner, credential)
  const params = { orgId: owner.orgId }
  const body = { config, wrappedAdminSecret } as never
  return world.call(leases.createTarget, { as: owner.admin.as, params, body })
}

const dataRow = Buffer.concat([Buffer.from('44000003ee0001000003e4', 'hex'), Buffer.alloc(996)])
const random = Buffer.from(Array.from({ length: 65_536 }, (_, index) => (index * 7919 + (index >> 3)) % 251))

const unread = 'the target sent an answer that the driver cannot read, so the connection was closed'
const busy = 'the target kept the driver busy for too long, so the connection was closed'
/** The error of our memory limit or of V8's own, whichever is reached first. */
const fills = /^target: the target sent (more than 256 MiB|an answer that the driver cannot read)/

const attacks: [LeaseTag, string, Attack, string | RegExp][] = [
  ['postgres', 'an authentication request of an unknown kind', bytes('52 00000008 00000063'), unread],
  ['postgres', 'a row of 65,535 fields that contains none', bytes('44 00000006 ffff'), unread],
  ['postgres', 'a description of 65,535 fields that contains none', bytes('54 00000006 ffff'), unread],
  ['postgres', 'a cancellation key of one byte', bytes('4b 00000005 01'), unread],
  ['postgres', 'a notice that is not terminated', bytes('4e 00000005 53'), busy],
  [
    'postgres',
    'endless rows',
    endless(Buffer.from('520000000800000000' + '5a0000000549', 'hex'), dataRow),
    /^target: /,
  ],
  ['redis', 'too many null replies', bytes(Buffer.from('*-1\r\n'.repeat(20)).toString('hex')), unread],
  ['redis', 'an endless line', endless('+', Buffer.alloc(65_536, 0x41)), fills],
  ['mysql', 'endless packets', (socket) => pour(socket, '', Buffer.alloc(65_536, 0x21)), /^target: /],
  ['mongodb', 'endless noise', endless('', random), /^target: /],
]

test.each(attacks)(
  '%s: %s does not stop the server, and the next organization is served',
  async (provider, _, attack, message) => {
    waitFor(message === busy ? 500 : 10_000)
    const hostile = await openHostileTarget()
    hostile.attack(attack)
    const answer = await register(provider, hostile.port)
    expect([answer.status, answer.error?.message]).toEqual([409, expect.stringMatching(message)])
    await expectServing()
    await hostile.close()
  },
)

test('credentials are neither in the arguments nor in the environment of a child process', async () => {
  const hostile = await openHostileTarget()
  const { promise: connected, resolve } = Promise.withResolvers<void>()
  hostile.attack(() => resolve())
  const registering = register('postgres', hostile.port)
  await connected
  const pids = context.adapters.pids()
  const seen = pids.flatMap((pid) => ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8')))
  expect(pids.length).toBeGreaterThan(0)
  for (const text of seen) {
    expect(text).not.toContain(adminPassword)
    expect(text).not.toMatch(/SKERRY_/)
  }
  await hostile.close()
  expect((await registering).status).toBe(409)
})

test('two organizations whose targets never answer leave a child process for a third organization', async () => {
  const hostile = await openHostileTarget()
  hostile.attack(() => {})
  const owners = [tenant, await signUp(world)]
  const waiting = owners.flatMap((owner) => Array.from({ length: 4 }, () => register('postgres', hostile.port, owner)))
  await until('their processes to be busy', () => hostile.connections >= 3)
  await expectServing()
  expect(hostile.connections).toBe(3)
  hostile.attack((socket) => socket.destroy())
  for (const answer of waiting) expect((await answer).status).not.toBe(200)
  await hostile.close()
})

describe('the address guard', () => {
  test('is active in the child process that connects', async () => {
    const answer = await register('postgres', 0xffff)
    expect(answer.error?.message).toMatch(/^target: 127\.0\.0\.1:65535: /)
    const config = { provider: 'postgres', executor: 'in_broker', accessLevel: 'readonly', schema: 'app' }
    const connection = { host: '10.0.0.1', port: 5432, database: 'shop' }
    const wrappedAdminSecret = await wrappedForBroker(world, tenant, `postgres://a:${adminPassword}@10.0.0.1:5432/shop`)
    const body = { config: { ...config, connection }, wrappedAdminSecret } as never
    const refused = await world.call(leases.createTarget, { as, params: { orgId }, body })
    expect([refused.status, refused.error?.message]).toEqual([400, expect.stringContaining('is private')])
  })
})

describe.skipIf(missingPostgres())('a target that turns hostile after it was registered', () => {
  let shop: Shop
  let hostile: HostileTarget
  let targetId: string
  beforeAll(async () => {
    shop = await openShop([])
    await shop.root.query(
      'ALTER SCHEMA public OWNER TO skerry_admin; GRANT ALL ON DATABASE shop TO skerry_admin WITH GRANT OPTION',
    )
    hostile = await openHostileTarget(shop.connection.port)
    targetId = await newShopTarget(world, tenant, { ...shop, connection: { ...shop.connection, port: hostile.port } })
  })
  afterAll(async () => {
    await hostile.close()
    await shop.stop()
  })

  const mint = () =>
    world.call(leases.create, {
      as,
      params: { orgId },
      body: {
        provider: 'postgres',
        targetId,
        roleName: roleName(),
        verifier: verifierOf.postgres(password()),
        ttlSeconds: 600,
      },
    })
  const read = async () => {
    const { body } = await world.call(leases.targets, { as, params: { orgId } })
    return body.targets.find(({ id }) => id === targetId)!
  }
  const lease = async (leaseId: string) => (await world.call(leases.get, { as, params: { orgId, leaseId } })).body.lease

  test('is paused after three failures in a row, with a reason, an audit entry and a mail, until it is verified', async () => {
    const admin = await newMember(world, tenant, 'admin', { email: 'pause@example.com' })
    expect(admin.id).toBeDefined()
    const made = (await mint()).body.lease
    expect(made.status).toBe('active')

    hostile.attack(bytes('44 00000006 ffff'))
    for (const status of ['ready', 'ready', 'paused']) {
      expect((await mint()).error?.message).toMatch(/^target: the target sent an answer that the driver cannot read/)
      expect((await read()).status).toBe(status)
    }
    expect((await read()).lastError).toMatch(/^target: the target sent an answer/)
    const entries = await world.call(audit.list, { as, params: { orgId }, query: { action: 'lease_target.paused' } })
    expect(entries.body.entries).toMatchObject([{ resourceId: targetId, actorType: 'system' }])
    await mailsWritten(world)
    const isMail = ({ to, source }: (typeof mails.received)[number]) =>
      to.includes('pause@example.com') && source.includes('Subject: A lease target is paused')
    await until('the mail', () => mails.received.some(isMail))

    // The server no longer connects to the target, neither for a new lease nor to end one.
    const before = hostile.connections
    const refused = await mint()
    expect([refused.status, refused.error?.message]).toEqual([409, expect.stringContaining('The target is paused')])
    world.clock.advance(601)
    await endDue(context, orgId, targetId)
    expect(await lease(made.id)).toMatchObject({ status: 'revoking', lastError: expect.stringContaining('is paused') })
    expect(hostile.connections).toBe(before)

    // However long the pause is, the lease is not orphaned, because the server has not tried to end it.
    world.clock.advance(25 * 3600)
    await endDue(context, orgId, targetId)
    expect((await lease(made.id)).status).toBe('revoking')

    const params = { orgId, targetId }
    const renamed = await world.call(leases.updateTarget, { as, params, body: { name: 'renamed' } })
    expect(renamed.body.target).toMatchObject({ status: 'paused', lastError: expect.stringMatching(/^target: the/) })
    expect((await world.call(leases.verifyTarget, { as, params })).body.target.status).toBe('paused')
    hostile.attack(null)
    expect((await world.call(leases.verifyTarget, { as, params })).body.target).toMatchObject({
      status: 'ready',
      lastError: null,
    })
    world.clock.advance(3600)
    await endDue(context, orgId, targetId)
    expect((await lease(made.id)).status).toBe('expired')
    await expectServing()
  })

  test('is not paused by two failures in a row, and a job that succeeds resets the count', async () => {
    for (let round = 0; round < 2; round++) {
      hostile.attack(bytes('44 00000006 ffff'))
      expect([(await mint()).status, (await mint()).status]).toEqual([409, 409])
      hostile.attack(null)
      expect((await mint()).status).toBe(201)
    }
    expect((await read()).status).toBe('ready')
  })

  test('is not paused by refusals, which neither add to the count nor reset it', async () => {
    const verify = async () =>
      (await world.call(leases.verifyTarget, { as, params: { orgId, targetId } })).body.target.status
    const refusedAtTarget = async (times: number) => {
      await shop.root.query('ALTER ROLE skerry_admin NOLOGIN')
      for (let time = 0; time < times; time++) {
        expect((await mint()).error?.message).toMatch(/^target: .*is not permitted to log in/)
        expect(await verify()).toBe('failing')
      }
      await shop.root.query('ALTER ROLE skerry_admin LOGIN')
    }
    await refusedAtTarget(4)
    expect(await verify()).toBe('ready')

    hostile.attack(bytes('44 00000006 ffff'))
    for (let time = 0; time < 2; time++) expect((await mint()).status).toBe(409)
    hostile.attack(null)
    await refusedAtTarget(2)
    hostile.attack(bytes('44 00000006 ffff'))
    expect((await mint()).status).toBe(409)
    expect((await read()).status).toBe('paused')
    hostile.attack(null)
    expect(await verify()).toBe('ready')
  })
})
