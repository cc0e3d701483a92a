import { afterAll, beforeAll, expect, it } from 'vitest'
import { exportFormats } from '../src/formats/names.ts'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

let server: Server
let machine: Machine

async function ok(script: string, input?: string): Promise<string> {
  const { code, stdout, stderr } = await machine.shell(script, input === undefined ? {} : { input })
  expect(stderr, script).not.toMatch(/^skerry: /m)
  expect(code, script).toBe(0)
  return stdout
}

const json = async (script: string) => JSON.parse(await ok(script))

beforeAll(async () => {
  server = await openServer()
  machine = await signedUp(server.url, 'Views')
  await ok(`
    skerry group create shared && skerry env create development --group shared && skerry compose set shared
    printf db.example.com | skerry secrets set HOST --group shared
    printf group | skerry secrets set WINS --group shared
    printf 'postgres://\${HOST}/shop' | skerry secrets set URL
    printf own | skerry secrets set WINS
    skerry branch create pr-7
    printf branch | skerry secrets set ONLY --branch pr-7
    skerry env create staging
    skerry env create empty
    printf staging.example.com | skerry secrets set HOST --env staging
    printf 'postgres://\${HOST}/shop' | skerry secrets set URL --env staging`)
})
afterAll(async () => {
  await machine?.remove()
  await server?.close()
})

const sourcesIn = (secrets: { name: string; source: { type: string; label: string } }[]) =>
  secrets.map(({ name, source }) => [name, source.type, source.label])

it('secrets list shows the secrets that a program gets, and the environment that each value comes from', async () => {
  const own = await json('skerry secrets ls --json')
  expect(sourcesIn(own.secrets)).toEqual([
    ['HOST', 'group', 'shared:development'],
    ['URL', 'own', 'shop/development'],
    ['WINS', 'own', 'shop/development'],
  ])
  expect(own.secrets[2].overrides.map(({ label }: { label: string }) => label)).toEqual(['shared:development'])
  const branch = await json('skerry secrets ls --branch pr-7 --json')
  expect(sourcesIn(branch.secrets)).toEqual([
    ['HOST', 'group', 'shared:development'],
    ['ONLY', 'own', 'shop/development@pr-7'],
    ['URL', 'parent', 'shop/development'],
    ['WINS', 'parent', 'shop/development'],
  ])
  expect(await ok('skerry secrets ls')).toMatch(
    /^NAME +VERSION +UPDATED +SOURCE\nHOST .* shared:development\nURL .* own\n/,
  )
  expect(await ok('skerry secrets ls --reveal')).toMatch(/ own +postgres:\/\/db\.example\.com\/shop\n/)
  const names = (secrets: { name: string }[]) => secrets.map(({ name }) => name)
  const given = JSON.parse(await ok(`skerry run -- node -p 'JSON.stringify(process.env)'`))
  for (const { name, value } of (await json('skerry secrets ls --reveal --json')).secrets)
    expect(given[name]).toBe(value)
  expect(names((await json('skerry secrets ls --stored --json')).secrets)).toEqual(['URL', 'WINS'])
  expect(names((await json('skerry secrets ls --stored --branch pr-7 --json')).secrets)).toEqual(['ONLY'])
})

it.each(exportFormats)(
  'an export as %s contains the values that a program gets, and with --stored the stored texts',
  async (format) => {
    const text = await ok(`skerry secrets export --branch pr-7 --format ${format}`)
    const readable =
      format === 'k8s' ? text.replace(/: (\S+)$/gm, (_, one) => Buffer.from(one, 'base64').toString()) : text
    for (const part of ['postgres://db.example.com/shop', 'branch', 'db.example.com']) expect(readable).toContain(part)
    const stored = await machine.shell(`skerry secrets export --stored --format ${format}`)
    expect(stored.code).toBe(0)
    expect(stored.stdout).not.toContain('db.example.com')
  },
)

it('secrets diff compares the values that programs get, and with --stored the stored texts', async () => {
  const differing = ({ secrets }: { secrets: { name: string }[] }) => secrets.map(({ name }) => name)
  expect(differing(await json('skerry secrets diff development staging --json'))).toEqual(['HOST', 'URL', 'WINS'])
  expect(differing(await json('skerry secrets diff development staging --stored --json'))).toEqual(['HOST', 'WINS'])
  const { secrets } = await json('skerry secrets diff development staging --json')
  expect(secrets[0]).toMatchObject({ leftSource: { label: 'shared:development' }, rightSource: { type: 'own' } })
})

it('the error for a credential without the key of a group names --stored', async () => {
  const token = (await ok('skerry token create half')).trim()
  await ok('skerry grant revoke half --group shared --env development --yes')
  for (const line of ['list', 'export', 'diff development development@pr-7']) {
    const refused = await machine.shell(`SKERRY_TOKEN=${token} skerry secrets ${line}`)
    expect([refused.code, refused.stdout, refused.stderr], line).toEqual([
      3,
      '',
      expect.stringContaining('--stored shows what'),
    ])
  }
  expect((await machine.shell(`SKERRY_TOKEN=${token} skerry secrets ls --stored`)).code).toBe(0)
})

it('--stored is refused together with options that contradict it', async () => {
  for (const line of [
    'list --stored --with shared=development',
    'export --stored --merged',
    'diff a b --stored --expand',
  ])
    expect(await machine.shell(`skerry secrets ${line}`)).toMatchObject({ code: 2, stdout: '' })
})

const nasty: Record<string, string> = {
  QUOTE: "it's",
  QUOTES: `'"\``,
  LINES: 'one\ntwo\n',
  CRLF: 'one\r\ntwo',
  DOLLAR: '$HOME $$ $(id) ${1}',
  REFERENCE: '${QUOTE} $${QUOTE}',
  BACKSLASH: 'a\\b\\n\\',
  EMPTY: '',
  SPACES: '  in and out  ',
  UNICODE: 'für 💥 \u2028',
  HASH: 'a # b',
  KEY: '-----BEGIN KEY-----\nYWJj=\n-----END KEY-----\n',
}

it.each(['shell', 'k8s', 'systemd', 'github-actions'] as const)(
  'difficult values survive an export as %s and an import',
  async (format) => {
    await machine.write('nasty.json', JSON.stringify(nasty))
    await ok(`skerry env create from-${format}; skerry env create to-${format}`)
    await ok(`skerry secrets import nasty.json --literal --env from-${format}`)
    await ok(`skerry secrets export --env from-${format} --format ${format} --out file-${format}`)
    await ok(`skerry secrets import file-${format} --env to-${format}`)
    expect(await json(`skerry secrets export --env to-${format} --json`)).toEqual(nasty)
  },
)
