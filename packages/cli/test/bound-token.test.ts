import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Machine, newMachine, signedUp } from './machine.ts'
import { ok } from './people.ts'
import { openServer, type Server } from './server.ts'

// A pipeline has a token of one environment, in a folder whose skerry.json names another.

let server: Server
let admin: Machine
let pipeline: Machine

beforeAll(async () => {
  server = await openServer()
  admin = await signedUp(server.url, 'Acme')
  await ok(admin, 'skerry env create staging')
  await ok(admin, 'printf 3000 | skerry secrets set PORT --env staging')
  await ok(admin, 'printf 4000 | skerry secrets set PORT --env development')
  pipeline = await newMachine(server.url)
  pipeline.env.SKERRY_TOKEN = (await ok(admin, 'skerry token create ci --env staging')).trim()
  await pipeline.write('skerry.json', await admin.read('skerry.json'))
})
afterAll(async () => {
  await Promise.all([admin.remove(), pipeline.remove()])
  await server.close()
})

describe('a token that is bound to another environment than skerry.json names', () => {
  it('uses its own environment in every command', async () => {
    expect(await ok(pipeline, 'skerry run -- printenv PORT')).toBe('3000\n')
    expect(await ok(pipeline, 'skerry secrets get PORT')).toBe('3000')
    expect(await ok(pipeline, 'skerry secrets export --format json')).toContain('3000')
    expect(JSON.parse(await ok(pipeline, 'skerry secrets ls --json')).environment.label).toBe('shop/staging')
    const written = await pipeline.shell('printf 3001 | skerry secrets set PORT')
    expect(written.stderr).toContain('wrote PORT in shop/staging')
    expect((await pipeline.skerry(['activity'])).stdout).toContain('PORT')
    const branch = await pipeline.shell(
      'skerry branch create pr-1 --private && skerry branch ls && skerry branch rm pr-1 --yes',
    )
    expect([branch.code, branch.stderr]).toEqual([0, expect.stringContaining('shop/staging@pr-1')])
  })

  it('is named by doctor and setup', async () => {
    const doctor = await pipeline.skerry(['doctor'])
    expect([doctor.code, doctor.stdout]).toEqual([
      0,
      expect.stringMatching(/warn .*token: bound to shop\/staging, .* instead of shop\/development/),
    ])
    const { stderr } = await pipeline.skerry(['setup'])
    expect(stderr).toContain('use shop/staging, and not shop/development of skerry.json')
  })

  it.each([
    'secrets get PORT --env development',
    'secrets ls --env development',
    'secrets export --env development',
    'secrets generate NEW --env development',
    'run --env development -- true',
  ])('says why skerry %s cannot work, and advises no grant', async (command) => {
    const { code, stderr } = await pipeline.shell(`skerry ${command}`)
    expect([code, stderr]).toEqual([
      3,
      'skerry: this token is bound to shop/staging, and cannot read shop/development; leave --app and --env out to use ' +
        'shop/staging, or use another credential\n',
    ])
  })

  it('cannot be granted another environment', async () => {
    const { code, stderr } = await admin.shell('skerry grant ci --env development')
    expect([code, stderr]).toEqual([
      5,
      'skerry: the token ci is bound to shop/staging, so it cannot get the key of shop/development; nothing was ' +
        'granted; create a token for it with `skerry token create <name> --app shop --env development`\n',
    ])
  })

  it('names the branch that it cannot read, and who must share it', async () => {
    await ok(admin, 'skerry branch create pr-2 --env staging --private')
    const { code, stderr } = await pipeline.skerry(['run', '--branch', 'pr-2', '--', 'true'])
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(
        /not have the key of shop\/staging@pr-2; an admin .*--app shop --env staging --branch pr-2`/,
      ),
    ])
  })
})
