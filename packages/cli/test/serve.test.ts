import { globSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { request } from 'node:http'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { getSecret, getSecretMap, manifestOf, NoSecretError } from './external-secrets.ts'
import { type Liar, openLiar } from './hostile/liar.ts'
import { type Machine, newMachine } from './machine.ts'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'
import { bootSystemd, hasSystemd } from './systemd.ts'

// `skerry serve` gives secrets to programs that ask for them. The server is a real one, and lies when a test says so.

let server: PeopleServer
let liar: Liar
let ada: PersonMachine
/** A token with a pin, so that a lie is noticed by a machine that nobody has used before. */
let token: string
let running: Serving[] = []
const machines: Machine[] = []

const value = 'postgres://shop:s3cret-of-db@db/shop'
const other = 'a second line\nof "text" \u00fc'

interface Serving {
  machine: Machine
  child: ReturnType<Machine['start']>['child']
  ended: ReturnType<Machine['start']>['ended']
  told: () => string
}

beforeAll(async () => {
  server = await openPeopleServer()
  liar = await openLiar(server.url)
  ada = await newKeyHolder(server, 'serve@example.com', liar.url)
  await ada.ok('skerry keys unlock && skerry org create "Serve" && skerry init --yes --env development')
  await setSecret('DATABASE_URL', value)
  await setSecret('OTHER', other)
  await ada.ok('skerry trust init --yes')
  token = (await ada.ok('skerry token create serve --env development')).trim()
})
afterEach(async () => {
  liar.repent()
  await Promise.all(running.map(stop))
  running = []
})
afterAll(async () => {
  await ada.ok('skerry keys lock')
  await Promise.all([ada, ...machines].map((machine) => machine.remove()))
  await liar.close()
  await server.close()
})

const setSecret = async (name: string, text: string) => {
  const { code, stderr } = await ada.skerry(['secrets', 'set', name], { input: text })
  expect(code, stderr).toBe(0)
}

async function freshMachine(url = liar.url): Promise<Machine> {
  const machine = await newMachine(url)
  machines.push(machine)
  await machine.write('../token', `${token}\n`)
  machine.env.SKERRY_TOKEN_FILE = join(machine.home, 'token')
  return machine
}

/** Starts `skerry serve`, and waits until it says that it listens. */
async function serve(machine: Machine, args: string[], env: Record<string, string> = {}): Promise<Serving> {
  const { child, ended, tells } = machine.start(['serve', ...args], { env })
  let text = ''
  child.stderr!.on('data', (chunk) => {
    text += chunk
  })
  const serving = { machine, child, ended, told: () => text }
  running.push(serving)
  await tells(args.includes('--port') ? 'for callers with the token in' : 'shop/development')
  return serving
}

async function stop({ child, ended }: Serving) {
  child.kill('SIGTERM')
  return ended
}

const portOf = ({ told }: Serving) => Number(/127\.0\.0\.1:(\d+)/.exec(told())![1])
const callerToken = ({ told }: Serving) => readFileSync(/the token in (\S+)/.exec(told())![1]!, 'utf8').trim()

interface Asking {
  method?: string
  headers?: Record<string, string>
  body?: string
}

interface Heard {
  status: number
  headers: Record<string, unknown>
  text: string
}

function ask(at: { port: number } | { socketPath: string }, path: string, asking: Asking = {}): Promise<Heard> {
  const { method = 'GET', headers = {}, body } = asking
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', ...at, path, method, headers, agent: false }, async (answer) => {
      let text = ''
      for await (const chunk of answer.setEncoding('utf8')) text += chunk
      resolve({ status: answer.statusCode!, headers: answer.headers, text })
    })
    sent.on('error', reject).end(body)
  })
}

