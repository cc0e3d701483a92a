import { existsSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isQuick } from '../../server/test/extent.ts'
import { findBubblewrap } from '../src/proxy/sandbox/bubblewrap.ts'
import { fileRules, openProxied, type Proxied, planted } from './proxied.ts'

const missing = isQuick ? undefined : whyNot()
if (missing !== undefined) {
  if (process.env.SKERRY_REQUIRE_SERVICES === '1') throw new Error(missing)
  process.stderr.write(`SKIPPED: ${missing}\n`)
}

function whyNot(): string | undefined {
  try {
    findBubblewrap()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

describe.skipIf(isQuick || missing !== undefined)('skerry proxy run --sandbox', () => {
  let proxied: Proxied
  let { machine, origin, got } = {} as Proxied
  /** Runs a script as the program in the sandbox. */
  const inside = async (script: string) => {
    await machine.write('program.sh', script)
    return machine.shell('skerry proxy run --sandbox -- sh program.sh')
  }
  beforeAll(async () => {
    proxied = await openProxied({ cold: true })
    ;({ machine, origin, got } = proxied)
    // The program can see the project, so these folders are visible unless the sandbox hides each of them.
    const folders = ['config', 'state', 'cache'].map((name) => join(machine.project, name))
    await Promise.all(folders.map((folder) => mkdir(join(folder, 'skerry'), { recursive: true, mode: 0o700 })))
    const [XDG_CONFIG_HOME = '', XDG_STATE_HOME = '', XDG_CACHE_HOME = ''] = folders
    Object.assign(machine.env, { XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME })
    await writeFile(join(XDG_CONFIG_HOME, 'skerry', 'credentials.json'), '{"version":1,"current":null,"profiles":{}}')
    await machine.write('skerry-proxy.toml', `${fileRules}[control]\nsocket = "control.sock"\n`)
  })
  afterAll(() => proxied.close())

  it('lets the program reach the upstream only through the proxy', async () => {
    got.length = 0
    const ask = `curl -sS -m 100 -H 'Authorization: Bearer {{skerry:API_KEY}}' ${origin}`
    const { stdout, stderr } = await inside(`${ask}/by-proxy; echo; ${ask}/direct --noproxy '*'; echo $?`)
    expect(stdout, stderr).toBe('fine\n7\n')
    expect(got).toEqual([{ url: '/by-proxy', authorization: `Bearer ${planted}` }])
  })

  it('hides the files of the command, the processes outside, the token, and all sockets except those of the proxy', async () => {
    const { stdout, stderr } = await inside(`
      ls -A config/skerry state/skerry cache/skerry
      cat state/skerry/proxy/skerry-proxy-ca-key.pem config/skerry/credentials.json
      curl -sS --unix-socket control.sock http://127.0.0.1/approvals
      ls /run
      cat /proc/*/environ | tr '\\0' '\\n' | grep TOKEN
      echo 'listen = "127.0.0.1:1"' >> skerry-proxy.toml
      env | grep -c SKERRY_TOKEN`)
    expect(stdout).toMatch(/^cache\/skerry:\n\nconfig\/skerry:\n\nstate\/skerry:\nproxy\n(.*user.*\n)*0\n$/)
    expect(stderr).toMatch(/skerry-proxy-ca-key.pem: (Permission denied|No such file)/)
    expect(stderr).toContain('config/skerry/credentials.json: No such file')
    expect(stderr).toMatch(/curl: \(7\)/)
    expect(stderr).toMatch(/skerry-proxy.toml: Read-only file system/)
    expect(stdout + stderr).not.toContain(machine.env.SKERRY_TOKEN)
  })

  it.each([
    ['SKERRY_TOKEN_FILE', '-u SKERRY_TOKEN'],
    ['SKERRY_PASSPHRASE_FILE', ''],
  ])('hides the file that %s names, also behind a symbolic link', async (variable, without) => {
    await machine.write('credential', `${machine.env.SKERRY_TOKEN}\n`)
    await machine.shell('ln -sf credential link')
    await machine.write('program.sh', 'cat link credential; echo ended')
    const inside = (file: string) =>
      machine.shell(`env ${without} ${variable}=${file} skerry proxy run --sandbox -- sh program.sh`)
    const { stdout, stderr } = await inside('link')
    expect(stdout, stderr).toBe('ended\n')
    expect(stderr).toMatch(/cat: link: Permission denied\ncat: credential: Permission denied/)
    // A pipe has no path that could be hidden.
    const piped = await inside('<(cat credential)')
    expect(piped.stdout, piped.stderr).toMatch(/ended\n$/)
  })

  it('hides the same when it is started in the root folder', async () => {
    const settings = join(machine.project, 'skerry-proxy.toml')
    const look = `ls -A /run ${machine.project}; cat /proc/*/environ`
    const args = ['proxy', 'run', '--sandbox', '-c', settings, '--', 'sh', '-c', look]
    const { stdout } = await machine.skerry(args, { cwd: '/' })
    expect(stdout).toContain('skerry-proxy.toml')
    expect(stdout).not.toMatch(/program\.sh|SKERRY_TOKEN/)
  })

  it('refuses access to the kernel’s keyring', async () => {
    const call = 'import ctypes as c; print(c.CDLL(None, use_errno=True).syscall(NUMBER, 0, -3, 0), c.get_errno())'
    const number = process.arch === 'x64' ? '250' : '219'
    const { stdout } = await inside(`python3 -c '${call.replace('NUMBER', number)}'`)
    expect(stdout).toBe('-1 1\n')
  })

  it('passes standard input to the program, and ends as the program ends', async () => {
    const { stdout, code } = await machine.shell('echo typed | skerry proxy run --sandbox -- sh -c "cat; exit 9"')
    expect([stdout, code]).toEqual(['typed\n', 9])
    const killed = await machine.skerry(['proxy', 'run', '--sandbox', '--', 'sh', '-c', 'kill -TERM $$'])
    expect(killed.signal).toBe('SIGTERM')
  })

  it('passes signals on, and ends all processes of the program with it', async () => {
    const script = 'sleep 1000 & trap "echo told; exit 7" TERM; echo started; while :; do sleep 0.05; done'
    const { child, says, ended } = machine.start(['proxy', 'run', '--sandbox', '--', 'sh', '-c', script])
    await says('started')
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 7, stdout: 'started\ntold\n' })
  })

  it('refuses a program that does not exist inside, and a command line without a program', async () => {
    await symlink('/bin/true', join(machine.home, 'outside'))
    const missing = await machine.shell('skerry proxy run --sandbox -- ../outside')
    expect([missing.code, missing.stderr]).toEqual([127, expect.stringContaining('../outside')])
    expect(await machine.shell('skerry proxy run --sandbox')).toMatchObject({ code: 2 })
  })

  it('starts nothing and gives the reason if bubblewrap is missing or the system refuses it', async () => {
    const empty = join(machine.home, 'empty')
    await mkdir(empty)
    await symlink(process.execPath, join(empty, 'node'))
    const run = ['proxy', 'run', '--sandbox', '--', '/bin/touch', 'was-started']
    const without = await machine.skerry(run, { env: { PATH: empty } })
    expect([without.code, without.stderr]).toEqual([
      1,
      expect.stringContaining('--sandbox needs the program bwrap, which was not found'),
    ])
    await writeFile(join(empty, 'bwrap'), '#!/bin/sh\necho no namespaces >&2; exit 1\n', { mode: 0o755 })
    const refused = await machine.skerry(run, { env: { PATH: empty } })
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('does not allow a sandbox: no namespaces'),
    ])
    expect(existsSync(join(machine.project, 'was-started'))).toBe(false)
  })
})
