import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { certificateFor } from '../../providers/test/services/certificate.ts'
import { type Json, openLiar } from './hostile/liar.ts'
import { type Machine, newMachine, signedUp } from './machine.ts'
import { openProxy, type Refuse } from './proxy.ts'
import { openServer, type Server } from './server.ts'

let server: Server
beforeAll(async () => {
  server = await openServer()
})
afterAll(() => server.close())

describe('an import that fails halfway', () => {
  const values = 'A=1\nB=2\nC=3\n'

  it.each([
    ['because of a server error', 500, 6],
    ['because of a concurrent write', 409, 5],
  ])('%s lists the written and unwritten secrets, and can be repeated', async (_, status, exit) => {
    let failing = true
    const refuse: Refuse = (method, path) => (failing && method === 'PUT' && path.endsWith('/B') ? status : undefined)
    const proxy = await openProxy(server.url, refuse)
    const machine = await signedUp(proxy.url, `Half ${status}`)
    try {
      const failed = await machine.skerry(['secrets', 'import', '-'], { input: values })
      expect(failed.code).toBe(exit)
      expect(failed.stderr).toContain('written: A\nnot written: B, C\n')
      expect(failed.stderr).toContain('B was not written')
      failing = false
      const again = await machine.skerry(['secrets', 'import', '-'], { input: values })
      expect(again.code).toBe(0)
      expect(again.stderr).toContain('2 new, 0 changed, 1 unchanged')
    } finally {
      await machine.remove()
      await proxy.close()
    }
  })
})

describe('a token whose grants fail', () => {
  it('is shown all the same, with the command that grants the keys', async () => {
    const refuse: Refuse = (method, path) => (method === 'POST' && path.endsWith('/keys') ? 500 : undefined)
    const proxy = await openProxy(server.url, refuse)
    const machine = await signedUp(proxy.url, 'Half Token')
    try {
      const { code, stdout, stderr } = await machine.skerry(['token', 'create', '--name', 'ci'])
      expect(code).toBe(6)
      expect(stdout).toMatch(/^skt_\w{22}_[\w-]{43}\n$/)
      expect(stderr).toContain(`skerry grant ${stdout.slice(0, 26)} --app shop --env development`)
      expect(stderr).not.toContain(stdout.trim())
    } finally {
      await machine.remove()
      await proxy.close()
    }
  })
})

describe('the credentials file', () => {
  it('loses nothing when commands write it at the same time', async () => {
    const machine = await newMachine(server.url)
    try {
      const names = ['One', 'Two', 'Three', 'Four', 'Five']
      const ended = await Promise.all(names.map((name) => machine.skerry(['signup', `Parallel ${name}`])))
      expect(ended.map(({ code }) => code)).toEqual(names.map(() => 0))
      const { profiles } = JSON.parse(await machine.read('../.config/skerry/credentials.json'))
      const slugs = Object.values(profiles as Record<string, { org: { slug: string }; token?: string }>)
      expect(
        slugs
          .filter(({ token }) => token !== undefined)
          .map(({ org }) => org.slug)
          .sort(),
      ).toEqual(names.map((name) => `parallel-${name.toLowerCase()}`).sort())
    } finally {
      await machine.remove()
    }
  })

  it('that is broken is neither overwritten nor quoted', async () => {
    const machine = await signedUp(server.url, 'Broken File')
    try {
      await machine.write('../.config/skerry/credentials.json', '{"token":"hunter2"')
      for (const args of [['whoami'], ['signup', 'Another']]) {
        const { code, stderr } = await machine.skerry(args)
        expect(code).toBe(1)
        expect(stderr).toContain('is not a credentials file')
        expect(stderr).not.toContain('hunter2')
      }
      expect(await machine.read('../.config/skerry/credentials.json')).toBe('{"token":"hunter2"')
    } finally {
      await machine.remove()
    }
  })
})

describe('a profile', () => {
  it('is sent only to its own server, whatever a skerry.json names', async () => {
    const machine = await signedUp(server.url, 'Stays Home')
    const heard: string[] = []
    const stranger = createServer((request, response) => {
      heard.push(request.headers.authorization ?? '')
      response.end('{}')
    }).listen(0, '127.0.0.1')
    await once(stranger, 'listening')
    try {
      const { port } = stranger.address() as AddressInfo
      await machine.write('skerry.json', JSON.stringify({ url: `http://127.0.0.1:${port}` }))
      const { code, stderr } = await machine.skerry(['secrets', 'list', '--profile', 'stays-home'], {
        env: { SKERRY_URL: '' },
      })
      expect(code).toBe(3)
      expect(stderr).toContain(`belongs to ${server.url}`)
      expect(heard).toEqual([])
    } finally {
      stranger.close()
      await machine.remove()
    }
  })
})

