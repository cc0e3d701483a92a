import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

// Tests which values a program gets, and how it gets them.

let server: Server
let machine: Machine

beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Choice Org', { cold: true })
  await machine.skerry(['secrets', 'import', '-'], { input: 'A=secret-a\nB=secret-b\nURL="x/${A}"\n' })
})
afterAll(async () => {
  await machine.remove()
  await server.close()
})

const run = (args: string[], env: Record<string, string> = {}) => machine.skerry(['run', ...args], { env })
const print = ['--', 'sh', '-c', 'echo "$A|$B|$URL"']

describe('the choice of secrets', () => {
  it('takes --except and --prefix, and refuses a name that does not exist', async () => {
    expect(await run(['--except', 'A,B', ...print])).toMatchObject({ stdout: '||x/secret-a\n' })
    expect(await run(['--prefix', 'TF_VAR_', '--', 'sh', '-c', 'echo "$A|$TF_VAR_A"'])).toMatchObject({
      stdout: '|secret-a\n',
    })
    expect(await run(['--except', 'NOPE', ...print])).toMatchObject({ code: 4, stdout: '' })
    expect(await run(['--only', 'A', '--except', 'B', ...print])).toMatchObject({ code: 2, stdout: '' })
  })

  it('with --override wins over the environment, for all names or for some', async () => {
    const env = { A: 'mine-a', B: 'mine-b' }
    expect((await run(print, env)).stdout).toBe('mine-a|mine-b|x/secret-a\n')
    expect((await run(['--override', ...print], env)).stdout).toBe('secret-a|secret-b|x/secret-a\n')
    expect((await run(['--override=A', ...print], env)).stdout).toBe('secret-a|mine-b|x/secret-a\n')
    expect(await run(['--override', 'printenv', 'A'], env)).toMatchObject({ stdout: 'secret-a\n' })
    expect(await run(['--override=NOPE', ...print], env)).toMatchObject({ code: 4, stdout: '' })
    const { stderr } = await run(['--override', '--explain', '--only', 'A', '--', 'true'], env)
    expect(stderr).toMatch(/^A +shop\/development +process environment$/m)
  })

  it('gives a warning about secrets that environment variables replace, and says how to use them, in a pipeline too', async () => {
    const hiding = 'env A=mine B=secret-b skerry run'
    const warning =
      'A is also set in the environment that started skerry, which wins; add --override=A to use the secret'
    expect((await machine.terminal(`${hiding} -- true`)).stdout).toContain(warning)
    const { stderr } = await machine.shell(`${hiding} -- true`)
    expect(stderr).toBe(`warning: ${warning}, or unset it\n`)
    const both = await machine.shell('env A=mine B=other skerry run -- true')
    expect(both.stderr).toContain('A, B are also set')
    expect(both.stderr).toContain('add --override=A,B to use the secrets, or unset them')
    for (const chosen of ['--override=A', '--override', '--mount secrets.env', '--mount-file secrets.env'])
      expect((await machine.shell(`${hiding} ${chosen} -- true`)).stderr).toBe('')
  })
})

describe('references that form a cycle', () => {
  beforeAll(async () => {
    await machine.shell(`skerry group create loop; skerry env create development --group loop; skerry compose set loop
      printf '\${BACK}' | skerry secrets set FORTH; printf '\${FORTH}' | skerry secrets set BACK --group loop`)
  })
  afterAll(async () => {
    await machine.shell('skerry secrets rm FORTH --yes && skerry compose rm loop --yes')
  })

  it('stop a program that would get them, with their names and an option to leave them out', async () => {
    const { code, stdout, stderr } = await run(print)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('BACK -> FORTH -> BACK')
    const [, wayOut] = /leave out with (--except [A-Z,]+)/.exec(stderr)!
    expect((await run([...wayOut!.split(' '), ...print])).stdout).toBe('secret-a|secret-b|x/secret-a\n')
  })

  it('do not affect other secrets, which can be read, exported and used', async () => {
    expect((await run(['--only', 'URL', '--', 'printenv', 'URL'])).stdout).toBe('x/secret-a\n')
    expect((await machine.skerry(['secrets', 'get', 'URL'])).stdout).toBe('x/secret-a')
    expect((await machine.skerry(['secrets', 'get', 'FORTH'])).code).toBe(1)
    const exported = ['secrets', 'export', '--expand', '--format', 'json']
    expect((await machine.skerry(exported)).code).toBe(1)
    expect(JSON.parse((await machine.skerry([...exported, '--except', 'BACK,FORTH'])).stdout)).toEqual({
      A: 'secret-a',
      B: 'secret-b',
      URL: 'x/secret-a',
    })
  })
})

