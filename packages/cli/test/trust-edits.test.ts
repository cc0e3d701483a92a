import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operate } from '../../server/test/operate.ts'
import { type AppPlatform, startAppPlatform } from '../../server/test/services/app-platform.ts'
import { type Machine, newMachine } from './machine.ts'
import { newKeyHolder, ok, openPeopleServer, type PeopleServer, type PersonMachine } from './people.ts'

// Every kind of change that an entry depends on, in one organization with a signed directory. After each of them everything
// is signed, and two clients that started from a pin read on without a word: a person and a token.

let server: PeopleServer
let platform: AppPlatform
let ada: PersonMachine
let bob: PersonMachine
let cy: PersonMachine
let ci: Machine
let reader: Machine

const invite = async (email: string, role: string): Promise<PersonMachine> => {
  const person = await newKeyHolder(server, email)
  await ada.ok(`skerry invite create ${email} --role ${role} --code-file ${role}-${email}`)
  const code = (await ada.read(`${role}-${email}`)).trim()
  await person.ok(`echo ${code} | skerry invite accept --code`)
  await person.write('skerry.json', await ada.read('skerry.json'))
  return person
}

beforeAll(async () => {
  platform = await startAppPlatform()
  server = await openPeopleServer(platform.settings)
  ada = await newKeyHolder(server, 'ada@example.com')
  await ada.ok('skerry org create Edits && skerry init --yes --env development && skerry env create staging')
  await ada.ok('printf value | skerry secrets set A && skerry trust init --yes')
  await ada.write('token', `${platform.token}\n`)
  bob = await invite('bob@example.com', 'admin')
  cy = await invite('cy@example.com', 'admin')
  await ada.ok('skerry grant bob@example.com development && skerry grant cy@example.com development')
  for (const person of [bob, cy]) {
    const offer = (await person.ok('skerry trust signers offer')).trim()
    await ada.ok(`skerry trust signers add ${person.email} --key ${offer} --yes`)
  }
  ci = await newMachine(server.url)
  ci.env.SKERRY_TOKEN = (await ada.ok('skerry token create ci --env development')).trim()
  reader = await newMachine(server.url)
  Object.assign(reader.env, { ...bob.env, XDG_CONFIG_HOME: `${reader.home}/.config` })
  await reader.write('skerry.json', await ada.read('skerry.json'))
})
afterAll(async () => {
  for (const machine of [ada, bob, cy, ci, reader]) await machine?.remove()
  await server?.close()
  await platform?.stop()
})

const unsigned = async () => JSON.parse(await ada.ok('skerry trust status --json')).unsigned

/** Runs a command that must sign this, and looks whether everything is signed and everybody reads on. */
async function signs(by: PersonMachine, command: string, signed: string): Promise<string> {
  const { code, stdout, stderr } = await by.shell(command)
  expect([command, code, stderr]).toEqual([command, 0, expect.stringMatching(/^signed /m)])
  expect([command, stderr]).toEqual([command, expect.stringContaining(signed)])
  expect(stderr, command).not.toContain('not signed')
  expect([command, await unsigned()]).toEqual([command, []])
  for (const machine of [ci, reader])
    expect([command, await machine.shell('skerry run -- printenv A')]).toEqual([
      command,
      expect.objectContaining({ code: 0, stdout: 'value\n', stderr: '' }),
    ])
  return stdout.trim()
}

/** Replaces the server key, and drops what was encrypted under the former one. */
async function dropLeaked(): Promise<void> {
  await server.stop()
  const former = (await readFile(join(server.settings.SKERRY_DATA_DIR as string, 'server.key'), 'utf8')).trim()
  server.settings.SKERRY_SERVER_KEY = Buffer.alloc(32, 8).toString('base64url')
  const settings = { ...server.settings, SKERRY_SERVER_KEY_PREVIOUS: former }
  expect(await operate(settings, ['sealed', 'drop', '--leaked', '--yes'])).toMatchObject({ code: 0 })
  await server.start()
}

const custodians = '--threshold 2 --custodian ada@example.com --custodian bob@example.com --yes'

