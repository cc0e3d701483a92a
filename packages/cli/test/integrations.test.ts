import { execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Machine, newMachine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

// The action, the template and the images of integrations/, run as a runner of GitHub, GitLab or Docker runs them.

const folder = fileURLToPath(new URL('../../../integrations', import.meta.url))
const textOf = (path: string) => readFileSync(join(folder, path), 'utf8')

let server: Server
let owner: Machine
/** A machine with nothing but the command, as a runner. */
let runner: Machine
let token: string

const secrets = {
  DATABASE_URL: 'postgres://shop:s3cret-of-db@db/shop',
  PRIVATE_KEY: '-----BEGIN KEY-----\r\nfirst-half-100%\nsecond-half\n\n-----END KEY-----\n',
}

beforeAll(async () => {
  server = await openServer()
  owner = await signedUp(server.url, 'Integrations Org')
  const stored = { ...secrets, NODE_OPTIONS: '--require=evil', GITHUB_TOKEN: 'ghs_value' }
  for (const [name, input] of Object.entries(stored))
    expect(await owner.skerry(['secrets', 'set', name], { input })).toMatchObject({ code: 0 })
  token = (await owner.shell('skerry token create ci --env development')).stdout.trim()
  runner = await newMachine(server.url, { cold: true })
})
afterAll(async () => {
  await Promise.all([owner, runner].map((machine) => machine.remove()))
  await server.close()
})

describe('the action for GitHub', () => {
  const { inputs, runs, ...rest } = parse(textOf('github-action/action.yml'))

  /** Starts the action with its inputs, as the runner does. It asks until the text is in stdout, or until it ends. */
  function start(given: Record<string, string>, githubEnv: string) {
    const defaults = Object.entries<{ default?: string }>(inputs).map(([name, one]) => [name, one.default ?? ''])
    const all = { ...Object.fromEntries(defaults), token, url: server.url, ...given }
    const named = Object.entries(all).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])
    const { PATH, HOME } = runner.env
    const own = { PATH, HOME, CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_ENV: githubEnv, ACTIONS_RUNTIME_TOKEN: 'own' }
    const env = { ...own, ...Object.fromEntries(named) } as Record<string, string>
    const child = spawn(process.execPath, [join(folder, 'github-action', runs.main)], { env, cwd: runner.project })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (chunk) => (stdout += chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk) => (stderr += chunk))
    const ended = new Promise<number | null>((done) => child.on('close', done))
    return { ended, stdout: () => stdout, stderr: () => stderr, child }
  }

  const unescaped = (data: string) => data.replaceAll('%0A', '\n').replaceAll('%0D', '\r').replaceAll('%25', '%')
  const masksIn = (stdout: string) => [...stdout.matchAll(/^::add-mask::(.*)$/gm)].map(([, data]) => unescaped(data!))

  /** Reads the file as the runner does: a name with a delimiter, lines, and the delimiter alone. */
  function parseGithubEnv(text: string): Record<string, string> {
    const found: Record<string, string> = {}
    let rest = text
    while (rest !== '') {
      const [, name, delimiter] = /^([^=\n]+?)<<(.+)\n/.exec(rest)!
      const start = rest.indexOf('\n') + 1
      const end = rest.indexOf(`\n${delimiter}\n`, start - 1)
      found[name!] = rest.slice(start, end)
      rest = rest.slice(end + delimiter!.length + 2)
    }
    return found
  }

  it('masks every line of every value before it writes the first one', async () => {
    const pipe = join(runner.home, 'github-env-pipe')
    execFileSync('mkfifo', [pipe])
    const action = start({ except: 'GITHUB_TOKEN' }, pipe)
    const lines = Object.values(secrets).flatMap((value) => [value, ...value.split(/\r\n|\n/)])
    const wanted = lines.filter((line) => line.trim() !== '').sort()
    // Nobody reads the pipe yet, so nothing can have been written to it.
    await expect
      .poll(() => [...new Set(masksIn(action.stdout()))].sort(), { interval: 50 })
      .toEqual([...new Set(wanted)].sort())
    expect(action.child.exitCode).toBeNull()
    expect(parseGithubEnv(await readFile(pipe, 'utf8'))).toEqual(secrets)
    expect(await action.ended, action.stderr()).toBe(0)
    const shown = action.stdout().replaceAll(/^::add-mask::.*\n/gm, '')
    expect(shown).toBe('Exported DATABASE_URL, PRIVATE_KEY\n')
    expect(action.stderr()).toContain('the program is not given NODE_OPTIONS')
    expect(action.stderr()).not.toMatch(/s3cret|half|skt_\w+_/)
  })

  it('appends to the file of the runner, with other delimiters each time, and writes no value elsewhere', async () => {
    const file = join(runner.home, 'github-env')
    await writeFile(file, 'EARLIER=1\n')
    for (const only of ['DATABASE_URL', 'PRIVATE_KEY']) expect(await start({ only }, file).ended).toBe(0)
    const text = await readFile(file, 'utf8')
    expect(text.startsWith('EARLIER=1\n')).toBe(true)
    expect(parseGithubEnv(text.slice('EARLIER=1\n'.length))).toEqual(secrets)
    const delimiters = [...text.matchAll(/<<(.+)$/gm)].map(([, delimiter]) => delimiter)
    expect(new Set(delimiters).size).toBe(2)
    const others = readdirSync(runner.home, { recursive: true, withFileTypes: true })
      .map((one) => ({ one, path: join(one.parentPath, one.name) }))
      .filter(({ one, path }) => one.isFile() && path !== file)
    for (const { path } of others)
      expect([path, /s3cret|second-half/.test(readFileSync(path, 'latin1'))]).toEqual([path, false])
  })

  it('exports no variable of the shell that starts the command of the npm package', async () => {
    const file = join(runner.home, 'from-shell')
    const command = join(runner.home, 'launcher')
    await writeFile(file, '')
    await writeFile(command, '#!/bin/sh\nexport PWD OLDPWD=/before SHLVL=2\nexec skerry "$@"\n', { mode: 0o755 })
    const action = start({ except: 'GITHUB_TOKEN', command }, file)
    expect(await action.ended, action.stderr()).toBe(0)
    expect(parseGithubEnv(await readFile(file, 'utf8'))).toEqual(secrets)
  })

  it.each([
    ['without a token', { token: '' }, '::error::the input token is empty'],
    ['without a url', { url: '' }, '::error::the input url is missing'],
    ['with a name of the runner', {}, '::error::the runner uses these names itself: GITHUB_TOKEN'],
    ['without the command', { command: 'no-such-skerry' }, '::error::the skerry command cannot be started: ENOENT'],
  ])('%s fails, and writes nothing', async (_, given, message) => {
    const file = join(runner.home, 'nothing')
    await writeFile(file, '')
    const action = start(given, file)
    expect(await action.ended).toBe(1)
    expect(action.stdout()).toContain(message)
    expect(await readFile(file, 'utf8')).toBe('')
  })

  it('ends with the code of skerry when a token is refused or a secret is missing', async () => {
    const file = join(runner.home, 'nothing')
    for (const [given, code] of [
      [{ token: `${token.slice(0, -4)}AAAA` }, 3],
      [{ only: 'MISSING' }, 4],
      // The pin of no directory of this server.
      [{ pin: 'A'.repeat(43) }, 3],
    ] as const) {
      const action = start(given, file)
      expect([given, await action.ended]).toEqual([given, code])
      expect(masksIn(action.stdout())).toEqual([])
    }
  })

  it('action.yml has the fields of an action, and exactly the inputs that the program reads', () => {
    expect(Object.keys(rest).sort()).toEqual(['author', 'branding', 'description', 'name'])
    expect(runs).toEqual({ using: 'node24', main: 'main.mjs' })
    const [, read = ''] = /= (\[[^\]]*\])\.map\(\s*input/.exec(textOf('github-action/main.mjs')) ?? []
    expect([...read.matchAll(/'(\w+)'/g), ['', 'command']].map(([, name]) => name).sort()).toEqual(
      Object.keys(inputs).sort(),
    )
    for (const one of Object.values<object>(inputs)) {
      expect(one).toMatchObject({ description: expect.any(String), required: expect.any(Boolean) })
      expect(Object.keys(one).filter((key) => !['description', 'required', 'default'].includes(key))).toEqual([])
    }
  })
})

