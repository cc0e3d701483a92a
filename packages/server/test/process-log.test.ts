import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { engine, newDatabase, type TestDatabase } from './engine.ts'
import { newScratch } from './scratch.ts'
import { freePort } from './services/free-port.ts'
import { until } from './until.ts'
import { builtIn, serverKey } from './world.ts'

const main = fileURLToPath(new URL('../src/main.js', import.meta.url))

let dataDir: string
let database: TestDatabase
beforeAll(async () => {
  dataDir = await newScratch('skerry-process-log-')
  database = await newDatabase(dataDir)
})
afterAll(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

interface Line {
  level: string
  message: string
  [field: string]: unknown
}

interface Running {
  child: ChildProcess
  /** Resolves when the process has ended and all its output has been read. */
  closed: Promise<unknown>
  /** All printed lines of both streams. Throws if a line is not JSON. */
  lines(): Line[]
  find(text: string): Line | undefined
}

/**
 * Starts a real server.
 *
 * @param fault a script that runs in it beside the server
 */
function start(settings: Record<string, string>, fault = ''): Running {
  // In a file, so that a stack trace names the file and does not quote the script.
  const preload = join(dataDir, 'fault.mjs')
  writeFileSync(preload, fault)
  const child = spawn(process.execPath, ['--import', preload, main], {
    env: {
      ...{ PATH: process.env.PATH, SKERRY_PORT: '0', SKERRY_DATA_DIR: dataDir, SKERRY_SERVER_KEY: serverKey },
      ...{ ...database.settings, ...builtIn, ...settings },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await closed
  })
  const texts = ['', '']
  child.stdout.on('data', (chunk) => (texts[0] += chunk))
  child.stderr.on('data', (chunk) => (texts[1] += chunk))
  const lines = () =>
    texts.flatMap((text) =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Line),
    )
  return { child, closed, lines, find: (text) => lines().find(({ message }) => message.includes(text)) }
}

const ended = async ({ child, closed }: Running): Promise<number | null> => {
  await closed
  return child.exitCode
}

/** A script that runs the code when the process gets SIGUSR2. */
const onSignal = (code: string) => `process.on('SIGUSR2', () => { ${code} })`

const isComplete = ({ level, message, time }: Line) =>
  ['error', 'warn', 'info'].includes(level) && message !== '' && !Number.isNaN(Date.parse(String(time)))

describe('every line of a server’s output is JSON', () => {
  test('when it starts, including the set-up link, which is printed at any log level', async () => {
    const server = start({ SKERRY_LOG_LEVEL: 'silent' })
    const { link, level, message } = await until('the link', () => server.find('Nobody has set up this server'))
    expect([level, link]).toEqual(['info', expect.stringMatching(/\/set-up#[\w-]{43}$/)])
    expect(message).toMatch(/`skerry signup "Acme" --email you@example\.com --url http:\/\/127\.0\.0\.1:\d+`/)
    expect(server.lines()).toHaveLength(1)
  })

  test('and names the link alone if signing up is closed', async () => {
    const server = start({ SKERRY_BASE_URL: 'https://skerry.example.com', SKERRY_TRUSTED_PROXIES: 'loopback' })
    const { message } = await until('the link', () => server.find('Nobody has set up this server'))
    expect(message).toContain('Open the link within 24 hours: it makes an organization that you own')
    expect(message).not.toContain('--url')
    expect(server.find('mails are written to')?.message).toContain(`written to ${resolve(dataDir, 'outbox')}, because`)
  })

  test.runIf(engine() === 'postgres')('when nobody can sign in, with the way to make a server key', async () => {
    const server = start({ SKERRY_SERVER_KEY: '' })
    const { level, message } = await until('the warning', () => server.find('nobody can sign in'))
    expect([level, message]).toEqual(['warn', expect.stringContaining('SKERRY_SERVER_KEY is not set')])
    expect(server.find('Nobody has set up')).toBeUndefined()
  })

  test.each([
    [
      'an unknown setting',
      { SKERRY_DATABSE_URL: 'hunter2' },
      'a setting is wrong: SKERRY_DATABSE_URL: no such setting',
    ],
    ['an unknown host name', { SKERRY_HOST: 'nowhere.invalid', SKERRY_ALLOW_PLAINTEXT: 'yes' }, 'SKERRY_HOST'],
    ['a wrong server key', { SKERRY_SERVER_KEY: Buffer.alloc(32, 9).toString('base64url') }, 'a setting is wrong'],
  ])('when it cannot start because of %s', async (_, settings, says) => {
    const server = start(settings)
    expect(await ended(server)).toBe(1)
    expect(server.lines().at(-1)).toMatchObject({ level: 'error', message: expect.stringContaining(says) })
    expect(server.lines().every(isComplete)).toBe(true)
    expect(JSON.stringify(server.lines())).not.toContain('hunter2')
  })

  test('when its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const server = start({ SKERRY_PORT: String((other.address() as AddressInfo).port) })
    expect(await ended(server)).toBe(1)
    expect(server.find('cannot start: ')?.message).toContain('EADDRINUSE')
    other.close()
  })

  test('when Node warns, a library prints and the SMTP server is away', async () => {
    const early = `process.emitWarning('early', { code: 'EARLY' })`
    const later = `process.emitWarning('later'); console.log('hunter2'); console.error('hunter2')`
    const server = start(
      { SKERRY_SMTP_URL: `smtp://127.0.0.1:${await freePort()}`, SKERRY_SIGNUP: 'open' },
      `${early}; ${onSignal(later)}`,
    )
    await until('it to listen', () => server.find('listens on'))
    server.child.kill('SIGUSR2')
    // Node emits the warning a moment after the call.
    await until('the warning and both calls of console', () => {
      const lines = server.lines()
      return (
        lines.some(({ text }) => text === 'later') && lines.filter(({ method }) => method !== undefined).length === 2
      )
    })
    expect(server.lines().flatMap(({ text }) => (text === undefined ? [] : [text]))).toEqual(['early', 'later'])
    expect(JSON.stringify(server.lines())).not.toContain('hunter2')
    expect(server.lines().every(isComplete)).toBe(true)
  })

  test.each([
    ['an error that nobody caught', `throw new TypeError('hunter2')`, 'an error that nobody caught'],
    ['a rejection that nobody handled', `Promise.reject(new TypeError('hunter2'))`, 'a rejection that nobody handled'],
  ])('when %s ends it', async (_, code, says) => {
    const server = start({}, onSignal(code))
    await until('it to listen', () => server.find('listens on'))
    server.child.kill('SIGUSR2')
    expect(await ended(server)).toBe(1)
    const line = server.find(says)
    expect([line?.level, line?.error, Array.isArray(line?.stack)]).toEqual(['error', 'TypeError', true])
    expect(JSON.stringify(server.lines())).not.toContain('hunter2')
  })
})
