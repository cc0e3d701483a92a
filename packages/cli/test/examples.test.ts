import { execFile } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { freePort } from '../../server/test/services/free-port.ts'
import { childrenOf, type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

// The examples of integrations/examples are started as their READMEs say. Their frameworks are installed for that, and are
// no dependencies of Skerry. A test is skipped if the registry does not answer, or if the machine lacks the language.

const folder = fileURLToPath(new URL('../../../integrations/examples', import.meta.url))
const run = promisify(execFile)
/** The words of npm and pip if the registry does not answer. */
const isAway = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|No matching distribution|NewConnectionError/

let server: Server
let machine: Machine
let running: ReturnType<Machine['start']>[] = []

beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Examples Org', { cold: true })
  const secrets = {
    DATABASE_URL: 'postgres://shop:s3cret@db.internal/shop',
    API_KEY: 'k3y-of-api',
    SECRET_KEY: 'django-key',
  }
  for (const [name, input] of Object.entries({ ...secrets, VITE_SHOP_NAME: 'Corner Shop' }))
    expect(await machine.skerry(['secrets', 'set', name], { input })).toMatchObject({ code: 0 })
})
afterEach(async () => {
  for (const { child, ended } of running) {
    // npm and Next.js start the server in a child.
    for (const pid of [child.pid!, ...childrenOf(child.pid!).flatMap((one) => [one, ...childrenOf(one)])]) kill(pid)
    await ended
  }
  running = []
})
afterAll(async () => {
  await machine.remove()
  await server.close()
})

function kill(pid: number) {
  try {
    process.kill(pid, 'SIGTERM')
  } catch {
    // It has ended with its parent.
  }
}

/** Copies an example into the project, and installs what it needs. */
async function install(name: string, context: TestContext, command: [string, ...string[]]): Promise<string> {
  const cwd = join(machine.project, name)
  await cp(join(folder, name), cwd, { recursive: true })
  const [file, ...args] = command
  try {
    await run(file, args, { cwd, timeout: 120_000 })
  } catch (error) {
    const { code, killed, stderr = '' } = error as { code?: string; killed?: boolean; stderr?: string }
    if (killed || code === 'ENOENT' || isAway.test(stderr)) context.skip(`${file} cannot install what ${name} needs`)
    throw error
  }
  return cwd
}

const npm = ['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts'] as [string, ...string[]]

/** Starts `skerry run -- <program>`, and waits until it answers. */
async function start(cwd: string, program: string[], url: string, env: Record<string, string> = {}): Promise<string> {
  const started = machine.start(['run', '--', ...program], { cwd, env: { NEXT_TELEMETRY_DISABLED: '1', ...env } })
  running.push(started)
  const outcome = { text: '' }
  started.ended.then(({ stdout, stderr }) => {
    outcome.text = `ended: ${stdout}${stderr}`
  })
  await expect
    .poll(
      async () => {
        if (outcome.text !== '') return outcome.text
        return fetch(url).then(
          (answer) => answer.status,
          () => 'no answer',
        )
      },
      { interval: 200 },
    )
    .toBe(200)
  return (await fetch(url)).text()
}

/** The program of a script of package.json, which begins with `skerry run`. */
async function scriptOf(cwd: string, name: string): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(join(cwd, 'package.json'), 'utf8'))
  const [, program] = /^skerry run (?:--watch )?-- (.*)$/.exec(scripts[name])!
  return program!.split(' ')
}

describe('an example is started with its secrets:', () => {
  it('Express', async (context) => {
    const cwd = await install('express', context, npm)
    const port = await freePort()
    const program = await scriptOf(cwd, 'start')
    const text = await start(cwd, program, `http://127.0.0.1:${port}/`, { PORT: String(port) })
    expect(text).toBe('{"database":"db.internal"}')
    running[0]!.child.kill('SIGTERM')
    expect(await running[0]!.ended).toMatchObject({ code: 0 })
    running = []
  })

  it('Vite, whose build has the public value alone', async (context) => {
    const cwd = await install('vite', context, npm)
    const heard: (string | undefined)[] = []
    const api = createServer((request, response) => {
      heard.push(request.headers.authorization)
      response.end('{"ok":true}')
    }).listen(0, '127.0.0.1')
    await new Promise((done) => api.once('listening', done))
    try {
      const port = await freePort()
      const { port: apiPort } = api.address() as AddressInfo
      const program = [...(await scriptOf(cwd, 'dev')), '--port', String(port), '--host', '127.0.0.1', '--strictPort']
      const bin = { PATH: `${cwd}/node_modules/.bin:${machine.env.PATH}`, API_URL: `http://127.0.0.1:${apiPort}` }
      const page = await start(cwd, program, `http://127.0.0.1:${port}/`, bin)
      expect(page).toContain('<script type="module" src="/src/main.js">')
      expect(await (await fetch(`http://127.0.0.1:${port}/api/items`)).json()).toEqual({ ok: true })
      expect(heard).toEqual(['Bearer k3y-of-api'])
      expect(await (await fetch(`http://127.0.0.1:${port}/src/main.js`)).text()).not.toContain('k3y-of-api')
      const built = await machine.shell('npm run build', { cwd, env: bin })
      expect([built.code, built.stderr]).toEqual([0, expect.anything()])
      const { stdout } = await machine.shell('cat dist/assets/*.js dist/index.html', { cwd })
      expect(stdout).toContain('Corner Shop')
      expect(stdout).not.toMatch(/k3y-of-api|s3cret/)
    } finally {
      api.close()
    }
  })

  it('Next.js, whose build has no secret', async (context) => {
    const cwd = await install('nextjs', context, npm)
    const bin = { PATH: `${cwd}/node_modules/.bin:${machine.env.PATH}`, NEXT_TELEMETRY_DISABLED: '1' }
    const built = await machine.shell('npm run build', { cwd, env: bin })
    expect(built.code, built.stdout + built.stderr).toBe(0)
    const port = await freePort()
    const program = [...(await scriptOf(cwd, 'start')), '--port', String(port), '--hostname', '127.0.0.1']
    const page = await start(cwd, program, `http://127.0.0.1:${port}/`, bin)
    expect(page).toContain('db.internal')
    expect(page).not.toContain('s3cret')
    expect((await machine.shell('grep -rl "s3cret" .next || true', { cwd })).stdout).toBe('')
  })

  it('Django', async (context) => {
    const setUp =
      'python3 -m venv .venv && .venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt'
    const cwd = await install('django', context, ['sh', '-c', setUp])
    const port = await freePort()
    const program = ['.venv/bin/python', 'manage.py', 'runserver', '--noreload', `127.0.0.1:${port}`]
    expect(JSON.parse(await start(cwd, program, `http://127.0.0.1:${port}/`))).toEqual({ database: 'db.internal' })
    const without = await machine.shell('.venv/bin/python manage.py check', { cwd })
    expect([without.code, without.stderr]).toEqual([1, expect.stringContaining("KeyError: 'SECRET_KEY'")])
  })

  it('the program of the Docker Compose example', async () => {
    const cwd = join(machine.project, 'docker-compose')
    await cp(join(folder, 'docker-compose'), cwd, { recursive: true })
    const port = await freePort()
    const text = await start(cwd, ['node', 'server.js'], `http://127.0.0.1:${port}/`, { PORT: String(port) })
    expect(text).toBe('{"database":"db.internal"}')
  })
})
