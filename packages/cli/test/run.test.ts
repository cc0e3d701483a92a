import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { childrenOf, type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

let server: Server
let machine: Machine
const secret = 'canary-5f1c-value'

beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Run Org', { cold: true })
  await machine.skerry(['secrets', 'set', 'CANARY'], { input: secret })
  await machine.write('signals.cjs', signalsProgram)
  await machine.skerry(['run', '--', 'true'])
})
afterAll(async () => {
  await machine.remove()
  await server.close()
})

/** Prints every signal that it gets, and ends a moment after the first signal of the given name. */
const signalsProgram = `
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGQUIT', 'SIGWINCH'])
  process.on(signal, () => {
    console.log('got ' + signal)
    if (signal === process.argv[2]) setTimeout(() => process.exit(9), 300)
  })
setInterval(() => {}, 1000)
console.log('ready')
`

const count = (text: string, part: string) => text.split(part).length - 1

describe('skerry run replaces itself with the program:', () => {
  it.each([0, 1, 2, 3, 42, 255])('the command exits with the program’s code %i', async (code) => {
    expect(await machine.skerry(['run', '--', 'sh', '-c', `exit ${code}`])).toMatchObject({ code })
  })

  it.each(['SIGTERM', 'SIGKILL', 'SIGINT'] as const)('skerry ends with the program’s signal %s', async (signal) => {
    const ended = await machine.skerry(['run', '--', 'sh', '-c', `kill -${signal.slice(3)} $$`])
    expect(ended).toMatchObject({ code: null, signal })
  })

  // On a busy machine, the program can run before the call that started it has returned.
  it('a signal during the start reaches the program', async () => {
    const program = 'trap "exit 7" TERM; kill -TERM $PPID; while :; do sleep 0.1; done'
    const runs = Array.from({ length: 12 }, () => machine.skerry(['run', '--watch', '--', 'sh', '-c', program]))
    for (const { code } of await Promise.all(runs)) expect(code).toBe(7)
  })

  it('the command exits with 127 for an unknown program, and with 126 for one that cannot be executed', async () => {
    expect(await machine.skerry(['run', '--', 'no-such-program'])).toMatchObject({
      code: 127,
      stderr: 'skerry: no-such-program: command not found\n',
    })
    expect(await machine.skerry(['run', '--', './signals.cjs'])).toMatchObject({ code: 126 })
    expect(await machine.skerry(['run', '--', '/'])).toMatchObject({ code: 126 })
  })

  it('a script whose interpreter is missing, and one without, end as under a shell', async () => {
    await machine.write('orphan', '#!/no/such/interpreter\n')
    await machine.write('plain', 'echo ran\n')
    await machine.shell('chmod +x orphan plain')
    expect(await machine.skerry(['run', '--', './orphan'])).toMatchObject({ code: 127, stdout: '' })
    expect(await machine.skerry(['run', '--', './plain'])).toMatchObject({ code: 0, stdout: 'ran\n' })
  })

  it('no shell interprets the arguments, and options after the program belong to the program', async () => {
    const ended = await machine.skerry(['run', 'printf', '%s|', '$HOME', '; echo no', '*', '--json', "it's", ''])
    expect(ended).toMatchObject({ code: 0, stdout: "$HOME|; echo no|*|--json|it's||" })
  })

  it('the program reads stdin', async () => {
    expect(await machine.skerry(['run', '--', 'cat'], { input: 'through\0and through' })).toMatchObject({
      stdout: 'through\0and through',
    })
  })

  it('a closed pipe ends a pipeline in silence, as it does without skerry', async () => {
    expect(await machine.skerry(['run', '--', 'bash', '-c', 'yes | head -1'])).toMatchObject({
      code: 0,
      stdout: 'y\n',
      stderr: '',
    })
  })
})