describe('a database that', () => {
  it.each([
    ['accepts no writes', ['/ready/writes'], 'the server accepts no writes now; reads work'],
    ['is unavailable', ['/ready', '/ready/writes'], 'not ready (503)'],
  ])('%s is reported by skerry doctor', async (_, failing, shown) => {
    const proxy = await openProxy(server.url, (_method, path) => (failing.includes(path) ? 503 : undefined))
    const machine = await signedUp(proxy.url, 'Doctor')
    try {
      expect((await machine.skerry(['doctor'])).stdout).toContain(shown)
    } finally {
      await machine.remove()
      await proxy.close()
    }
  })
})

describe('half a machine client', () => {
  it('is refused, and no other credential is used', async () => {
    const machine = await signedUp(server.url, 'Half Client')
    try {
      const run = async (env: Record<string, string>, ...more: string[]) => {
        const { code, stderr } = await machine.skerry(['whoami', ...more], { env })
        return [code, stderr]
      }
      const [id, secret] = ['m2m_one', 'not-to-be-shown']
      expect(await run({ SKERRY_CLIENT_ID: id })).toEqual([
        2,
        'skerry: SKERRY_CLIENT_ID is set, but SKERRY_CLIENT_SECRET is not; set both, or neither\n',
      ])
      expect(await run({ SKERRY_CLIENT_SECRET: secret })).toEqual([
        2,
        'skerry: SKERRY_CLIENT_SECRET is set, but SKERRY_CLIENT_ID is not; set both, or neither\n',
      ])
      expect(await run({ SKERRY_CLIENT_ID: id }, '--profile', 'half-client')).toEqual([0, ''])
    } finally {
      await machine.remove()
    }
  })
})

describe('a home folder', () => {
  it('is the user’s own if HOME is empty, and not the current folder', async () => {
    const machine = await newMachine(server.url)
    try {
      const places = { XDG_CONFIG_HOME: machine.home, XDG_STATE_HOME: machine.home }
      await machine.skerry(['doctor'], { env: { HOME: '', ...places } })
      expect(await readdir(machine.project)).toEqual([])
    } finally {
      await machine.remove()
    }
  })
})

describe('a skerry.json', () => {
  it('may begin with a byte order mark', async () => {
    const machine = await signedUp(server.url, 'Marked Org')
    try {
      await machine.write('skerry.json', `\ufeff${await machine.read('skerry.json')}`)
      expect(await machine.skerry(['secrets', 'list'])).toMatchObject({ code: 0 })
    } finally {
      await machine.remove()
    }
  })
})

