import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { audit } from '@skerry/contract/audit/endpoints'
import { billing } from '@skerry/contract/billing/endpoints'
import { signup } from '@skerry/contract/signup/endpoints'
import { afterAll, beforeAll, expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { readConfig } from '../src/config.ts'
import { seal } from '../src/features/audit-proof/seal.ts'
import { mail } from '../src/features/notifications/jobs.ts'
import type { DeadLetter } from '../src/jobs/dead-letters.ts'
import { commands } from '../src/operator/table.ts'
import type { RunningServer } from '../src/server.ts'
import { engine, newDatabase, type TestDatabase } from './engine.ts'
import { operate as operateIn, operateProcess } from './operate.ts'
import { newScratch } from './scratch.ts'
import { freePort } from './services/free-port.ts'
import { startMailServer } from './services/smtp.ts'
import { until } from './until.ts'
import { call, start } from './world.ts'

let dataDir: string
let database: TestDatabase
let settings: Record<string, string>
let server: RunningServer
let smtpPort: number

beforeAll(async () => {
  dataDir = await newScratch('skerry-operator-')
  database = await newDatabase(dataDir)
  smtpPort = await freePort()
  settings = {
    SKERRY_DATA_DIR: dataDir,
    SKERRY_PORT: '0',
    SKERRY_SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
    ...database.settings,
  }
  server = await startServer()
  for (const to of ['dropped@example.com', 'kept@example.com']) await failForGood(to)
}, 600_000)
afterAll(async () => {
  await server.close()
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

const startServer = () => start(readConfig(settings), [], () => new Date())

/** Queues a mail whose last attempt fails, because no SMTP server runs. */
async function failForGood(to: string): Promise<void> {
  const { db, queue } = server.context
  await db.transaction(async (tx) => {
    await queue.enqueue(tx, mail, { to, subject: 'A subject', text: 'A text' })
    await tx.rows(`update jobs set attempts = 100 where name = 'mail' and state = 'waiting'`)
  })
  queue.nudge(mail)
  await until('it to be kept', () => db.row(`select 1 from jobs where state = 'dead' and data->>'to' = $1`, [to]))
}

/** Runs `skerry-server` with the settings of the server. */
const operate = (...args: string[]) => operateIn(settings, args)

async function listed(): Promise<DeadLetter[]> {
  const { code, stdout, stderr } = await operate('jobs', 'list', '--json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout).jobs
}

test.runIf(engine() === 'embedded')('commands refuse an embedded database that a running server uses', async () => {
  const { code, stdout, stderr } = await operateProcess(settings, ['jobs', 'list'])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(`${dataDir} is in use by process ${process.pid}`)
})

test('--help of each command prints its usage, and --version the version', async () => {
  for (const { name } of commands) {
    const { code, stdout } = await operate(name, '--help')
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Usage: skerry-server ${name} `)])
  }
  expect((await operate('--help')).stdout).toMatch(/^ {2}start {2,}Start the server/m)
  expect(await operate('--version')).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' })
})

test.each(['main.js', 'operator/main.js'])('%s starts no server if it is given more than start', async (file) => {
  const settings = { SKERRY_DATA_DIR: join(dataDir, 'none') }
  const word = file === 'main.js' ? [] : ['start']
  const help = await operateProcess(settings, [...word, '--help'], file)
  expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('Usage: skerry-server start')])
  expect(await operateProcess(settings, [...word, '--hlep'], file)).toMatchObject({ code: 2, stdout: '' })
  expect(existsSync(settings.SKERRY_DATA_DIR)).toBe(false)
})

test('the operator can list, show, drop and retry jobs that failed for good', async () => {
  // With PostgreSQL the server can keep running.
  if (engine() === 'embedded') await server.close()
  const [dropped, kept] = (await listed()) as [DeadLetter, DeadLetter]
  expect([dropped, kept]).toMatchObject([
    { job: 'mail', attempts: 101, data: { to: 'dropped@example.com' } },
    { job: 'mail', attempts: 101, data: { to: 'kept@example.com' }, error: { code: 'ESOCKET' } },
  ])
  const printed = await operateProcess(settings, ['jobs', 'list'])
  expect(printed.stdout).toMatch(new RegExp(`^${dropped.id} .* mail .*\n${kept.id} .*\n$`))
  expect(JSON.parse((await operate('jobs', 'show', kept.id)).stdout)).toEqual(kept)

  const mistyped = await operate('jobs', 'drop', dropped.id, 'mistyped')
  expect([mistyped.code, mistyped.stderr]).toEqual([1, expect.stringContaining('No failed job has the id mistyped')])
  expect(await listed()).toHaveLength(2)

  expect((await operate('jobs', 'drop', dropped.id)).stdout).toBe('1 job is forgotten.\n')
  expect((await operate('jobs', 'retry', '--all')).stdout).toContain('1 job is back in the queue')
  expect((await operate('jobs', 'list')).stdout).toBe('No job has failed for good.\n')

  const mails = await startMailServer({ port: smtpPort })
  if (engine() === 'embedded') server = await startServer()
  await server.context.db.rows(`update jobs set due_at = now() where state = 'waiting'`)
  server.context.queue.nudge(mail)
  await until('the mail', () => mails.received.length > 0)
  expect(mails.received.map(({ to }) => to)).toEqual([['kept@example.com']])
  await server.context.mailer.close()
  await mails.close()
}, 600_000)

test('the operator can give plans, overrides and promo codes, and the organization’s audit log records them', async () => {
  const signedUp = await call(server.url, [], signup.create, { body: { orgName: 'Acme', orgSlug: 'acme' } })
  const { clientId, clientSecret } = signedUp.body.m2m
  const as = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
  const params = { orgId: signedUp.body.org.id }
  await seal(server.context)
  if (engine() === 'embedded') await server.close()
  const plan = async (...args: string[]) => {
    const { code, stdout, stderr } = await operate('plan', ...args)
    return code === 0 ? stdout : `${code} ${stderr}`
  }
  expect(await plan('assign', 'acme', 'vault', 'pro', '--until', '2099-01-01T00:00:00Z')).toContain('Vault Pro')
  expect(await plan('assign', 'acme', 'platform', 'gold')).toContain('1 skerry-server: There is no plan platform gold.')
  expect(await plan('assign', 'acme', 'vault', 'pro', '--until', '2020-01-01T00:00:00Z')).toContain(
    'an instant of the future',
  )
  expect(await plan('assign', 'nobody', 'vault', 'pro')).toContain('There is no organization nobody.')
  expect(await plan('set', 'acme', 'members', '80', '--reason', 'agreed')).toContain('members of acme is 80')
  expect(await plan('set', 'acme', 'members', 'many', '--reason', 'agreed')).toContain('a whole number')
  expect(await plan('set', 'acme', 'feature.sync', '1', '--reason', 'agreed')).toContain('is yes or no')
  expect(await plan('set', 'acme', 'apps', 'unlimited', '--reason', 'agreed')).toContain('apps of acme is unlimited')
  expect(await plan('unset', 'acme', 'apps')).toContain('is what its plan says')
  expect(await plan('unset', 'acme', 'apps')).toContain('acme has no override of apps')
  expect(await plan('promo', 'add', 'spring-1', 'platform', 'team', '--days', '30')).toBe('SPRING-1 gives Team.\n')
  expect(await plan('promo', 'add', 'SPRING-1', 'platform', 'team')).toContain('There is a code SPRING-1 already.')
  expect(await plan('promo', 'add', 'FREE-1', 'platform', 'free')).toContain('above the free one')
  expect(JSON.parse(await plan('promo', 'list')).promos).toMatchObject([{ code: 'SPRING-1', days: 30, uses: 0 }])
  const archive = async (before: string) =>
    (await operate('audit', 'archive', 'acme', '--before', before, '--out', join(dataDir, 'trail.jsonl'))).stderr
  expect(await archive('2999-01')).toContain('--before is a month such as 2026-01, and not one to come.')
  // A server makes its own server key only with the embedded database.
  expect(await archive('2020-01')).toContain(
    engine() === 'embedded'
      ? 'no sealed entries from before'
      : 'the trail is not signed, because the server has no server key',
  )
  if (engine() === 'embedded') server = await startServer()
  const { body } = await call(server.url, [], billing.promo, { as, params, body: { code: 'SPRING-1' } })
  expect(body.families.map((one) => one.plan.id)).toEqual(['team', 'pro'])
  expect(body.overrides).toEqual([{ key: 'members', value: 80, reason: 'agreed' }])
  const { entries } = (await call(server.url, [], audit.list, { as, params, query: { resourceType: 'billing' } })).body
  expect(
    entries
      .filter(({ actorType }) => actorType === 'system')
      .map(({ action }) => action)
      .reverse(),
  ).toEqual(['billing.plan_assigned', 'billing.override_set', 'billing.override_set', 'billing.override_removed'])
}, 600_000)

test('a command that fails prints the reason and exits with 1 or 2', async () => {
  expect(await operate('jobs', 'retry')).toMatchObject({ code: 1 })
  expect(await operate('jabs')).toMatchObject({ code: 2, stdout: '' })
  settings = { ...settings, SKERRY_DATABASE_URL: '', SKERRY_DATA_DIR: join(dataDir, 'elsewhere') }
  const { code, stderr } = await operate('jobs', 'list')
  expect([code, stderr]).toEqual([1, expect.stringContaining(`There is no database in ${dataDir}/elsewhere`)])
})