it('a job of GitLab gets the secrets in one program, and its log shows none', async () => {
  const { '.skerry': job } = parse(textOf('gitlab/skerry.gitlab-ci.yml'))
  // The script that README.md shows, with a program of this machine.
  const [, script = ''] = /script:\n {4}- (skerry run -- .*)\n/.exec(textOf('gitlab/README.md')) ?? []
  await runner.write('deploy', '#!/bin/sh\necho "connecting to $DATABASE_URL"\necho "$PRIVATE_KEY"\n')
  await chmod(join(runner.project, 'deploy'), 0o755)
  const lines = [...job.before_script, script, 'env | grep -c "s3cret" || true']
  const env = { CI: 'true', GITLAB_CI: 'true', SKERRY_TOKEN: token, CLI_PACKAGE: 'https://gitlab.invalid/none' }
  const { code, stdout, stderr } = await runner.shell(`set -e\n${lines.join('\n')} | cat`, { env })
  expect([code, stdout]).toEqual([0, expect.stringContaining('connecting to ********')])
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('0')
  expect(stdout + stderr).not.toMatch(/s3cret|second-half|skt_\w+_/)
})

describe.each(['container', 'examples/docker-compose'])('the image of %s', (path) => {
  const lines = textOf(`${path}/Dockerfile`)
  const listOf = (instruction: string) => JSON.parse(new RegExp(`^${instruction} (\\[.*\\])$`, 'm').exec(lines)![1]!)

  it('starts skerry without a shell, as a user without rights, and has no secret', () => {
    expect(listOf('ENTRYPOINT')).toEqual(['skerry', 'run', '--'])
    expect(lines).toMatch(/^USER node$/m)
    expect(lines).not.toMatch(/^(?:ARG|ENV) .*(?:TOKEN|KEY|PASSWORD)(?!_FILE)/m)
  })

  it('gives its program the secrets, with the token in a mounted file', async () => {
    await writeFile(join(runner.home, 'skerry_token'), `${token}\n`)
    const [file, ...args] = listOf('ENTRYPOINT') as string[]
    expect(file).toBe('skerry')
    const program = ['sh', '-c', 'echo "$DATABASE_URL"; env | grep -c SKERRY_TOKEN || true; echo $$']
    const { child, ended } = runner.start([...args, ...program], {
      env: { SKERRY_TOKEN_FILE: join(runner.home, 'skerry_token') },
    })
    // The program has the process id of the entry point, so that it gets the signals of the container.
    expect(await ended).toMatchObject({ code: 0, stdout: `${secrets.DATABASE_URL}\n0\n${child.pid}\n` })
  })
})