describe('a failure', () => {
  it('shows no stack trace unless --debug is given, and never a token', async () => {
    const machine = await signedUp(server.url, 'Quiet Org')
    const token = `skt_${'a'.repeat(22)}_${'b'.repeat(43)}`
    try {
      const plain = await machine.skerry(['whoami'], { env: { SKERRY_TOKEN: token } })
      expect(plain).toMatchObject({ code: 3, stdout: '' })
      expect(plain.stderr.trim().split('\n')).toHaveLength(1)
      const debug = await machine.skerry(['whoami', '--debug'], { env: { SKERRY_TOKEN: token } })
      expect(debug.stderr).toMatch(/\n {4}at /)
      for (const { stderr } of [plain, debug]) expect(stderr).not.toContain('bbbb')
    } finally {
      await machine.remove()
    }
  })

  it('explains in words what is wrong with a file', async () => {
    const machine = await signedUp(server.url, 'Worded Org')
    try {
      const missing = await machine.skerry(['secrets', 'set', 'A', '--file', 'none'])
      expect(missing).toMatchObject({ code: 1, stderr: 'skerry: cannot read none: there is no such file or folder\n' })
      const folder = await machine.skerry(['secrets', 'import', '/tmp'])
      expect(folder.stderr).toBe('skerry: cannot read /tmp: it is a folder\n')
    } finally {
      await machine.remove()
    }
  })

  it('names the wrong option, and not a field of the request', async () => {
    const machine = await signedUp(server.url, 'Plain Org')
    try {
      const taken = await machine.skerry(['app', 'create', 'shop'])
      expect(taken).toMatchObject({
        code: 5,
        stderr: 'skerry: another application has this slug already; choose another one\n',
      })
      const wrong = async (...args: string[]) => {
        const { code, stderr } = await machine.skerry(args)
        return [code, stderr]
      }
      expect(await wrong('audit', '--actor', 'a b')).toEqual([
        4,
        expect.stringMatching(/^skerry: --actor a b is not a member/),
      ])
      expect(await wrong('audit', '--resource', 'a b')).toEqual([
        2,
        expect.stringMatching(/^skerry: --resource has a character that is not allowed in it/),
      ])
      const tooLong = 'skerry: --ttl must be at most 30 days\n'
      expect(await wrong('branch', 'create', 'pr-7', '--ttl', '31d')).toEqual([2, tooLong])
      expect(await wrong('secrets', 'history', 'A', '--limit', '201')).toEqual([
        2,
        'skerry: --limit must be at most 200\n',
      ])
      const empty = 'skerry: the name must not be empty\n'
      expect(await wrong('app', 'create', 'web', '--name', '')).toEqual([2, empty])
    } finally {
      await machine.remove()
    }
  })

  it('about an answer that makes no sense does not consist of the engine’s message alone', async () => {
    const liar = createServer((_, answer) => answer.setHeader('content-type', 'application/json').end('{}'))
    await new Promise<void>((listening) => liar.listen(0, '127.0.0.1', listening))
    const url = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`
    const machine = await newMachine(url)
    const env = { SKERRY_TOKEN: `skt_${'a'.repeat(22)}_${'A'.repeat(43)}` }
    try {
      const { code, stderr } = await machine.skerry(['whoami'], { env })
      expect(code).toBe(1)
      expect(stderr).toContain('did not understand')
      expect((await machine.skerry(['doctor'], { env })).stdout).toContain(
        `${url} answered, but it is not a Skerry server`,
      )
    } finally {
      await machine.remove()
      liar.close()
    }
  })

  it('has exit code 6 when the server is unavailable, for every command that needs it', async () => {
    const machine = await signedUp(server.url, 'Away Org')
    await server.stop()
    try {
      const commands = ['whoami', 'secrets list', 'app list', 'audit', 'token list', 'init', 'secrets export']
      for (const command of commands) {
        const { code, stderr } = await machine.skerry(command.split(' '))
        expect(code, command).toBe(6)
        expect(stderr).toContain('skerry doctor')
        expect(stderr).toContain(`${server.url} (ECONNREFUSED)`)
      }
    } finally {
      await machine.remove()
      await server.start()
    }
  })
})

describe('an older Node', () => {
  it('gets an error about the needed version that names the Node of the checkout, for every command', async () => {
    const main = fileURLToPath(new URL('../src/main.js', import.meta.url))
    const older = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.11.0' })`
    const run = promisify(execFile)(process.execPath, ['--import', older, main, 'run', '--', 'true'])
    const { code, stdout, stderr } = await run.then(
      () => ({ code: 0, stdout: '', stderr: '' }),
      (failed: { code: number; stdout: string; stderr: string }) => failed,
    )
    const root = fileURLToPath(new URL('../../..', import.meta.url))
    const next = `use the Node of the checkout: ${root}node_modules/.bin/node ${main}`
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      `skerry: Node 24 or newer is needed, and this is 20.11.0; ${next}\n`,
    ])
  })
})

describe('completion', () => {
  const completed = async (machine: Machine, line: string) => {
    const words = line.split(' ')
    const script = `source <(skerry completion bash)
      COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _skerry; printf '%s\\n' "\${COMPREPLY[@]}"`
    return (await machine.shell(script)).stdout.trim().split('\n')
  }
  const complete = async (line: string) => {
    const machine = await newMachine(server.url)
    const words = await completed(machine, line)
    await machine.remove()
    return words
  }

  it('completes commands, subcommands and options in bash', async () => {
    expect(await complete('skerry sec')).toEqual(['secrets'])
    expect(await complete('skerry keys ')).toContain('unlock')
    expect(await complete('skerry secrets i')).toEqual(['import'])
    expect(await complete('skerry run --off')).toEqual(['--offline'])
    expect(await complete('skerry secrets set NAME --exp')).toEqual(['--expected-version'])
    expect(await complete('skerry lease ')).toContain('target')
    expect(await complete('skerry lease target v')).toEqual(['verify'])
    expect(await complete('skerry lease target rm db --f')).toEqual(['--force'])
    expect(await complete('skerry branch create pr --t')).toEqual(['--ttl'])
    expect(await complete('skerry sync connect github')).toEqual(['github-actions'])
    expect(await complete('skerry sync providers aws')).toEqual(['aws-parameter-store', 'aws-secrets-manager'])
    expect(await complete('skerry lease target create db --provider g')).toEqual(['google-cloud'])
  })

  it('completes applications, environments, branches and secrets from the server, and formats without it', async () => {
    const machine = await signedUp(server.url, 'Completed Org')
    await machine.skerry(['secrets', 'set', 'API_KEY'], { input: 'x' })
    await machine.skerry(['app', 'create', 'web'])
    await machine.skerry(['branch', 'create', 'pr-7'])
    const words = async (line: string) => (await completed(machine, line)).sort()
    expect(await words('skerry run --app ')).toEqual(['shop', 'web'])
    expect(await words('skerry run --env d')).toEqual(['development'])
    expect(await words('skerry run --branch ')).toEqual(['pr-7'])
    expect(await words('skerry secrets get API')).toEqual(['API_KEY'])
    expect(await words('skerry secrets get ')).toEqual(['API_KEY'])
    expect(await words('skerry secrets get --rev')).toEqual(['--reveal'])
    expect(await words('skerry run --only ')).toEqual(['API_KEY'])
    expect(await words('skerry secrets export --format doc')).toEqual(['docker'])
    expect(await words('skerry run --url http://127.0.0.1:1 --app ')).toEqual([''])
    await machine.remove()
  })

  it('completes the names of stored credentials without the server', async () => {
    const machine = await newMachine('http://127.0.0.1:1')
    const file = JSON.stringify({ version: 1, current: null, profiles: { work: { url: 'http://127.0.0.1:1' } } })
    await machine.shell(`mkdir -p ~/.config/skerry && cat > ~/.config/skerry/credentials.json`, { input: file })
    await machine.shell('chmod 600 ~/.config/skerry/credentials.json')
    expect(await completed(machine, 'skerry profile use ')).toContain('work')
    expect(await completed(machine, 'skerry profile rm w')).toEqual(['work'])
    expect(await completed(machine, 'skerry run --profile ')).toEqual(['work'])
    expect(await completed(machine, 'skerry profile ls w')).toEqual([''])
    await machine.remove()
  })

  it('is available for zsh and fish, and refused for other shells', async () => {
    const machine = await newMachine(server.url)
    expect((await machine.skerry(['completion', 'zsh'])).stdout).toContain('compdef _skerry skerry')
    expect((await machine.skerry(['completion', 'fish'])).stdout).toContain("-a import -d 'Write the values")
    expect(await machine.skerry(['completion', 'tcsh'])).toMatchObject({ code: 2 })
    await machine.remove()
  })
})