describe('a value that would form a cycle', () => {
  it('is refused by secrets set unless --literal is given, whether it refers to itself directly or through other secrets', async () => {
    const set = (name: string, input: string, ...more: string[]) =>
      machine.skerry(['secrets', 'set', name, ...more], { input })
    const itself = await set('PATHX', '${PATHX}:/x')
    expect([itself.code, itself.stderr]).toEqual([2, expect.stringContaining('would refer to itself')])
    expect(await set('A', '${URL}')).toMatchObject({ code: 2, stderr: expect.stringContaining('A -> URL -> A') })
    expect(await set('TEXT', '${TEXT}', '--literal')).toMatchObject({ code: 0 })
    expect((await run(['--only', 'TEXT', '--', 'printenv', 'TEXT'])).stdout).toBe('${TEXT}\n')
  })

  it('is refused by secrets import, which offers --surrounding', async () => {
    const input = 'PATHX=${PATHX}:/x\n'
    const refused = await machine.skerry(['secrets', 'import', '-'], { input })
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--surrounding') })
    expect((await machine.skerry(['secrets', 'get', 'PATHX'])).code).toBe(4)
    const env = { PATHX: '/usr/${bin}' }
    expect((await machine.skerry(['secrets', 'import', '-', '--surrounding'], { input, env })).code).toBe(0)
    expect((await run(['--only', 'PATHX', '--', 'printenv', 'PATHX'])).stdout).toBe('/usr/${bin}:/x\n')
  })
})

