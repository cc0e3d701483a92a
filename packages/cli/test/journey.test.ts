import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Machine, newMachine, signedUp } from './machine.ts'
import { resolveAsPublished } from './published-client.ts'
import { openServer, type Server } from './server.ts'

// The first week of a team, from one `.env` file to a machine without a server, on either database engine.

let server: Server
let owner: Machine
let machine: Machine
let token: string
let classic: string

const plain = Object.fromEntries(Array.from({ length: 49 }, (_, index) => [`SETTING_${index}`, `value ${index}`]))
/** Difficult values from real `.env` files. */
const hard = {
  DB_USER: 'shop',
  DATABASE_URL: 'postgres://${DB_USER}@db/shop?sslmode=require#frag',
  MULTILINE: '-----BEGIN KEY-----\nabc\ndef==\n-----END KEY-----\n',
  QUOTED: 'she said "hello"',
  SINGLE: "it's",
  HASH: 'a # not a comment',
  DOLLAR: 'pa$$word$',
  LITERAL: '$${DB_USER} stays',
  UNICODE: 'héllo 🌍 日本',
  EMPTY: '',
  SPACED: '  two spaces  ',
}

const dotenv = [
  '# the shop',
  ...Object.entries(plain).map(([name, value], index) =>
    index % 2 ? `export ${name}="${value}"` : `${name}=${value}`,
  ),
  'DB_USER=shop # who',
  `DATABASE_URL="${hard.DATABASE_URL}"`,
  `MULTILINE="${hard.MULTILINE}"`,
  `QUOTED='${hard.QUOTED}'`,
  `SINGLE="${hard.SINGLE}"`,
  `HASH='${hard.HASH}'`,
  `DOLLAR='${hard.DOLLAR}'`,
  "LITERAL='${DB_USER} stays'",
  `UNICODE=${hard.UNICODE}`,
  'EMPTY=',
  `SPACED="${hard.SPACED}"`,
].join('\r\n')

/**
 * The values that programs get. A reference in double quotes is expanded, and text in single quotes stays as it was
 * written.
 */
const expected = {
  ...plain,
  ...hard,
  DATABASE_URL: 'postgres://shop@db/shop?sslmode=require#frag',
  LITERAL: '${DB_USER} stays',
}

async function ok(command: string, on = owner): Promise<string> {
  const { code, stdout, stderr } = await on.shell(command)
  if (code !== 0) throw new Error(`${command}: ${stderr}`)
  return stdout
}

const environmentOf = async (on: Machine, flags = ''): Promise<Record<string, string>> =>
  JSON.parse(await ok(`SKERRY_TOKEN=${token} skerry run ${flags} -- node -p 'JSON.stringify(process.env)'`, on))

beforeAll(async () => {
  server = await openServer()
  owner = await signedUp(server.url, 'Journey', { cold: true })
  await ok('skerry group create shared && skerry env create development --group shared && skerry compose set shared')
  await owner.write('.env', `\uFEFF${dotenv}`)
  machine = await newMachine(server.url, { cold: true })
})
afterAll(async () => {
  await owner?.remove()
  await machine?.remove()
  await server?.close()
})

test('a program gets 60 variables that were imported into a group and an environment, with two overrides of a branch', async () => {
  await ok('skerry secrets import .env --group shared --env development')
  await owner.write('own.env', 'SETTING_0=own\nONLY_HERE=1\n')
  await ok('skerry secrets import own.env')
  token = (await ok('skerry token create ci --app shop --env development')).trim()
  classic = (await ok('skerry token create old --app shop --env development --format classic')).trim()
  await ok('skerry branch create feature --env development --ttl 7d')
  await ok('echo -n branched | skerry secrets set SETTING_1 --branch feature')
  await ok('echo -n branched | skerry secrets set SETTING_2 --branch feature')
  expect(await environmentOf(machine)).toMatchObject({ ...expected, SETTING_0: 'own', ONLY_HERE: '1' })
  expect(await environmentOf(machine, '--branch feature')).toMatchObject({
    ...expected,
    SETTING_0: 'own',
    SETTING_1: 'branched',
    SETTING_2: 'branched',
  })
})

test('an export that is imported again keeps every value', async () => {
  await ok('skerry secrets export --stored --group shared --env development > out.env')
  await ok('skerry group create copy && skerry env create development --group copy')
  await ok('skerry secrets import out.env --group copy --env development')
  const format = '--env development --format json'
  const [first, second] = [
    await ok(`skerry secrets export --stored --group shared ${format}`),
    await ok(`skerry secrets export --stored --group copy ${format}`),
  ]
  expect(JSON.parse(first)).toEqual({ ...plain, ...hard })
  expect(JSON.parse(second)).toEqual(JSON.parse(first))
})

test('a client written from the published formats alone reads the secrets that our CLI wrote', async () => {
  expect(await resolveAsPublished(server.url, classic)).toEqual({ ...expected, SETTING_0: 'own', ONLY_HERE: '1' })
})

test('without the server, --offline gives the cached values, and a machine without a cache gets nothing', async () => {
  await server.stop()
  try {
    expect(await environmentOf(machine, '--offline')).toMatchObject({ ...expected, SETTING_0: 'own' })
    expect(await environmentOf(machine, '--offline --branch feature')).toMatchObject({ SETTING_1: 'branched' })
    const stranger = await newMachine(server.url, { cold: true })
    const { code, stdout } = await stranger.skerry(['run', '--offline', '--', 'printenv', 'SETTING_1'], {
      env: { SKERRY_TOKEN: token },
    })
    expect([code === 0, stdout]).toEqual([false, ''])
    await stranger.remove()
  } finally {
    await server.start()
  }
})

test('a revoked token is refused, and its cached copy is deleted', async () => {
  const id = token.split('_').slice(0, 2).join('_')
  await ok(`skerry token revoke ${id} --yes`)
  const env = { SKERRY_TOKEN: token }
  const refused = await machine.skerry(['run', '--', 'printenv', 'SETTING_1'], { env })
  const offline = await machine.skerry(['run', '--offline', '--', 'printenv', 'SETTING_1'], { env })
  expect([refused.stdout, offline.stdout]).toEqual(['', ''])
  expect([refused.code, offline.code]).not.toContain(0)
})