describe('a signer signs', () => {
  test('the recovery key, and a key that it gives back', async () => {
    await signs(ada, `skerry recovery setup ${custodians}`, 'signed root')
    const id = (await ada.ok('skerry recovery request bob@example.com --reason lost')).trim()
    const words = (await bob.ok('skerry keys fingerprint')).trim()
    for (const person of [ada, bob]) await person.ok(`skerry recovery contribute ${id} --words "${words}"`)
    const only = '--only shop/staging'
    await signs(bob, `skerry recovery complete ${id} ${only}`, 'shop/staging: reader bob@example.com added')
    await signs(ada, `skerry recovery rotate ${custodians}`, 'signed root')
    await signs(ada, 'skerry recovery disable --yes', 'signed root')
  })

  test('sync connections as readers', async () => {
    await signs(ada, 'skerry sync connect fly.io --name fly --file token --yes', 'sync connection')
    const bind = 'skerry sync bind fly --to appName=shop --mode manual --yes'
    const id = await signs(ada, bind, 'shop/development: reader sync connection')
    await signs(ada, `skerry sync unbind ${id} --yes`, 'removed')
    await signs(ada, 'skerry sync disconnect fly --yes', 'deleted')
  })

  test('the rotator as a reader', async () => {
    await signs(ada, 'skerry rotation create KEY --every 30d --yes', 'reader rotator of this server added')
    await signs(ada, 'skerry rotation rm KEY --yes', 'reader rotator of this server removed')
    await signs(ada, 'skerry rotation create KEY --every 30d --yes', 'reader rotator of this server added')
    await signs(ada, 'skerry rotation rm KEY --yes', 'reader rotator of this server removed')
  })

  test('the new key pairs that the operator gave the readers of the server', async () => {
    await ada.ok('skerry sync connect fly.io --name fly --file token --yes')
    await ada.ok('skerry sync bind fly --to appName=shop --mode manual --yes')
    await ada.ok('skerry rotation create KEY --every 30d --yes')
    await dropLeaked()
    await ada.ok('skerry sync trust fly --yes && skerry rotation trust --yes && skerry trust sign --yes')
    expect(await unsigned()).toEqual([])
    await ada.ok('skerry sync replace fly --file token --yes')
    await signs(ada, 'skerry sync edit fly --keys --yes', 'shop/development: reader sync connection')
    await signs(ada, 'skerry rotation create KEY --every 30d --yes', 'reader rotator of this server added')
    await ada.ok('skerry rotation rm KEY --yes && skerry sync disconnect fly --yes')
  })

  test('managed keys, their versions and their holders', async () => {
    await signs(ada, 'skerry kms create files', 'managed key files: added')
    await signs(ada, 'skerry kms grant files bob@example.com', 'managed key files: reader bob@example.com added')
    await signs(ada, 'skerry kms rotate files --yes', 'managed key files: new version')
    await signs(ada, 'skerry kms revoke files bob@example.com --yes', 'reader bob@example.com removed')
    await signs(ada, 'skerry kms rm files --yes', 'managed key files: deleted')
  })

  test('decoys like any token', async () => {
    await signs(ada, 'skerry honey create wiki', 'added')
    await signs(ada, 'skerry honey rm wiki --yes', 'deleted')
  })

  test('the new key of a protected environment with the last approval', async () => {
    await ada.ok('skerry env protect development --yes')
    const { changeRequest } = JSON.parse(await bob.ok('skerry env rekey development --yes --json'))
    await signs(ada, `skerry changes approve ${changeRequest.id} --yes`, 'shop/development: new key')
    await ada.ok('skerry env unprotect development --yes')
    await signs(bob, 'skerry env rekey development --yes', 'shop/development: new key')
  })

  test('no proposed key that no value proves', async () => {
    await ada.ok('skerry env create empty && skerry grant bob@example.com --env empty --reader bob@example.com')
    await ada.ok('skerry env protect empty --yes')
    const { changeRequest } = JSON.parse(await bob.ok('skerry env rekey empty --yes --json'))
    expect(await ada.shell(`skerry changes approve ${changeRequest.id} --yes`)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('not signed: the new key of shop/empty'),
    })
    expect(await unsigned()).toHaveLength(1)
    await ada.ok('skerry trust sign shop/empty --yes && skerry env unprotect empty --yes')
    await signs(ada, 'skerry env rm empty --yes', 'deleted')
  })

  test('the keys that a team gives', async () => {
    await ada.ok('skerry teams create backend && skerry teams grant backend --env shop/staging')
    await ada.ok('skerry teams include backend cy@example.com')
    const complete = 'skerry access complete shop/staging --member cy@example.com --yes'
    await signs(ada, complete, 'shop/staging: reader cy@example.com added')
  })

  test('that policies of a former signer count no more', async () => {
    await cy.write('rules.json', '[]')
    await ada.ok('skerry agent create builder --app shop --env development')
    const published = await cy.shell('skerry agent policy publish builder --file rules.json --yes')
    const [kid = ''] = /[\w-]{43}/.exec(`${published.stdout}${published.stderr}`) ?? []
    await ok(ci, `skerry proxy init --agent builder --signer ${kid}`)
    expect(await ci.shell('skerry proxy run -- true')).toMatchObject({ code: 0 })
    await signs(ada, 'skerry members role cy@example.com member --yes', 'cy@example.com signs no more')
    const { code, stderr } = await ci.shell('skerry proxy run -- true')
    expect([code, stderr]).toEqual([3, expect.stringContaining('nobody in policy.signers is a signer')])
  })

  test('what ends with a person who leaves', async () => {
    await signs(ada, 'skerry members offboard cy@example.com --yes', 'person cy@example.com: deleted')
    const { oldPins } = JSON.parse(await ada.ok('skerry trust status --json'))
    expect(oldPins).toEqual([
      expect.objectContaining({ name: 'ci', root: expect.any(Number), former: ['cy@example.com'] }),
    ])
  })

  test('no root without the other signers: the last one cannot leave', async () => {
    const { code, stderr } = await ada.shell('skerry members role bob@example.com member --yes')
    expect([code, stderr]).toEqual([0, expect.stringContaining('signed root')])
    const left = await ada.shell('skerry members rm ada@example.com --yes')
    expect([left.code, left.stderr]).toEqual([5, expect.stringContaining('you sign the directory')])
  })
})