describe('signals', () => {
  const all = ['SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGQUIT', 'SIGWINCH', 'SIGTERM'] as const

  it.each([
    ['', [] as string[]],
    [' under --watch', ['--watch']],
  ])('each signal reaches the program exactly once%s', async (_, options) => {
    const run = machine.start(['run', ...options, '--', 'node', 'signals.cjs', 'SIGTERM'])
    await run.says('ready')
    for (const signal of all) {
      run.child.kill(signal)
      await run.says(`got ${signal}\n`)
    }
    const { code, stdout } = await run.ended
    for (const signal of all) expect(count(stdout, `got ${signal}\n`), signal).toBe(1)
    expect(code).toBe(9)
  })

  it.each([
    ['', ''],
    [' under --watch', '--watch'],
  ])('Ctrl-C in a terminal reaches the program exactly once%s', async (_, options) => {
    const command = `skerry run ${options} -- node signals.cjs SIGINT`
    const { code, stdout } = await machine.terminal(command, [['ready', '\x03']])
    expect(stdout).toContain('ready')
    expect(count(stdout, 'got SIGINT')).toBe(1)
    expect(code).toBe(9)
  })
})

describe('the environment of the program:', () => {
  it('no secret is in the arguments of any process', async () => {
    for (const options of [[], ['--watch']]) {
      const run = machine.start(['run', ...options, '--', 'node', 'signals.cjs', 'SIGTERM'])
      await run.says('ready')
      const cmdlines = [run.child.pid!, ...childrenOf(run.child.pid!)].map((pid) =>
        readFileSync(`/proc/${pid}/cmdline`),
      )
      run.child.kill('SIGTERM')
      await run.ended
      expect(cmdlines.length).toBe(options.length === 0 ? 1 : 2)
      for (const cmdline of cmdlines) {
        expect(cmdline.includes(secret)).toBe(false)
        expect(cmdline.includes('skt_')).toBe(false)
      }
    }
  })

  it('the process environment wins over --dotenv, and --dotenv wins over the secrets', async () => {
    await machine.skerry(['secrets', 'import', '-'], { input: 'A=secret\nB=secret\nC=secret\n' })
    await machine.write('local.env', 'B=file\nC=file\n')
    const args = ['run', '--dotenv', 'local.env', '--explain', '--', 'sh', '-c', 'echo $A $B $C']
    const { stdout, stderr } = await machine.skerry(args, { env: { C: 'process' } })
    expect(stdout).toBe('secret file process\n')
    expect(stderr).toMatch(/^A +shop\/development$/m)
    expect(stderr).toMatch(/^B +local.env +shop\/development$/m)
    expect(stderr).toMatch(/^C +process environment +local.env, shop\/development$/m)
    expect(stderr).not.toContain('secret\n')
  })

  it('a --dotenv file affects only the program, and a missing file is an error', async () => {
    await machine.write('options.env', 'NODE_OPTIONS=--no-such-option\n')
    const given = await machine.skerry(['run', '--dotenv', 'options.env', '--', 'printenv', 'NODE_OPTIONS'])
    expect(given).toMatchObject({ code: 0, stdout: '--no-such-option\n' })
    const missing = await machine.skerry(['run', '--dotenv', 'none.env', '--', 'true'])
    expect(missing.code).toBe(1)
    expect(missing.stderr).toContain('skerry: cannot read none.env')
  })

  it('--explain never shows a value', async () => {
    const { stderr } = await machine.skerry(['run', '--explain', '--', 'true'])
    expect(stderr).toContain('CANARY')
    expect(stderr).not.toContain(secret)
  })

  it('the program does not get Skerry’s own credentials', async () => {
    const { stdout: token } = await machine.skerry(['token', 'create', '--name', 'handed'])
    const env = { SKERRY_TOKEN: token, SKERRY_CLIENT_SECRET: 'not-for-the-program', KEPT: '1' }
    const { stdout } = await machine.skerry(['run', '--', 'env'], { env })
    expect(stdout).toContain('KEPT=1\n')
    expect(stdout).not.toMatch(/SKERRY_TOKEN|SKERRY_CLIENT_SECRET/)
  })

  it('--only gives the program these names alone, and the error lists every unknown name', async () => {
    const { stdout } = await machine.skerry(['run', '--only', 'CANARY', '--', 'sh', '-c', 'echo $CANARY $A'])
    expect(stdout).toBe(`${secret}\n`)
    const refused = await machine.skerry(['run', '--only', 'CANARY,NOT_1', '--only', 'NOT_2', '--', 'true'])
    expect(refused).toMatchObject({ code: 4 })
    expect(refused.stderr).toContain('NOT_1, NOT_2')
  })

  it.each([
    ['--only', ''],
    ['--with', 'shared'],
    ['--with', 'shared=a=b'],
    ['--profile', ''],
  ])('%s "%s" is refused', async (option, text) => {
    const { code, stdout } = await machine.skerry(['run', option, text, '--', 'echo', 'started'])
    expect(code).toBe(option === '--profile' ? 4 : 2)
    expect(stdout).toBe('')
  })

  it('--explain --json writes the same as JSON to stderr', async () => {
    const { stdout, stderr } = await machine.skerry(['run', '--explain', '--json', '--', 'echo', 'started'])
    expect(stdout).toBe('started\n')
    const from = 'shop/development'
    expect(JSON.parse(stderr).secrets).toContainEqual({ name: 'CANARY', from, overrides: [] })
  })

  it('--with uses another environment of a group', async () => {
    const script = `skerry group create shared; skerry compose set shared
      for env in development sandbox; do skerry env create $env --group shared; printf $env | skerry secrets set WHERE --group shared --env $env; done`
    await machine.shell(script)
    expect(await machine.skerry(['run', '--', 'printenv', 'WHERE'])).toMatchObject({ stdout: 'development\n' })
    const moved = await machine.skerry(['run', '--with', 'shared=sandbox', '--', 'printenv', 'WHERE'])
    expect(moved).toMatchObject({ stdout: 'sandbox\n' })
    const unknown = await machine.skerry(['run', '--with', 'nobody=sandbox', '--', 'true'])
    expect(unknown).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('without the server,', () => {
  it('the last-known-good copy is used and its age is shown, unless it is too old or --no-cache is given', async () => {
    await machine.skerry(['run', '--', 'true'])
    await server.stop()
    try {
      const fallback = await machine.skerry(['run', '--', 'printenv', 'CANARY'])
      expect(fallback).toMatchObject({ code: 0, stdout: `${secret}\n` })
      expect(fallback.stderr).toMatch(
        /warning: the server cannot be reached: using the last-known-good copy of \d+ s ago/,
      )
      const offline = await machine.skerry(['run', '--offline', '--', 'printenv', 'CANARY'])
      expect(offline).toMatchObject({ code: 0, stdout: `${secret}\n` })
      const tooOld = await machine.skerry(['run', '--offline', '--max-age', '0s', '--', 'true'])
      expect(tooOld).toMatchObject({ code: 6 })
      const unwanted = await machine.skerry(['run', '--no-cache', '--', 'true'])
      expect(unwanted).toMatchObject({ code: 6 })
      const never = await machine.skerry(['run', '--offline', '--env', 'production', '--', 'true'])
      expect(never).toMatchObject({ code: 6 })
    } finally {
      await server.start()
    }
  })

  it('a refused token cannot read offline, because its copies were deleted, also those of branches', async () => {
    const { stdout } = await machine.skerry(['token', 'create', '--name', 'ends', '--json'])
    await machine.skerry(['branch', 'create', 'side'])
    const { token, serviceToken } = JSON.parse(stdout)
    const env = { SKERRY_TOKEN: token }
    expect(await machine.skerry(['run', '--', 'true'], { env })).toMatchObject({ code: 0 })
    expect(await machine.skerry(['run', '--branch', 'side', '--', 'true'], { env })).toMatchObject({ code: 0 })
    for (const more of [[], ['--branch', 'side']])
      expect(await machine.skerry(['run', '--offline', ...more, '--', 'true'], { env })).toMatchObject({ code: 0 })
    await machine.skerry(['token', 'revoke', serviceToken.id, '--yes'])
    expect(await machine.skerry(['run', '--', 'true'], { env })).toMatchObject({ code: 3 })
    for (const more of [[], ['--branch', 'side']])
      expect(await machine.skerry(['run', '--offline', ...more, '--', 'true'], { env })).toMatchObject({ code: 6 })
  })

  it('the cached files are readable by their owner alone and contain no plaintext', () => {
    const folder = join(machine.home, '.cache', 'skerry')
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
    expect(files.length).toBeGreaterThan(1)
    for (const name of files) {
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
      expect(readFileSync(join(folder, name), 'utf8')).not.toContain(secret)
    }
  })
})
