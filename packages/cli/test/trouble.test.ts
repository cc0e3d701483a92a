import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newMachine, signedUp } from './machine.ts'
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
    ['because the server fails', 500, 6],
    ['because someone else wrote', 409, 5],
  ])('%s says what was written and what was not, and can be repeated', async (_, status, exit) => {
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
  it('is shown all the same, with what to run', async () => {
    const refuse: Refuse = (method, path) => (method === 'POST' && path.endsWith('/keys') ? 500 : undefined)
    const proxy = await openProxy(server.url, refuse)
    const machine = await signedUp(proxy.url, 'Half Token')
    try {
      const { code, stdout, stderr } = await machine.skerry(['token', 'create', '--name', 'ci'])
      expect(code).toBe(6)
      expect(stdout).toMatch(/^skt_\w{22}_[\w-]{43}\n$/)
      expect(stderr).toContain(`skerry grant --token ${stdout.slice(0, 26)} --app shop --env development`)
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

describe('a failure', () => {
  it('shows no stack trace, unless it is asked for, and never a token', async () => {
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

  it('is 6 when the server is away, for every command that needs it', async () => {
    const machine = await signedUp(server.url, 'Away Org')
    await server.stop()
    try {
      const commands = ['whoami', 'secrets list', 'app list', 'audit', 'token list', 'init', 'secrets export']
      for (const command of commands) {
        const { code, stderr } = await machine.skerry(command.split(' '))
        expect(code, command).toBe(6)
        expect(stderr).toContain('skerry doctor')
      }
    } finally {
      await machine.remove()
      await server.start()
    }
  })
})

describe('completion', () => {
  const complete = async (line: string) => {
    const machine = await newMachine(server.url)
    const words = line.split(' ')
    const script = `source <(skerry completion bash)
      COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _skerry; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout } = await machine.shell(script)
    await machine.remove()
    return stdout.trim().split('\n')
  }

  it('completes commands, subcommands and options in bash', async () => {
    expect(await complete('skerry sec')).toEqual(['secrets'])
    expect(await complete('skerry keys ')).toContain('unlock')
    expect(await complete('skerry secrets i')).toEqual(['import'])
    expect(await complete('skerry run --off')).toEqual(['--offline'])
    expect(await complete('skerry secrets set NAME --exp')).toEqual(['--expected-version'])
    expect(await complete('skerry branch create pr --t')).toEqual(['--ttl'])
  })

  it('is there for zsh and fish, and refused for others', async () => {
    const machine = await newMachine(server.url)
    expect((await machine.skerry(['completion', 'zsh'])).stdout).toContain('compdef _skerry skerry')
    expect((await machine.skerry(['completion', 'fish'])).stdout).toContain("-a import -d 'Write the values")
    expect(await machine.skerry(['completion', 'tcsh'])).toMatchObject({ code: 2 })
    await machine.remove()
  })
})