it('the error about an unreachable server names the two ways to set the address', async () => {
  const machine = await newMachine('http://127.0.0.1:1')
  try {
    const { code, stderr } = await machine.shell('skerry signup Acme')
    expect(code).toBe(6)
    expect(stderr).toContain('the server cannot be reached')
    expect(stderr).toContain('set its address with --url or SKERRY_URL')
  } finally {
    await machine.remove()
  }
})

describe('a server of an earlier release', () => {
  it('that has no timeline is named in the error with its version, and its audit log is read without names', async () => {
    const liar = await openLiar(server.url)
    const proxy = await openProxy(liar.url, (_, path) => (path.includes('/audit/timeline') ? 404 : undefined))
    const machine = await signedUp(proxy.url, 'Older Server')
    liar.lie(/^\/openapi\.json$/, (body: Json) => ({ ...body, info: { ...body.info, version: '0.0.9' } }))
    liar.lie(/\/audit\?/, ({ entries }: Json) => ({ entries }))
    try {
      const timeline = await machine.skerry(['audit', 'timeline'])
      const said =
        'skerry: this server is older than this client, and cannot do this: version 0.0.9 does not have audit.timeline'
      expect([timeline.code, timeline.stderr]).toEqual([1, `${said}; ask the operator to upgrade the server\n`])
      const audit = await machine.skerry(['audit'])
      expect([audit.code, audit.stderr]).toEqual([0, ''])
      expect(audit.stdout).toMatch(/org\.created +/)
    } finally {
      await machine.remove()
      await proxy.close()
      await liar.close()
    }
  })
})

describe('a server behind TLS', () => {
  it('whose authority is unknown can be reached with NODE_EXTRA_CA_CERTS, which the error names', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skerry-authority-'))
    const { certFile, keyFile } = certificateFor({}, { path: folder, remove: () => {} })
    const tls = { cert: await readFile(certFile), key: await readFile(keyFile) }
    const front = createTlsServer(tls, (_, answer) => answer.writeHead(413).end('<html>too large</html>'))
    await new Promise<void>((done) => front.listen(0, '127.0.0.1', done))
    const url = `https://localhost:${(front.address() as AddressInfo).port}`
    const machine = await newMachine(url, { cold: true })
    try {
      const refused = await machine.skerry(['signup', 'Behind'])
      expect(refused.code).toBe(6)
      expect(refused.stderr).toContain('the server’s certificate is not trusted')
      expect(refused.stderr).toContain('set NODE_EXTRA_CA_CERTS to a file with the certificate of your authority')
      expect((await machine.skerry(['doctor'])).stdout).toContain('NODE_EXTRA_CA_CERTS')
      const reached = await machine.skerry(['signup', 'Behind'], { env: { NODE_EXTRA_CA_CERTS: certFile } })
      expect(reached.code).toBe(1)
      expect(reached.stderr).toMatch(/^skerry: the request is too large for a proxy .*client_max_body_size.*\n$/)
    } finally {
      front.close()
      front.closeAllConnections()
      await machine.remove()
      await rm(folder, { recursive: true })
    }
  })
})
