import { globSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { manifestOf } from './external-secrets.ts'
import { ask, callerToken, openServeScene, other, portOf, stop, value } from './serve-scene.ts'
import { bootSystemd, hasSystemd } from './systemd.ts'

// `skerry serve` gives secrets to programs that open its socket, and to systemd.

const { liar, token, freshMachine, serve } = await openServeScene()

describe('a socket', () => {
  it('can be opened by its owner alone, needs no token, and is gone at the end', async () => {
    const machine = await freshMachine()
    const socketPath = join(machine.home, 'serve.sock')
    const serving = await serve(machine, ['--socket', socketPath, '--only', 'OTHER'])
    expect(statSync(socketPath).mode & 0o777).toBe(0o600)
    expect(await ask({ socketPath }, '/v1/secrets/OTHER')).toMatchObject({ status: 200 })
    expect(JSON.parse((await ask({ socketPath }, '/v1/secrets')).text)).toEqual({ OTHER: other })
    expect(await ask({ socketPath }, '/v1/secrets/DATABASE_URL')).toMatchObject({
      status: 403,
      text: expect.stringContaining('started without DATABASE_URL'),
    })
    expect(await machine.skerry(['serve', '--socket', socketPath])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('another program listens on'),
    })
    expect(await stop(serving)).toMatchObject({ code: 0, signal: null, stdout: '' })
    expect(statSync(socketPath, { throwIfNoEntry: false })).toBeUndefined()
  })

  it('that a killed process has left is replaced, and a file is not', async () => {
    const machine = await freshMachine()
    const socketPath = join(machine.home, 'serve.sock')
    const killed = await serve(machine, ['--socket', socketPath])
    killed.child.kill('SIGKILL')
    await killed.ended
    await serve(machine, ['--socket', socketPath])
    expect((await ask({ socketPath }, '/v1/secrets/OTHER')).status).toBe(200)
    expect(await machine.skerry(['serve', '--socket', machine.env.SKERRY_TOKEN_FILE!])).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('exists and is not a socket'),
    })
    expect(await machine.read('../token')).toBe(`${token}\n`)
  })

  it('is shared with the program by the sidecar of integrations/kubernetes', async () => {
    const machine = await freshMachine()
    const { initContainers, containers } = manifestOf('Deployment', 'shop', 'sidecar.yaml').spec.template.spec
    const [, , ...args] = initContainers[0].args as string[]
    const [{ value: path }] = containers[0].env
    const socketPath = join(machine.home, 'serve.sock')
    await serve(
      machine,
      args.map((one) => one.replace(path, socketPath)),
    )
    expect((await ask({ socketPath }, '/v1/secrets/OTHER')).status).toBe(200)
  })

  it('is in the own folder unless another is named', async () => {
    const machine = await freshMachine()
    const serving = await serve(machine, [], { XDG_RUNTIME_DIR: machine.home })
    expect(serving.told()).toContain(`on the socket ${machine.home}/skerry/serve`)
    const socketPath = join(machine.home, 'skerry/serve')
    expect((await ask({ socketPath }, '/v1/secrets/OTHER')).status).toBe(200)
  })
})

describe('LoadCredential= of systemd', () => {
  /** Connects as systemd does: it closes its sending side, and reads to the end. */
  const load = (path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const connection = createConnection({ path, allowHalfOpen: true })
      let text = ''
      connection.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      connection.on('connect', () => connection.end())
      connection.on('end', () => resolve(text)).on('error', reject)
    })

  it('reads a value from a socket of the secret’s name, which only its owner can open', async () => {
    const machine = await freshMachine()
    const folder = join(machine.home, 'credentials')
    await serve(machine, ['--credentials', folder])
    expect(await load(join(folder, 'DATABASE_URL'))).toBe(value)
    expect(await load(join(folder, 'OTHER'))).toBe(other)
    expect(globSync('*', { cwd: folder }).sort()).toEqual(['DATABASE_URL', 'OTHER'])
    expect([folder, join(folder, 'OTHER')].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600])
  })

  it('makes no socket in a folder where another user could replace it', async () => {
    const machine = await freshMachine()
    const folder = join(machine.home, 'open')
    mkdirSync(folder)
    for (const mode of [0o777, 0o1777, 0o775]) {
      await chmod(folder, mode)
      expect(await machine.skerry(['serve', '--credentials', folder])).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(`other users may write to ${folder}`),
      })
    }
    expect(readdirSync(folder)).toEqual([])
  })

  it('waits while the server lies, and never gets an empty credential', async () => {
    const machine = await freshMachine()
    const folder = join(machine.home, 'credentials')
    const serving = await serve(machine, ['--credentials', folder, '--port', '0'])
    liar.lie(/\/resolve/, (body) => ({ ...body, directory: null }))
    const health = async () => (await ask({ port: portOf(serving) }, '/health')).status
    await expect.poll(health, { interval: 250 }).toBe(503)
    const loading = load(join(folder, 'DATABASE_URL'))
    expect(await Promise.race([loading, health()])).toBe(503)
    liar.repent()
    expect(await loading).toBe(value)
  })

  it.skipIf(!hasSystemd())(
    'is read by systemd itself, with the line of integrations/systemd/shop.service',
    async () => {
      const machine = await freshMachine()
      const folder = join(machine.home, 'credentials')
      await serve(machine, ['--credentials', folder])
      const unit = readFileSync(new URL('../../../integrations/systemd/shop.service', import.meta.url), 'utf8')
      const [line = ''] = /^LoadCredential=.*$/m.exec(unit) ?? []
      const out = join(machine.home, 'out')
      const lines = [
        '[Unit]',
        'DefaultDependencies=no',
        '[Service]',
        'Type=exec',
        line.replace('/run/skerry/', `${folder}/`),
        `ExecStart=/bin/sh -c 'cat %d/database-url > ${out}.new && mv ${out}.new ${out}'`,
      ]
      const stopSystemd = await bootSystemd(machine.home, { 'shop.service': lines.join('\n') }, 'shop.service')
      try {
        await expect.poll(() => machine.read('../out').catch(() => ''), { interval: 100 }).toBe(value)
      } finally {
        await stopSystemd()
      }
    },
  )

  it('systemd hears when the sockets are there', async () => {
    const machine = await freshMachine()
    const notify = join(machine.home, 'bin/systemd-notify')
    await machine.write(
      '../bin/systemd-notify',
      `#!/bin/sh\necho "$@" > ${machine.home}/notified.new\nmv ${machine.home}/notified.new ${machine.home}/notified\n`,
    )
    await chmod(notify, 0o755)
    await serve(machine, ['--credentials', join(machine.home, 'credentials')], { NOTIFY_SOCKET: '/run/systemd/notify' })
    await expect.poll(() => machine.read('../notified').catch(() => ''), { interval: 50 }).toBe('--ready\n')
  })
})

it('no value and no service token is in the log or on the disk', async () => {
  const machine = await freshMachine()
  const serving = await serve(machine, ['--port', '0', '--credentials', join(machine.home, 'credentials')])
  const headers = { authorization: `Bearer ${callerToken(serving)}` }
  expect((await ask({ port: portOf(serving) }, '/v1/secrets', { headers })).status).toBe(200)
  const { stdout, stderr } = await stop(serving)
  const files = readdirSync(machine.home, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && one.name !== 'token')
    .map((one) => readFileSync(join(one.parentPath, one.name), 'utf8'))
  expect(files.length).toBeGreaterThan(0)
  for (const text of [stdout, stderr, ...files])
    for (const secret of ['s3cret-of-db', 'a second line', token.slice(27)]) expect(text).not.toContain(secret)
})