describe('the External Secrets Operator, with the manifests of integrations/kubernetes', () => {
  const [, , ...args] = manifestOf('Deployment', 'skerry').spec.template.spec.containers[0].args as string[]
  const tls = (file: string) => fileURLToPath(new URL(`../../server/test/tls/${file}`, import.meta.url))

  /** The arguments of the Deployment, with files and the port of this machine. */
  const here = (callerFile: string) =>
    args.map((one) =>
      one
        .replace('/run/caller/token', callerFile)
        .replace('/run/tls/tls.crt', tls('target.pem'))
        .replace('/run/tls/tls.key', tls('target.key'))
        .replace('--port=8700', '--port=0')
        .replace('--host=0.0.0.0', '--host=127.0.0.1'),
    )

  it('reads one secret, all secrets, and a value that has changed', async () => {
    const machine = await freshMachine()
    await machine.write('../caller', `${'c'.repeat(64)}\n`)
    const port = portOf(await serve(machine, here(join(machine.home, 'caller'))))
    const operator = { port, token: `${'c'.repeat(64)}\n` }
    const [{ remoteRef }] = manifestOf('ExternalSecret', 'shop').spec.data
    expect(await getSecret('skerry', remoteRef.key, operator)).toBe(value)
    expect(await getSecretMap('skerry-all', 'all', operator)).toEqual({ DATABASE_URL: value, OTHER: other })
    await expect(getSecret('skerry', 'MISSING', operator)).rejects.toThrow(NoSecretError)
    await expect(getSecret('skerry', 'a/b', operator)).rejects.toThrow('endpoint gave error 400')
    await expect(getSecret('skerry', remoteRef.key, { port, token: 'wrong' })).rejects.toThrow(
      'endpoint gave error 401',
    )
    await setSecret('OTHER', 'changed')
    await expect.poll(() => getSecret('skerry', 'OTHER', operator), { interval: 250 }).toBe('changed')
    await setSecret('OTHER', other)
    await expect.poll(() => getSecret('skerry', 'OTHER', operator), { interval: 250 }).toBe(other)
  })

  it('the manifests name the Secrets and the host that they use', () => {
    const { webhook } = manifestOf('SecretStore', 'skerry').spec.provider
    const { volumes } = manifestOf('Deployment', 'skerry').spec.template.spec
    const names = volumes.flatMap((one: { secret?: { secretName: string } }) => one.secret?.secretName ?? [])
    expect(names).toEqual(expect.arrayContaining([webhook.secrets[0].secretRef.name, webhook.caProvider.name]))
    expect(args).toContain(`--allow-host=${new URL(webhook.url.replace(/\{\{.*\}\}/, '')).hostname}`)
  })
})

