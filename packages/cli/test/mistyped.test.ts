import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

let server: Server
let machine: Machine
beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Mistyped')
  await machine.shell('printf secret | skerry secrets set DATABASE_URL')
  await machine.shell('skerry token create deploy; skerry group create shared; skerry env create production')
})
afterAll(async () => {
  await machine?.remove()
  await server?.close()
})

describe('a mistyped name is answered with the nearest one:', () => {
  it.each([
    ['secrets ls --env developmnt', 'did you mean development?'],
    ['secrets ls --app shpo --env development', 'did you mean shop?'],
    ['secrets ls --group sharde --env development', 'did you mean shared?'],
    ['secrets get DATABSE_URL', 'did you mean DATABASE_URL?'],
    ['secrets rm DATABSE_URL --yes', 'did you mean DATABASE_URL?'],
    ['secrets rename DATABSE_URL OTHER', 'did you mean DATABASE_URL?'],
    ['secrets history DATABSE_URL', 'did you mean DATABASE_URL?'],
    ['secrets copy DATABSE_URL --to production', 'did you mean DATABASE_URL?'],
    ['run --only DATABSE_URL -- true', 'did you mean DATABASE_URL?'],
    ['token show depoly', 'did you mean deploy?'],
  ])('skerry %s', async (line, near) => {
    const { code, stdout, stderr } = await machine.skerry(line.split(' '))
    expect([code, stdout, stderr]).toEqual([4, '', expect.stringContaining(near)])
    const { stderr: json } = await machine.skerry([
      ...line.split(' -- ')[0]!.split(' '),
      '--json',
      ...(line.includes(' -- ') ? ['--', 'true'] : []),
    ])
    expect(JSON.parse(json).error).toMatchObject({ code: 'not_found', next: expect.stringContaining(near) })
  })
})

describe('a missing argument is answered with what exists:', () => {
  it.each([
    ['secrets diff', 'skerry secrets diff shop/development shop/production'],
    ['sync bind', 'no platform is connected yet'],
    ['sync connect', 'vercel'],
    ['token show', '`skerry token ls` lists what exists'],
  ])('skerry %s', async (line, words) => {
    const { code, stdout, stderr } = await machine.skerry(line.split(' '))
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(words)])
  })
})

it('an import ends with its counts, also as a dry run and as JSON', async () => {
  await machine.write('.env', 'DATABASE_URL=other\nNEW=1\n')
  const tried = await machine.skerry(['secrets', 'import', '.env', '--keep', '--dry-run'])
  expect(tried.stderr).toContain('1 created, 0 replaced, 0 unchanged, 1 skipped (--keep leaves what differs)')
  const json = await machine.skerry(['secrets', 'import', '.env', '--overwrite', '--json'])
  expect(JSON.parse(json.stdout).counts).toEqual({ created: 1, replaced: 1, unchanged: 0, skipped: 0 })
})

it('the audit log names the environment of a deleted branch', async () => {
  await machine.shell('skerry branch create pr-7 && echo -n a | skerry secrets set A --branch pr-7')
  expect((await machine.shell('skerry branch rm pr-7 --yes')).code).toBe(0)
  const { stdout } = await machine.skerry(['audit', 'ls', '--action', 'branch.deleted'])
  expect(stdout).toContain('pr-7 (deleted)')
})
