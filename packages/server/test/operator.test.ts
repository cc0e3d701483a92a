import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { mail } from '../src/features/notifications/jobs.ts'
import type { DeadLetter } from '../src/jobs/dead-letters.ts'
import type { RunningServer } from '../src/server.ts'
import { engine, newDatabase, type TestDatabase } from './engine.ts'
import { freePort } from './services/free-port.ts'
import { startMailServer } from './services/smtp.ts'
import { until } from './until.ts'
import { start } from './world.ts'

const program = fileURLToPath(new URL('../src/operator/main.js', import.meta.url))

let dataDir: string
let database: TestDatabase
let settings: Record<string, string>
let server: RunningServer
let smtpPort: number

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'skerry-operator-'))
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
}, 60_000)
afterAll(async () => {
  await server.close()
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

const startServer = () => start(readConfig(settings), [], () => new Date())

/** A mail whose only attempt finds no SMTP server. */
async function failForGood(to: string): Promise<void> {
  const { db, queue } = server.context
  await db.transaction(async (tx) => {
    await queue.enqueue(tx, mail, { to, subject: 'A subject', text: 'A text' })
    await tx.rows(`update jobs.job set retry_limit = 0 where name = 'mail' and state = 'created'`)
  })
  queue.nudge(mail)
  await until('it to be kept', () =>
    db.row(`select 1 from jobs.job where name = 'dead_letters' and data->>'to' = $1`, [to]),
  )
}

/** What `skerry-server` says and how it ends, with the settings of the server. */
const operate = (...args: string[]) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const env = { PATH: process.env.PATH, ...settings }
    const child = execFile(process.execPath, [program, ...args], { env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })

async function listed(): Promise<DeadLetter[]> {
  const { code, stdout, stderr } = await operate('jobs', 'list', '--json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout).jobs
}

test.runIf(engine() === 'embedded')('a running server keeps commands out of its embedded database', async () => {
  const { code, stdout, stderr } = await operate('jobs', 'list')
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(`${dataDir} is in use by process ${process.pid}`)
})

test('jobs that failed for good are listed, shown, dropped and run again', async () => {
  // PostgreSQL is shared with the server, which goes on running.
  if (engine() === 'embedded') await server.close()
  const [dropped, kept] = (await listed()) as [DeadLetter, DeadLetter]
  expect([dropped, kept]).toMatchObject([
    { job: 'mail', attempts: 1, data: { to: 'dropped@example.com' } },
    { job: 'mail', attempts: 1, data: { to: 'kept@example.com' }, error: { code: 'ESOCKET' } },
  ])
  expect((await operate('jobs', 'list')).stdout).toMatch(new RegExp(`^${dropped.id} .* mail .*\n${kept.id} .*\n$`))
  expect(JSON.parse((await operate('jobs', 'show', kept.id)).stdout)).toEqual(kept)

  const mistyped = await operate('jobs', 'drop', dropped.id, 'mistyped')
  expect([mistyped.code, mistyped.stderr]).toEqual([1, expect.stringContaining('No failed job has the id mistyped')])
  expect(await listed()).toHaveLength(2)

  expect((await operate('jobs', 'drop', dropped.id)).stdout).toBe('1 job is forgotten.\n')
  expect((await operate('jobs', 'retry', '--all')).stdout).toContain('1 job is back in the queue')
  expect((await operate('jobs', 'list')).stdout).toBe('No job has failed for good.\n')

  const mails = await startMailServer(smtpPort)
  if (engine() === 'embedded') server = await startServer()
  await server.context.db.rows(`update jobs.job set start_after = now() where state = 'retry'`)
  server.context.queue.nudge(mail)
  await until('the mail', () => mails.received.length > 0)
  expect(mails.received.map(({ to }) => to)).toEqual([['kept@example.com']])
  await server.context.mailer.close()
  await mails.close()
}, 60_000)

test('a command that cannot be done says so and ends with 1 or 2', async () => {
  expect(await operate('jobs', 'retry')).toMatchObject({ code: 1 })
  expect(await operate('jabs')).toMatchObject({ code: 2, stdout: '' })
  settings = { ...settings, SKERRY_DATABASE_URL: '', SKERRY_DATA_DIR: join(dataDir, 'elsewhere') }
  const { code, stderr } = await operate('jobs', 'list')
  expect([code, stderr]).toEqual([1, expect.stringContaining(`There is no database in ${dataDir}/elsewhere`)])
})