describe('skerry run and skerry shell:', () => {
  it('run --command runs a line in a shell', async () => {
    expect((await run(['--command', 'echo $A && exit 7'])).stdout).toBe('secret-a\n')
    expect((await run(['--command', 'exit 7'])).code).toBe(7)
    expect((await run(['--command', 'true', '--', 'true'])).code).toBe(2)
    expect((await run([])).code).toBe(2)
  })

  it('shell starts the shell of the caller', async () => {
    await machine.write('my-shell', '#!/bin/sh\necho "in $0 with $A"\nexit 3\n')
    await machine.shell('chmod +x my-shell')
    const ended = await machine.skerry(['shell'], { env: { SHELL: join(machine.project, 'my-shell') } })
    expect(ended).toMatchObject({ code: 3, stdout: expect.stringMatching(/my-shell with secret-a/) })
  })

  it('run --mask shows a prompt that ends like the beginning of a value, before the program continues', async () => {
    const value = await run(['--', 'sh', '-c', 'printf %s "$A"'])
    const prompt = value.stdout.slice(0, 3)
    // The program continues only after the prompt was printed.
    const program = `printf 'prompt ${prompt}'; while [ ! -e seen ]; do sleep 0.05; done; echo ' done'`
    await machine.write('prompt.sh', program)
    const { says, ended } = machine.start(['run', '--mask', '--', 'sh', 'prompt.sh'], { input: null })
    await says(`prompt ${prompt}`)
    await machine.write('seen', '')
    expect((await ended).stdout).toBe(`prompt ${prompt} done\n`)
  })

  it('run --mask hides values in the output, even if a value is printed in two parts', async () => {
    const script = 'printf "a secr"; sleep 0.3; printf "et-a! "; echo "$B" >&2; exit 5'
    const ended = await run(['--mask', '--', 'sh', '-c', script])
    expect(ended).toMatchObject({ code: 5, stdout: 'a ********! ', stderr: '********\n' })
    const all = await run(['--mask', '--', 'sh', '-c', 'seq 40000; echo $A'])
    expect(all.stdout).toMatch(/^1\n2\n[\d\n]*\n40000\n\*{8}\n$/)
  })

  it.each([
    ['true', [], '******** ********\n'],
    ['woodpecker', [], '******** ********\n'],
    ['true', ['--no-mask'], 'secret-a secret-b\n'],
    ['false', [], 'secret-a secret-b\n'],
    ['false', ['--mask'], '******** ********\n'],
    ['', [], 'secret-a secret-b\n'],
  ])('run in a pipe with CI=%s and %j prints the values as it should', async (CI, flags, expected) => {
    const ended = await run([...flags, '--', 'sh', '-c', 'echo "$A $B"; exit 6'], { CI })
    expect(ended).toMatchObject({ code: 6, stdout: expected })
    const isDefault = expected.startsWith('*') && flags.length === 0
    expect(ended.stderr).toBe(
      isDefault ? 'values in the output were replaced with ********, because CI is set; --no-mask shows them\n' : '',
    )
  })

  it('run in a CI job masks pipes only: a file and a terminal get the values, and nothing masked is not mentioned', async () => {
    const program = `sh -c 'echo "$A"; echo "$B" >&2'`
    const mixed = await machine.shell(`CI=true skerry run -- ${program} >out; cat out`)
    expect(mixed.stdout).toBe('secret-a\n')
    expect(mixed.stderr).toMatch(/^\*{8}\n/)
    expect((await machine.terminal(`env CI=true skerry run -- ${program}`)).stdout).toBe('secret-a\r\nsecret-b\r\n')
    expect(await run(['--', 'echo', 'nothing'], { CI: 'true' })).toMatchObject({ stdout: 'nothing\n', stderr: '' })
    // Without masking, skerry becomes the program also in a CI job.
    const { stdout } = await machine.shell(`CI=true skerry run --no-mask -- sh -c 'echo $$' & wait $!; echo $!`)
    const [own, started] = stdout.trim().split('\n')
    expect(own).toBe(started)
  })

  it('run --mask hides values that a program prints in base64 or hex', async () => {
    const script = 'printf %s "$A" | base64; printf %s "$A" | od -An -tx1 | tr -d " \\n"'
    const { stdout } = await run(['--mask', '--', 'sh', '-c', script])
    // The last character of the base64 depends on the text after the value.
    expect(stdout).toBe('********E=\n********')
  })
})

it('secrets substitute fills a template, and refuses a name without a value', async () => {
  await machine.write('template', 'a=${A} url=${URL} $${A} ${A:-x} $A\n')
  const filled = await machine.skerry(['secrets', 'substitute', 'template'])
  expect(filled).toMatchObject({ code: 0, stdout: 'a=secret-a url=x/secret-a ${A} ${A:-x} $A\n' })
  const refused = await machine.skerry(['secrets', 'substitute', '-'], { input: '${A}${NOPE}' })
  expect(refused).toMatchObject({ code: 4, stdout: '' })
  expect(refused.stderr).toContain(
    'has no NOPE, which - refers to; set them, or keep them as text with --except NOPE\n',
  )
  const kept = await machine.skerry(['secrets', 'substitute', '-', '--except', 'NOPE'], { input: '${A}${NOPE}' })
  expect(kept).toMatchObject({ code: 0, stdout: 'secret-a${NOPE}' })
})

it('secrets substitute --liquid fills a Liquid template, and refuses a mistake before it asks the server', async () => {
  await machine.write('app.liquid', '{% if URL %}url={{ URL | json }}{% endif %} {{ NOPE | default: "none" }} ${A}\n')
  const filled = await machine.skerry(['secrets', 'substitute', 'app.liquid', '--liquid'])
  expect(filled).toMatchObject({ code: 0, stdout: 'url="x/secret-a" none ${A}\n', stderr: '' })
  const list = '{% for one in secrets %}{{ one.name }}={{ one.value | sh }}\n{% endfor %}'
  const all = await machine.skerry(['secrets', 'substitute', '-', '--liquid', '--out', 'all.env'], { input: list })
  expect([all.code, all.stderr]).toEqual([
    0,
    expect.stringMatching(/^wrote all\.env with \d+ values of shop\/development/),
  ])
  expect(await machine.read('all.env')).toContain("A='secret-a'\n")
  const missing = await machine.skerry(['secrets', 'substitute', '-', '--liquid'], { input: '{{ A }}\n{{ NOPE }}' })
  expect(missing).toMatchObject({ code: 4, stdout: '', stderr: expect.stringContaining('stdin, line 2, column 4: ') })
  const env = { SKERRY_URL: 'http://127.0.0.1:1' }
  const wrong = await machine.skerry(['secrets', 'substitute', '-', '--liquid'], { input: '{% if A %}', env })
  expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('stdin, line 1, column 1: ') })
})

