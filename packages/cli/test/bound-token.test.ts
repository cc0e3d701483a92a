import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Liar, openLiar } from './hostile/liar.ts'
import { type Machine, newMachine, signedUp } from './machine.ts'
import { ok } from './people.ts'
import { openServer, type Server } from './server.ts'

// A pipeline has a token of one environment, in a folder whose skerry.json names another application.

let server: Server
let liar: Liar
let admin: Machine
let pipeline: Machine
/** Has a token of the same environment, which lacks the key of a group. */
let half: Machine

beforeAll(async () => {
  server = await openServer()
  liar = await openLiar(server.url)
  admin = await signedUp(server.url, 'Acme')
  await ok(
    admin,
    `skerry env create staging && skerry app create web && skerry env create development --app web &&
    printf 3000 | skerry secrets set PORT --env staging && printf 4000 | skerry secrets set PORT --env development &&
    printf 5000 | skerry secrets set PORT --app web --env development`,
  )
  pipeline = await newMachine(server.url)
  half = await newMachine(liar.url)
  const project = JSON.stringify({ ...JSON.parse(await admin.read('skerry.json')), url: undefined, app: 'web' })
  for (const machine of [pipeline, half]) await machine.write('skerry.json', project)
  pipeline.env.SKERRY_TOKEN = (await ok(admin, 'skerry token create ci --env staging')).trim()
})
afterAll(async () => {
  await Promise.all([admin.remove(), pipeline.remove(), half.remove()])
  await liar.close()
  await server.close()
})

/** Runs a command line, and returns its exit code and everything that it printed. */
async function run(machine: Machine, command: string): Promise<[number | null, string]> {
  const { code, stdout, stderr } = await machine.shell(command)
  return [code, stdout + stderr]
}