describe('a port', () => {
  it('refuses every request but those that it is for, in a sentence and without a value', async () => {
    const machine = await freshMachine()
    const serving = await serve(machine, ['--port', '0'])
    const [port, secret] = [portOf(serving), callerToken(serving)]
    const authorization = `Bearer ${secret}`
    const rows: [path: string, asking: Asking, status: number, sentence: string][] = [
      ['/v1/secrets', {}, 401, 'send the token'],
      ['/v1/secrets/DATABASE_URL', {}, 401, 'send the token'],
      ['/v1/secrets', { headers: { authorization: `${authorization}x` } }, 401, 'this is not the token'],
      ['/v1/secrets', { headers: { authorization: secret } }, 401, 'this is not the token'],
      ['/v1/secrets', { headers: { authorization, host: 'evil.example.com' } }, 403, 'the Host header'],
      [
        '/v1/secrets',
        { headers: { authorization, host: `127.0.0.1.evil.example.com:${port}` } },
        403,
        'the Host header',
      ],
      ['/v1/secrets', { headers: { authorization }, method: 'POST', body: '{}' }, 405, 'use GET'],
      ['/v1/secrets', { headers: { authorization }, method: 'OPTIONS' }, 405, 'use GET'],
      ['/v1/secrets', { headers: { authorization, 'content-length': '2' }, body: '{}' }, 413, 'send no body'],
      ['/v1/secrets?token=x', { headers: { authorization } }, 400, 'without a query'],
      ['/v1/secrets/', { headers: { authorization } }, 400, 'without a query'],
      ['/v1/secret/DATABASE_URL', { headers: { authorization } }, 400, '/v1/secrets/<NAME>'],
      ['/v1/secrets/9A', { headers: { authorization } }, 400, 'the name of a secret'],
      ['/v1/secrets/DATABASE%5FURL', { headers: { authorization } }, 400, 'the name of a secret'],
      ['/v1/secrets/..%2F..%2Fetc', { headers: { authorization } }, 400, 'the name of a secret'],
      [`/v1/secrets/${'A'.repeat(600)}`, { headers: { authorization } }, 414, 'the path is too long'],
      ['/v1/secrets/MISSING', { headers: { authorization } }, 404, 'there is no secret MISSING'],
      ['/v1/secrets/toString', { headers: { authorization } }, 404, 'there is no secret toString'],
    ]
    for (const [path, asking, status, sentence] of rows) {
      const heard = await ask({ port }, path, asking)
      expect([path, heard.status, heard.text]).toEqual([path, status, expect.stringContaining(sentence)])
      expect(JSON.parse(heard.text).error).toEqual({ code: expect.any(String), message: expect.any(String) })
      expect(heard.headers['access-control-allow-origin']).toBeUndefined()
      expect(heard.text).not.toContain('s3cret-of-db')
    }
    // The limit of Node for a head.
    expect((await ask({ port }, '/v1/secrets', { headers: { authorization, x: 'x'.repeat(9000) } })).status).toBe(431)
    for (const host of [`127.0.0.1:${port}`, `LOCALHOST:${port}`, 'localhost'])
      expect(await ask({ port }, '/v1/secrets/DATABASE_URL', { headers: { authorization, host } })).toMatchObject({
        status: 200,
        text: JSON.stringify({ name: 'DATABASE_URL', value }),
        headers: { 'cache-control': 'no-store', age: expect.stringMatching(/^\d$/) },
      })
    expect(await ask({ port }, '/health')).toMatchObject({ status: 200, text: '{"status":"ok"}' })
  })

  it('keeps its token in a file of its owner, and shows it nowhere', async () => {
    const machine = await freshMachine()
    const serving = await serve(machine, ['--port', '0'])
    const secret = callerToken(serving)
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(statSync(/the token in (\S+)/.exec(serving.told())![1]!).mode & 0o777).toBe(0o600)
    expect(serving.told()).not.toContain(secret)
    await stop(serving)
    expect(callerToken(await serve(machine, ['--port', '0']))).toBe(secret)
    await machine.write('short', 'abc\n')
    expect(await machine.skerry(['serve', '--port', '0', '--token-file', 'short'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('short contains no token for callers'),
    })
  })

  it.each([
    ['--host 0.0.0.0 --port 0', '--host 0.0.0.0 is on the network'],
    ['--host 0.0.0.0 --port 0 --allow-cleartext', '--host 0.0.0.0 needs --allow-host'],
    ['--host 127.0.0.1', '--host needs --port'],
    ['--token-file x', '--token-file needs --port'],
    ['--allow-host shop.svc', '--allow-host needs --port'],
    ['--port 0 --tls-cert x', '--tls-cert and --tls-key are needed together'],
    ['--port 0 --socket x', '--port and --socket cannot be used together'],
    ['--port many', '--port must be a whole number'],
    ['--max-age long', '--max-age must be a duration'],
    ['--only A --except B', '--only and --except cannot be used together'],
  ])('skerry serve %s is refused', async (line, message) => {
    const machine = await newMachine('http://127.0.0.1:1')
    machines.push(machine)
    const { code, stderr } = await machine.skerry(['serve', ...line.split(' ')])
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})

describe('a server that lies or is away', () => {
  const get = async (serving: Serving, path = '/v1/secrets/DATABASE_URL') => {
    const { status, text, headers } = await ask({ port: portOf(serving) }, path, {
      headers: { authorization: `Bearer ${callerToken(serving)}` },
    })
    return { status, text, age: headers.age }
  }

  it('gets 502 and the sentence for its callers, and no value is given out until it is honest again', async () => {
    const serving = await serve(await freshMachine(), ['--port', '0'])
    expect((await get(serving)).status).toBe(200)
    liar.lie(/\/resolve/, (body) => ({ ...body, directory: null }))
    await expect.poll(async () => (await get(serving)).status, { interval: 250 }).toBe(502)
    for (const path of ['/v1/secrets/DATABASE_URL', '/v1/secrets', '/v1/secrets/MISSING']) {
      const { status, text } = await get(serving, path)
      expect([status, JSON.parse(text).error]).toEqual([
        502,
        { code: 'directory_missing', message: expect.stringContaining('shows no signed directory') },
      ])
      expect(text).not.toContain('s3cret-of-db')
    }
    expect(await ask({ port: portOf(serving) }, '/health')).toMatchObject({ status: 503 })
    expect(serving.told()).toContain('no secret is given out: the server shows no signed directory')
    liar.repent()
    await expect.poll(async () => (await get(serving)).status, { interval: 250 }).toBe(200)
    expect(serving.told()).toContain('the server answers again')
  })

  it('that refuses the token gets 502, and the copy is not used', async () => {
    const serving = await serve(await freshMachine(), ['--port', '0'])
    liar.refuse(/\/resolve/, 'the token was revoked')
    await expect.poll(async () => (await get(serving)).status, { interval: 250 }).toBe(502)
    expect(JSON.parse((await get(serving)).text).error).toMatchObject({ code: 'forbidden' })
  })

  it('does not start', async () => {
    liar.lie(/\/resolve/, (body) => ({ ...body, directory: null }))
    const { code, stdout, stderr } = await (await freshMachine()).skerry(['serve', '--port', '0'])
    expect([code, stdout, stderr]).toEqual([3, '', expect.stringContaining('shows no signed directory')])
  })

  it.each([[[]], [['--no-cache']]])('is replaced by the copy, with its age: %s', async (more) => {
    const serving = await serve(await freshMachine(server.url), ['--port', '0', ...more])
    expect(await get(serving)).toMatchObject({ status: 200 })
    await server.stop()
    try {
      const health = async () => (await ask({ port: portOf(serving) }, '/health')).text
      await expect.poll(health, { interval: 250 }).toBe('{"status":"stale"}')
      expect(await get(serving)).toEqual({
        status: 200,
        text: JSON.stringify({ name: 'DATABASE_URL', value }),
        age: expect.any(String),
      })
      // The secret may be newer than the copy, so that its caller must not hear that it was deleted.
      expect(await get(serving, '/v1/secrets/MISSING')).toMatchObject({ status: 503 })
      expect(serving.told()).toContain('the server cannot be reached: answering from the copy of')
    } finally {
      await server.start()
    }
    await expect.poll(async () => (await get(serving, '/v1/secrets/MISSING')).status, { interval: 250 }).toBe(404)
  })
})

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
    const { initContainers, containers } = manifestOf('Deployment', 'shop').spec.template.spec
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

describe('SKERRY_TOKEN_FILE', () => {
  it('is the token of every command, and no program gets it', async () => {
    const machine = await freshMachine()
    expect(
      await machine.skerry(['run', '--', 'sh', '-c', 'echo "$DATABASE_URL"; env | grep -c SKERRY_TOKEN']),
    ).toMatchObject({
      code: 1,
      stdout: `${value}\n0\n`,
    })
    expect((await machine.skerry(['whoami', '--json'])).stdout).toContain(token.slice(0, 26))
  })

  it.each([
    [{ SKERRY_TOKEN: 'skt_x' }, 'SKERRY_TOKEN and SKERRY_TOKEN_FILE are both set'],
    [{ SKERRY_TOKEN_FILE: '/nowhere/token' }, '/nowhere/token does not exist'],
    [{ SKERRY_TOKEN_FILE: '/dev/null' }, '/dev/null is empty'],
  ])('that cannot be used is refused: %o', async (env, message) => {
    const machine = await freshMachine()
    expect(await machine.skerry(['whoami'], { env: env as Record<string, string> })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    })
  })
})