it('the entry point of Kubernetes gives its program the secrets, with the token of a mounted Secret', async () => {
  const pod = parse(textOf('kubernetes/entry-point.yaml')).spec.template.spec
  const [{ command, env, volumeMounts, securityContext }] = pod.containers
  const named = Object.fromEntries(env.map((one: { name: string; value: string }) => [one.name, one.value]))
  expect(Object.keys(named)).toEqual(['SKERRY_URL', 'SKERRY_TOKEN_FILE', 'HOME'])
  // Every path that `skerry` needs is mounted: the token, and a home on a disk that is read-only otherwise.
  const paths = volumeMounts.map((one: { mountPath: string }) => one.mountPath)
  expect(paths).toEqual([dirname(named.SKERRY_TOKEN_FILE), named.HOME])
  expect(volumeMounts.map((one: { name: string }) => one.name)).toEqual(
    pod.volumes.map((one: { name: string }) => one.name),
  )
  expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false })

  // The lines of the guide put the command where the manifest starts it.
  const [, copied] = /COPY --from=skerry \/app\/cli (\S+)/.exec(textOf('../docs/guides/kubernetes.md'))!
  expect(command.slice(0, 3)).toEqual([`${copied}/bin/skerry`, 'run', '--'])
  await writeFile(join(runner.home, 'mounted_token'), token)
  const { ended } = runner.start([...command.slice(1, 3), 'printenv', 'DATABASE_URL'], {
    env: { SKERRY_TOKEN_FILE: join(runner.home, 'mounted_token') },
  })
  expect(await ended).toMatchObject({ code: 0, stdout: `${secrets.DATABASE_URL}\n` })
})

it('the Compose file mounts the token that its Dockerfile expects, and holds no secret', () => {
  const { services, secrets: mounted } = parse(textOf('examples/docker-compose/compose.yaml'))
  const { environment, secrets: used } = services.shop
  expect(Object.keys(mounted)).toEqual(used)
  expect(environment.SKERRY_TOKEN_FILE).toBe(`/run/secrets/${used[0]}`)
  expect(Object.keys(environment)).not.toContain('SKERRY_TOKEN')
  for (const ignored of ['.gitignore', '.dockerignore']) {
    expect(textOf(`examples/docker-compose/${ignored}`).split('\n')).toContain(
      mounted.skerry_token.file.replace('./', ''),
    )
  }
})
