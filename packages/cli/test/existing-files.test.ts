import { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commands } from '../src/commands/table.ts'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

let server: Server
let machine: Machine
beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Files')
  await machine.write('template', 'a=${A}\n')
  const { code, stderr } = await machine.shell(
    [
      'printf 1 | skerry secrets set A',
      'skerry kms create box',
      'skerry kms create pen --spec ecdsa-p256-sha256',
      'skerry kms encrypt box --file template --out sealed',
      'skerry agent create helper',
    ].join(' && '),
  )
  if (code !== 0) throw new Error(stderr)
})
afterAll(async () => {
  await machine?.remove()
  await server?.close()
})

const lines: Record<string, string> = {
  'org export': 'mine',
  'secrets export': '--out mine',
  'secrets substitute': 'template --out mine',
  'kms encrypt': 'box --file template --out mine',
  'kms decrypt': 'box --file sealed --out mine',
  'kms data-key': 'box --out mine',
  'kms sign': 'pen --file template --out mine',
  'agent policy edit': 'helper --file mine',
  'proxy init': '--preset github --file mine',
}

describe('a file that exists', () => {
  it.each(Object.entries(lines))('is replaced by skerry %s only with --force', async (command, rest) => {
    await machine.write('mine', 'the work of a day')
    const refused = await machine.shell(`skerry ${command} ${rest}`)
    expect(refused).toMatchObject({ code: 5, stdout: '' })
    expect(refused.stderr).toContain(
      'mine already exists, so nothing was written; name another file, or replace it with --force',
    )
    expect(await machine.read('mine')).toBe('the work of a day')
    expect((await machine.shell(`skerry ${command} ${rest} --force`)).code).toBe(0)
    expect(await machine.read('mine')).not.toContain('the work of a day')
    expect((await machine.shell('ls | grep mine; rm mine')).stdout).toBe('mine\n')
    expect((await machine.shell(`skerry ${command} ${rest}`)).code).toBe(0)
    await machine.shell('rm mine')
  })

  it('is not replaced through a link, and a pipe is never replaced', async () => {
    await machine.shell('echo kept > target; ln -sf target link')
    expect((await machine.shell('skerry kms data-key box --out link')).code).toBe(5)
    expect(await machine.read('target')).toBe('kept\n')
    await machine.shell('mkfifo pipe')
    expect((await machine.shell('skerry kms data-key box --out pipe --force')).stderr).toContain('not a regular file')
    expect((await machine.shell('stat -c %F pipe')).stdout).toBe('fifo\n')
  })

  it('is replaced only with --force by every command that has --out or is in this table', async () => {
    const program = new Command('skerry').enablePositionalOptions()
    for (const { name, load } of commands) (await load()).register(program.command(name))
    const writing: string[] = []
    const visit = (command: Command, path: string) => {
      const longs = command.options.map(({ long }) => long)
      if (longs.includes('--out')) writing.push(path)
      if (Object.hasOwn(lines, path)) expect(longs, path).toContain('--force')
      for (const below of command.commands) visit(below, path === '' ? below.name() : `${path} ${below.name()}`)
    }
    visit(program, '')
    expect(writing.filter((path) => !Object.hasOwn(lines, path))).toEqual([])
  })
})

it('a token is written to a new file that only its owner can read, and to no other place', async () => {
  const made = await machine.shell('skerry token create backup --admin --file token')
  expect([made.code, made.stdout]).toEqual([0, ''])
  expect(made.stderr).toMatch(/created admin token backup \(skt_\w+\); it is in token, and shown nowhere else/)
  expect(made.stderr).toContain('administers the organization')
  expect((await machine.shell('stat -c %a token')).stdout).toBe('600\n')
  expect(await machine.shell('SKERRY_TOKEN=$(cat token) skerry members ls')).toMatchObject({ code: 0 })
  const refused = await machine.shell('skerry token create backup-2 --admin --file token')
  expect([refused.code, refused.stderr]).toEqual([
    5,
    expect.stringMatching(/token already exists.*; name another file$/m),
  ])
  expect((await machine.shell('skerry token ls')).stdout).not.toContain('backup-2')
  expect(JSON.parse((await machine.shell('skerry token create b --file t2 --json')).stdout)).not.toHaveProperty('token')
})

it.each([
  ['none/token', 'cannot write none/token: there is no such file or folder'],
  ['-', '- is not a file'],
])('a token for the path %s, which cannot be written, is not created', async (path, told) => {
  const { code, stdout, stderr } = await machine.shell(`skerry token create lost --admin --file ${path}`)
  expect([code === 0, stdout, stderr]).toEqual([false, '', expect.stringContaining(told)])
  expect((await machine.shell('skerry token ls')).stdout).not.toContain('lost')
})

it('a token that the server refuses leaves no file', async () => {
  const line = `skerry token create ${'x'.repeat(1000)} --admin --file refused`
  expect((await machine.shell(line)).code).not.toBe(0)
  expect((await machine.shell('ls | grep refused')).stdout).toBe('')
})

it.each(['skerry export .env', 'skerry export .env --no-audit', 'skerry export', 'skerry export - --json'])(
  '%s writes nothing and names both commands',
  async (line) => {
    await machine.write('.env', 'A=mine\n')
    const { code, stdout, stderr } = await machine.shell(line)
    expect([code, stdout]).toEqual([2, ''])
    for (const name of ['`skerry org export`', '`skerry secrets export`']) {
      expect(line.includes('--json') ? JSON.parse(stderr).error.next : stderr).toContain(name)
    }
    expect(await machine.read('.env')).toBe('A=mine\n')
  },
)

it.each([
  ['import .env', '`skerry secrets import`'],
  ['get A', '`skerry secrets get`'],
  ['remove A', '`skerry secrets rm`'],
  ['inject template', '`skerry secrets substitute`'],
])('skerry %s does nothing and suggests the command with the same meaning', async (words, suggestion) => {
  await machine.write('.env', 'A=mine\n')
  const { code, stdout, stderr } = await machine.shell(`skerry ${words}`)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(suggestion)
  expect(stderr).not.toContain('export')
  expect(await machine.read('.env')).toBe('A=mine\n')
})
