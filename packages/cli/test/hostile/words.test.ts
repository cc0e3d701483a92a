import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { newSshKey } from '../../../server/test/lease-steps.ts'
import { type AppPlatform, startAppPlatform } from '../../../server/test/services/app-platform.ts'
import { commands } from '../../src/commands/table.ts'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine, passphrase } from '../people.ts'
import { type Json, type Liar, openLiar } from './liar.ts'
import { lines, walkedAlone } from './lines.ts'

// A malicious server puts control characters for terminals into its answers: into every text, into texts for people,
// into the answers to changes, and into error messages. No command may pass such a character on.

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

/** A window title, a command in the eight-bit form that clears the screen, and a character that reverses the text. */
const steering = '\u001b]0;evil\u0007\u009b2J\u202e'
const shown = '\\u001b]0;evil\\u0007\\u009b2J\\u202e'

/**
 * The fields that commands process. All other fields are texts for people. Names of secrets are changed too, and
 * commands refuse an answer with such a name.
 */
const worksWith =
  /^(?:id|.*Ids?|slug|.*Slug|wrappedDek|.*[cC]iphertext|publicKeyJwk|encryptedPrivateKey|type|role|status|state|source|principalType|action|decision|cursor|nextCursor|.*At)$/

const marked = (value: Json, isWhole: boolean, key = ''): Json => {
  if (typeof value === 'string') return !isWhole && worksWith.test(key) ? value : `${value}${steering}`
  if (Array.isArray(value)) return value.map((one) => marked(one, isWhole, key))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, marked(one, isWhole, name)]))
}

/** The files that write to a terminal or a pipe, with the reason why they print no text of a server. */
const ownWriters = {
  'output.ts': 'shows control characters',
  'main.js': 'runs before any other module, on any Node: its own sentence about the version',
  'keyring/agent.ts': 'tells its parent over a pipe that it is there',
  'run/guard.js': 'tells its parent over a pipe that it is there',
  'run/mask.ts': 'passes on what a program prints, byte for byte but for the values',
}

const several = fileURLToPath(new URL('several.ts', import.meta.url))

let server: PeopleServer
let platform: AppPlatform
let liar: Liar
let alice: PersonMachine
let bob: PersonMachine
let count = 0

beforeAll(async () => {
  platform = await startAppPlatform()
  server = await openPeopleServer(platform.settings)
  liar = await openLiar(server.url)
  alice = await newKeyHolder(server, 'words@example.com', liar.url)
  await alice.ok('skerry keys unlock && skerry org create "Words" && skerry init --yes --env development')
  await alice.ok('echo -n value | skerry secrets set A && skerry group create shared')
  await alice.ok('skerry env create development --group shared && skerry compose set shared')
  await alice.write('values.env', 'A=one\nC=three\n')
  await alice.write('rules.json', '[{"host":"api.example.com"}]')
  const { publicKey, privateKey } = newSshKey()
  await Promise.all([alice.write('ca', privateKey), alice.write('ca.pub', publicKey)])
  await alice.write('template', 'a=${A}\n')
  await alice.write('platform', platform.token)
  await alice.write('new-pass', passphrase)
  await alice.ok('skerry invite create bob@example.com')
  bob = await newKeyHolder(server, 'bob@example.com')
  await bob.ok(
    'skerry invite accept && skerry org create Theirs && skerry invite create words@example.com --org theirs',
  )
})
afterEach(() => liar.repent())
afterAll(async () => {
  await alice.shell('skerry keys lock')
  await Promise.all([alice.remove(), bob.remove()])
  await liar.close()
  await server.close()
  await platform.stop()
})

/** Creates the things that one walk needs, while the server is honest. Returns the values for the braces. */
async function furnished(): Promise<Record<string, string>> {
  const n = String(++count)
  const made = await inOneProcess([
    'keys unlock',
    'init --app shop --env development --yes',
    `env create spare-${n}`,
    `env create guarded-${n}`,
    `branch create pr-${n}`,
    `secrets set A --env spare-${n} --random 8`,
    `env protect guarded-${n} --yes`,
    `group create shared-${n}`,
    `app create other-${n}`,
    `invite create dave-${n}@example.com`,
    `grant --user ${bob.email} --reader ${bob.email} --env development`,
    `kms create billing-${n}`,
    `kms encrypt billing-${n} --file template --out sealed-${n}`,
    `kms create releases-${n} --spec ecdsa-p256-sha256`,
    `kms sign releases-${n} --file template --out signature-${n}`,
    `lease target add hosts-${n} --file ca --yes`,
    `agent create agent-${n}`,
    `vault project create product-${n}`,
    `sync connect fly.io --name fly-${n} --file platform --yes`,
    `secrets set A --env guarded-${n} --note why --random 8 --json`,
    'token create --name t --app shop --env development --json',
    'honey create --placement there --json',
    'client create --name m --json',
    `rotation create OTHER --every 30d --env spare-${n} --yes --json`,
    `sync bind fly-${n} --to appName=shop-${n} --env spare-${n} --mode manual --yes --json`,
    `vault webhooks create https://127.0.0.1:1/ --project product-${n} --json`,
  ])
  const [change, token, decoy, machine, rotated, bound, hook] = made.slice(-7).map(({ stdout }) => JSON.parse(stdout))
  return {
    n,
    url: liar.url,
    bob: bob.email,
    change: change.changeRequest.id,
    token: token.serviceToken.id,
    honey: decoy.honeyToken.id,
    client: machine.client.id,
    rotation: rotated.rotation.id,
    binding: bound.binding.id,
    webhook: hook.endpoint.id,
  }
}

