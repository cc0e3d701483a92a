import { afterAll, beforeAll, expect, test } from 'vitest'
import { seal } from '../../server/src/features/audit-proof/seal.ts'
import { operate } from '../../server/test/operate.ts'
import { type AppPlatform, startAppPlatform } from '../../server/test/services/app-platform.ts'
import { openWorld, start, type World } from '../../server/test/world.ts'
import { type Machine, signedUp } from './machine.ts'
import { ok as okOn } from './people.ts'

// The server key leaked. The operator drops what was encrypted under it, and an admin gives the new key pairs of the
// server what they need, as docs/operations/server-key.md says.

const nextKey = Buffer.alloc(32, 8).toString('base64url')

let platform: AppPlatform
let world: World
let machine: Machine
const ok = (command: string): Promise<string> => okOn(machine, command)

beforeAll(async () => {
  platform = await startAppPlatform()
  world = await openWorld(platform.settings)
  machine = await signedUp(world.url, 'Leaked')
  await machine.write('token', `${platform.token}\n`)
  await ok('echo -n value | skerry secrets set A && skerry sync connect fly.io --name fly --file token --yes')
  await ok('skerry sync bind fly --to appName=shop --mode manual --yes')
  await ok('skerry rotation create SESSION_KEY --every 1d --now --yes')
  await ok('ssh-keygen -q -t ed25519 -N "" -C "" -f ssh-ca && skerry lease target create hosts --file ssh-ca --yes')
  await seal(world.server.context)
  await ok('skerry audit verify && skerry audit checkpoint > before && skerry audit checkpoint --json > before.json')
  await dropLeaked()
  await seal(world.server.context)
})
afterAll(async () => {
  await machine?.remove()
  await world?.close()
  await platform?.stop()
})

async function dropLeaked(): Promise<void> {
  const { config } = world.server.context
  await world.server.close()
  const settings = {
    SKERRY_DATA_DIR: config.dataDir,
    SKERRY_DATABASE_URL: config.databaseUrl ?? '',
    SKERRY_SERVER_KEY: nextKey,
    SKERRY_SERVER_KEY_PREVIOUS: config.serverKey ?? '',
  }
  const { code, stderr } = await operate(settings, ['sealed', 'drop', '--leaked', '--yes'])
  expect(code, stderr).toBe(0)
  const port = Number(new URL(world.url).port)
  world.server = await start({ ...config, port, serverKey: nextKey }, world.log, world.clock.now)
}

const refusal = async (command: string) => {
  const { code, stderr } = await machine.shell(command)
  expect([code === 0, stderr.includes('has a different key than before')], stderr).toEqual([false, true])
  return stderr
}

test('a sync connection gets its new key accepted, a credential and the keys of its environments', async () => {
  expect(await refusal('skerry sync replace fly --file token --yes')).toContain('skerry sync trust fly')
  const unsure = await machine.shell('skerry sync trust fly < /dev/null')
  expect([unsure.code === 0, unsure.stderr.includes('Ask the operator of the server first')]).toEqual([false, true])
  await ok('skerry sync trust fly --yes')
  expect((await machine.shell('skerry sync trust fly')).stderr).toMatch(/the key of fly has not changed: \w+/)
  expect((await machine.shell('skerry sync run fly')).code).not.toBe(0)
  await ok('skerry sync replace fly --file token --yes && skerry sync edit fly --keys --yes')
  await ok('skerry sync run fly')
})

test('the rotator gets its new key accepted and the keys of environments with rotations', async () => {
  expect((await machine.shell('skerry rotation run SESSION_KEY --yes')).code).not.toBe(0)
  expect(await refusal('skerry rotation create SESSION_KEY --every 1d --yes')).toContain('`skerry rotation trust`')
  await ok('skerry rotation trust --yes')
  await ok('skerry rotation create SESSION_KEY --every 1d --yes && skerry rotation run SESSION_KEY --yes')
})

test('a lease target gets its admin credential again', async () => {
  expect((await machine.shell('skerry lease target verify hosts')).code).not.toBe(0)
  await ok('skerry lease target replace hosts --file ssh-ca --yes && skerry lease target verify hosts')
})

test('an environment gets a new key, which the readers of the server know', async () => {
  await ok('skerry env rekey --yes')
  await ok('skerry sync run fly && skerry rotation run SESSION_KEY --yes')
})

test('a checkpoint that was signed with the earlier key is compared once that key is known', async () => {
  const changed = await machine.shell('skerry audit checkpoint --compare before')
  expect([changed.code, changed.stderr]).toEqual([3, expect.stringContaining('signs with a different key than before')])
  await ok('skerry audit verify --restored')
  const known = await machine.shell('skerry audit checkpoint --compare before')
  expect([known.code, known.stderr]).toEqual([0, expect.stringContaining('both belong to the same audit log')])
  const compare = (more = '') =>
    machine.shell(`XDG_STATE_HOME=$HOME/other skerry audit checkpoint --compare before ${more}`)
  const unknown = await compare()
  expect([unknown.code, unknown.stderr]).toEqual([
    3,
    expect.stringMatching(/before is signed with a key that this machine does not know.*earlier key with --key/s),
  ])
  const { publicKey } = JSON.parse(await machine.read('before.json'))
  expect(await compare(`--key ${publicKey}`)).toMatchObject({ code: 0 })
  expect((await compare('--key short')).stderr).toContain('--key must be the 43-character key')
  const forged = await machine.shell(`sed '2s/.*/1/' before > forged && skerry audit checkpoint --compare forged`)
  expect(forged.stderr).toContain('the checkpoint is not signed with the server’s key')
})