it('secrets substitute without --liquid fills ${NAME} alone, and says so for a file named .liquid', async () => {
  await machine.write('app.liquid', '{{ A }} ${A}\n')
  const { stdout, stderr } = await machine.skerry(['secrets', 'substitute', 'app.liquid'])
  expect([stdout, stderr]).toEqual(['{{ A }} secret-a\n', expect.stringContaining('add --liquid')])
})

it('secrets generate writes values without showing them, and does not replace an existing one', async () => {
  const made = await machine.skerry(['secrets', 'generate', 'MADE', '--length', '40', '--json'])
  expect(JSON.parse(made.stdout)).toMatchObject({ generated: [{ name: 'MADE', version: 1 }] })
  const { stdout: value } = await machine.skerry(['secrets', 'get', 'MADE'])
  expect(value).toMatch(/^[A-Za-z0-9]{40}$/)
  expect(made.stdout + made.stderr).not.toContain(value)
  expect((await machine.skerry(['secrets', 'generate', 'MADE', 'MORE'])).code).toBe(5)
  expect((await machine.skerry(['secrets', 'get', 'MADE'])).stdout).toBe(value)
  expect((await machine.skerry(['secrets', 'get', 'MORE'])).code).toBe(4)
})

it('skerry open prints the address of the environment in the dashboard', async () => {
  const { stdout } = await machine.skerry(['open', '--no-browser'])
  expect(stdout).toMatch(new RegExp(`^${server.url}/orgs/choice-org/envs/env_\\w{22}\\n$`))
})

describe('the command line', () => {
  it('accepts shared options before the command, and the words help and version', async () => {
    expect(JSON.parse((await machine.skerry(['--json', 'secrets', 'list'])).stdout).secrets).toBeInstanceOf(Array)
    expect((await machine.skerry(['--org', 'choice-org', 'run', '--', 'printenv', 'A'])).stdout).toBe('secret-a\n')
    expect((await machine.skerry(['help', 'secrets', 'set'])).stdout).toContain('Usage: skerry secrets set')
    const versions = await Promise.all([['version'], ['-v'], ['--version']].map((args) => machine.skerry(args)))
    expect(new Set(versions.map(({ stdout }) => stdout)).size).toBe(1)
  })

  it.each([
    ['SKERRY_ENVIRONMENT', 'SKERRY_ENV'],
    ['SKERRY_EVN', 'SKERRY_ENV'],
    ['skerry_env', 'SKERRY_ENV'],
    ['SKERRY_PASSPHRAS_FILE', 'SKERRY_PASSPHRASE_FILE'],
    ['SKERRY_ENV_NAME', 'SKERRY_ENV'],
    ['SKERRY_API_TOKEN', 'SKERRY_TOKEN'],
  ])('refuses %s and suggests %s', async (name, meant) => {
    const { code, stdout, stderr } = await run(['--', 'echo', 'started'], { [name]: 'production' })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`is ${meant} meant?`)
  })

  it('works without a writable home folder', async () => {
    const { stdout: token } = await machine.skerry(['token', 'create', '--name', 'homeless'])
    const env = { HOME: '/proc/none', SKERRY_TOKEN: token }
    const { code, stdout, stderr } = await run(['--', 'printenv', 'A'], env)
    expect([code, stdout]).toEqual([0, 'secret-a\n'])
    expect(stderr).toMatch(/^warning: the known state cannot be stored: [^\n]+\n$/)
  })
})