describe('a token that is bound to an environment of another application than skerry.json names', () => {
  it.each([
    ['run -- printenv PORT', '3000\n'],
    ['run --env staging -- printenv PORT', '3000\n'],
    ['secrets get PORT', '3000'],
    ['secrets get PORT --env staging', '3000'],
    ['secrets ls --json', '"label": "shop/staging"'],
    ['secrets ls --env staging --json', '"label": "shop/staging"'],
    ['secrets export --format json', '3000'],
    ['secrets history PORT', '1 *'],
    ['secrets diff staging staging', '0 differ, 1 are the same'],
    ['secrets deleted --json', '"label": "shop/staging"'],
    ['secrets generate MADE', 'shop/staging'],
    ['secrets rm MADE --yes', 'deleted MADE from shop/staging'],
    ['branch create pr-1 --private', 'created branch shop/staging@pr-1'],
    ['branch ls', 'pr-1'],
    ['branch ls --env staging', 'pr-1'],
    ['branch show pr-1', 'shop/staging@pr-1'],
    ['run --branch pr-1 -- printenv PORT', '3000\n'],
    ['branch rm pr-1 --yes', 'deleted branch shop/staging@pr-1'],
    ['env ls', 'staging'],
    ['env show', 'shop/staging ('],
    ['env show staging', 'shop/staging ('],
    ['env trust', 'shop/staging has not changed'],
    ['compose ls', 'POSITION'],
    ['activity --json', '"scope": "shop/staging"'],
    ['whoami', 'bound to shop/staging'],
    ['setup', 'use shop/staging, and not web/development of skerry.json'],
  ])('uses its own environment in skerry %s', async (command, text) => {
    expect(await run(pipeline, `skerry ${command}`)).toEqual([0, expect.stringContaining(text)])
  })

  it('writes to its own environment, and opens its page', async () => {
    expect(await run(pipeline, 'printf 3000 | skerry secrets set PORT')).toEqual([
      0,
      expect.stringContaining('wrote PORT in shop/staging'),
    ])
    const { environment } = JSON.parse(await ok(pipeline, 'skerry secrets ls --json'))
    expect(await ok(pipeline, 'skerry open --no-browser')).toContain(`/envs/${environment.id}\n`)
  })

  it('is named by doctor, which asks for it once', async () => {
    let asked = 0
    liar.lie(/\/v1\/resolve$/, (body) => {
      asked++
      return body
    })
    const { code, stdout } = await pipeline.shell(`SKERRY_URL=${liar.url} skerry doctor`)
    liar.repent()
    expect([code, stdout, asked]).toEqual([
      0,
      expect.stringMatching(/warn .*token: bound to shop\/staging, .* instead of web\/development/),
      1,
    ])
  })

  it.each([
    'secrets get PORT --env development',
    'secrets ls --env development',
    'secrets export --env development',
    'secrets generate NEW --env development',
    'secrets diff development staging',
    'secrets copy PORT --to development',
    'run --env development -- true',
  ])('says why skerry %s cannot work, and advises no grant', async (command) => {
    const { code, stderr } = await pipeline.shell(`skerry ${command}`)
    expect([code, stderr]).toEqual([
      3,
      'skerry: this token is bound to shop/staging, and cannot read shop/development; leave --app and --env out to use ' +
        'shop/staging, or use another credential\n',
    ])
  })

  it('names the stored credential that can read instead, on a terminal alone', async () => {
    const profile = `acme@${new URL(server.url).host}`
    const { SKERRY_TOKEN } = pipeline.env as { SKERRY_TOKEN: string }
    const bound = await admin.terminal(`env SKERRY_TOKEN=${SKERRY_TOKEN} skerry secrets get PORT --env development`)
    expect([bound.code, bound.stdout]).toEqual([
      3,
      expect.stringContaining(`shop/staging, or add \`--profile ${profile}\`, which can read it`),
    ])
    const inScript = await admin.skerry(['secrets', 'get', 'PORT', '--env', 'development'], { env: { SKERRY_TOKEN } })
    expect(inScript.stderr).not.toContain('--profile')
    await ok(admin, 'skerry token create bare --admin | skerry login --token --profile bare')
    const bare = await admin.terminal('skerry secrets get PORT --env staging --profile bare')
    expect([bare.code, bare.stdout]).toEqual([
      3,
      expect.stringContaining(
        `the token bare does not have the key of shop/staging; add \`--profile ${profile}\`, which can read it, ` +
          'or ask an admin who can read it to run `skerry grant bare --app shop --env staging`',
      ),
    ])
    await ok(admin, `skerry profile use ${profile}`)
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

describe('a bound token without the key of a group', () => {
  beforeAll(async () => {
    await ok(
      admin,
      `skerry group create shared && skerry env create staging --group shared && skerry token create half --env staging > half &&
      skerry compose set shared --env staging --yes`,
    )
    half.env.SKERRY_TOKEN = (await admin.read('half')).trim()
  })

  it.each([
    ['secrets ls --stored --json', '"label": "shop/staging"'],
    ['env show', 'shop/staging ('],
    ['branch ls', 'pr-2'],
    ['whoami', 'bound to shop/staging'],
  ])('still works on its own environment in skerry %s', async (command, text) => {
    expect(await run(half, `skerry ${command}`)).toEqual([0, expect.stringContaining(text)])
  })

  it('still writes to its own environment', async () => {
    expect(await run(half, 'printf 3000 | skerry secrets set PORT')).toEqual([
      0,
      expect.stringContaining('wrote PORT in shop/staging'),
    ])
  })

  it.each(['secrets get PORT', 'secrets ls', 'run -- true', 'doctor'])(
    'names the key that it lacks in skerry %s',
    async (command) => {
      const [code, text] = await run(half, `skerry ${command}`)
      expect([code === 0, text]).toEqual([false, expect.stringContaining('shared:staging')])
      expect(text).not.toContain('key of web/development')
    },
  )
})

it('is shown by skerry token show with every environment that it can read, groups and branches too', async () => {
  await ok(admin, 'skerry token create listed --env development')
  expect(await ok(admin, 'skerry token show listed')).toContain('\ncan read shop/development\n')
  await ok(
    admin,
    `skerry group create listed && skerry env create development --group listed &&
    skerry branch create pr-3 --env development && skerry grant listed --group listed --env development`,
  )
  expect(await ok(admin, 'skerry token show listed')).toContain(
    '\ncan read listed:development, shop/development, shop/development@pr-3\n',
  )
  const { access } = JSON.parse(await ok(admin, 'skerry token show listed --json'))
  expect(access.map(({ label }: { label: string }) => label).sort()).toEqual([
    'listed:development',
    'shop/development',
    'shop/development@pr-3',
  ])
  await ok(admin, 'skerry token create manager --admin')
  expect(await ok(admin, 'skerry token show manager')).toContain('\ncan read no environment\n')
})