/** Runs command lines one after the other, and returns the output of each. */
async function inOneProcess(commandLines: string[]) {
  const words = commandLines.map((line) => line.split(' ').filter(Boolean))
  await alice.write('lines.json', JSON.stringify(words))
  const { code, stdout, stderr } = await alice.shell(`node ${several} lines.json`)
  expect(code, stderr).toBe(0)
  const [outs, errors] = [stdout, stderr].map((text) => text.split(/\n@@@\d+\n/).slice(1))
  expect([outs!.length, errors!.length]).toEqual([words.length, words.length])
  return words.map((_, at) => ({ stdout: outs![at]!, stderr: errors![at]! }))
}

/** Runs every command against a server that lies, and returns the output of each command. */
async function walk(lie: () => void, more: string[] = []): Promise<Map<string, string>> {
  const found = await furnished()
  lie()
  const written = Object.entries(lines).map(([command, rest]) => {
    const [before, after] = rest.replace(/\{(\w+)\}/g, (_, name) => found[name]!).split('-- ')
    return [command, before, ...more, ...(after === undefined ? [] : ['--', after])].join(' ')
  })
  const printed = await inOneProcess(written)
  return new Map(Object.keys(lines).map((command, at) => [command, `${printed[at]!.stdout}${printed[at]!.stderr}`]))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not reach a terminal
const steers = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/

const inTexts = () => liar.lie(/./, (body) => marked(body, false))

describe('text from a server is printed with its control characters shown', () => {
  it('by every command, because each one has a row in lines.ts', async () => {
    const program = new Command().enablePositionalOptions()
    for (const { name, load } of commands) (await load()).register(program.command(name))
    const paths = (command: Command, path: string): string[] => {
      const below = command.commands.flatMap((one) => paths(one, `${path} ${one.name()}`))
      // A command with options does something itself, even if it has subcommands.
      return below.length === 0 || command.options.length > 0 ? [path, ...below] : below
    }
    const all = program.commands.flatMap((one) => paths(one, one.name()))
    expect([...Object.keys(lines), ...walkedAlone].sort()).toEqual(all.sort())
  })

  // Each walk runs every command. The quick run does the two walks that find most.
  const walks: [string, () => void, string[]][] = [
    ['in texts for people', inTexts, []],
    ['in error messages', () => liar.refuse(/./, `no ${steering}`), []],
    ['in texts for people, as JSON', inTexts, ['--json']],
    ['in every text', () => liar.lie(/./, (body) => marked(body, true)), []],
    ['in answers to changes', () => liar.lie(/./, answersToChanges), []],
  ]

  it.each(walks)('%s', async (_, lie, more) => {
    const printed = await walk(lie, more)
    const passedOn = [...printed].filter(([, text]) => steers.test(text))
    expect(passedOn).toEqual([])
    // Otherwise the walk has tested nothing.
    const showing = [...printed].filter(([, text]) => text.includes(']0;evil')).map(([command]) => command)
    expect(showing.length, showing.join(', ')).toBeGreaterThan(10)
  })

  it('in questions on a terminal', async () => {
    const { token } = await furnished()
    inTexts()
    const { stdout } = await alice.terminal(`skerry token revoke ${token}`, [['revokes token', 'n']])
    expect(stdout).toContain(`token t${shown}.`)
    expect(stdout).not.toContain('\u001b]0;evil')
  })

  it('by skerry login while it waits', async () => {
    inTexts()
    const bearer = alice.env.SKERRY_TOKEN as string
    delete alice.env.SKERRY_TOKEN
    const { child, tells, ended } = alice.start(['login', '--no-browser'])
    alice.env.SKERRY_TOKEN = bearer
    await tells(shown)
    child.kill('SIGTERM')
    expect((await ended).stderr).not.toMatch(steers)
  })

  it('because no other file writes to the terminal', () => {
    const folder = fileURLToPath(new URL('../../src', import.meta.url))
    const writers = globSync('**/*.{ts,js}', { cwd: folder }).filter((file) =>
      /\bwriteSync\(|\.std(?:out|err)\.write|console\.|\bcreateWriteStream\(/.test(
        readFileSync(`${folder}/${file}`, 'utf8'),
      ),
    )
    expect(writers.sort()).toEqual(Object.keys(ownWriters).sort())
  })
})

function answersToChanges(body: Json, method: string): Json {
  return method === 'GET' ? body : marked(body, true)
}
