import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AppPlatform, startAppPlatform } from '../../server/test/services/app-platform.ts'
import { openWorld, type World } from '../../server/test/world.ts'
import { openLiar } from './hostile/liar.ts'
import { type Machine, signedUp } from './machine.ts'
import { ok as okOn } from './people.ts'

let platform: AppPlatform
let world: World
let machine: Machine
const ok = (command: string): Promise<string> => okOn(machine, command)

beforeAll(async () => {
  platform = await startAppPlatform()
  world = await openWorld(platform.settings)
  machine = await signedUp(world.url, 'Syncing')
  await machine.write('token', `${platform.token}\n`)
  await ok('echo -n value | skerry secrets set A && skerry sync connect fly.io --name fly --file token --yes')
})
afterAll(async () => {
  await machine?.remove()
  await world?.close()
  await platform?.stop()
})

const bindings = async () => JSON.parse(await ok('skerry sync ls --json')).bindings

test('no key is wrapped to a connection whose public key has changed', async () => {
  const { db } = world.server.context
  const [kept] = await db.rows<{ publicKeyJwk: string }>('select public_key_jwk from server_keypairs')
  const { tokens } = JSON.parse(await ok('skerry token ls --json'))
  await db.rows('update server_keypairs set public_key_jwk = $1', [tokens[0].publicKeyJwk])
  const bind = await machine.shell('skerry sync bind fly --to appName=shop --yes')
  expect([bind.code === 0, bind.stderr.includes('has a different key than before')]).toEqual([false, true])
  const replace = await machine.shell('skerry sync replace fly --file token --yes')
  expect([replace.code === 0, replace.stderr.includes('has a different key than before')]).toEqual([false, true])
  await db.rows('update server_keypairs set public_key_jwk = $1', [kept?.publicKeyJwk])
  expect(await bindings()).toEqual([])
})

test('a re-key knows a connection to which this machine gave a key, until its last binding is deleted', async () => {
  const id = (await ok('skerry sync bind fly --to appName=shop --mode manual --yes')).trim()
  const { code, stdout, stderr } = await machine.shell('skerry env rekey --yes --json')
  expect([code, JSON.parse(stdout || '{}').readers], stderr).toEqual([
    0,
    [expect.objectContaining({ principalType: 'sync_connection' })],
  ])
  const known = () => ok('cat $HOME/.config/skerry/known-readers.json')
  expect(await known()).toContain('"syn_')
  await ok(`skerry sync unbind ${id} --yes`)
  expect(await known()).not.toContain('"syn_')
})

test('tables show a connection that can read the environment by its name', async () => {
  const id = (await ok('skerry sync bind fly --to appName=shown --mode manual --yes')).trim()
  for (const command of ['env show development', 'env readers development', 'grant ls --env development'])
    expect(await ok(`skerry ${command}`)).toMatch(/^sync connection fly +sync connection /m)
  await ok(`skerry sync unbind ${id} --yes`)
})

test('skerry sync edit says when a push follows that waits for a pause of the destination', async () => {
  const [id] = (await ok('skerry sync bind fly --to appName=waiting --yes')).split('\n')
  const bound = async () => (await bindings()).find((one: { id: string }) => one.id === id)
  await expect.poll(async () => (await bound()).lastRun?.status, { timeout: 20_000 }).toBe('succeeded')
  expect((await machine.shell(`skerry sync edit ${id} --exclude B --yes`)).stderr).not.toContain('asked Skerry to wait')
  platform.answer(() => ({ status: 429, headers: { 'retry-after': '7200' }, body: { error: 'slow down' } }))
  await ok(`skerry sync run ${id} || true`)
  const edited = await machine.shell(`skerry sync edit ${id} --exclude C --yes`)
  platform.answer(null)
  expect([edited.code, edited.stderr]).toEqual([0, expect.stringContaining('asked Skerry to wait, so the next push')])
  await ok(`skerry sync unbind ${id} --yes`)
})

test('skerry sync bind that fails says what the server has then, and which command comes next', async () => {
  const liar = await openLiar(world.url)
  const other = await signedUp(liar.url, 'Failing')
  const failed = async () => {
    const { code, stderr } = await other.shell('skerry sync bind fly --to appName=failing --mode manual --yes')
    expect(code).not.toBe(0)
    liar.repent()
    const left = JSON.parse(await okOn(other, 'skerry sync ls --json')).bindings as { id: string; enabled: boolean }[]
    return { stderr, left }
  }
  const rekey = '\n  skerry env rekey shop/development\n'
  try {
    await other.write('token', `${platform.token}\n`)
    await okOn(
      other,
      'echo -n value | skerry secrets set A && skerry sync connect fly.io --name fly --file token --yes',
    )
    liar.refuse(/\/sync\/bindings$/, 'no binding')
    expect(await failed()).toEqual({ stderr: expect.stringContaining(rekey), left: [] })
    liar.refuse(/\/plan$/, 'no plan')
    const planless = await failed()
    expect(planless).toEqual({ stderr: expect.stringContaining(rekey), left: [] })
    expect(planless.stderr).toContain('the binding was deleted again')
    liar.refuse(/\/plan$/, 'no plan')
    liar.refuse(/\/sync\/bindings\/syb_\w+$/, 'no deletion')
    const kept = await failed()
    expect(kept.left).toHaveLength(1)
    expect(kept.stderr).toContain(`the server has the binding ${kept.left[0]!.id}, and can read shop/development`)
    expect(kept.stderr).toContain(`skerry sync unbind ${kept.left[0]!.id}`)
    await okOn(other, `skerry sync unbind ${kept.left[0]!.id} --yes`)
    liar.refuse(/\/sync\/bindings\/syb_\w+$/, 'no change')
    const paused = await failed()
    expect(paused.left).toEqual([expect.objectContaining({ enabled: false })])
    expect(paused.stderr).toContain(`skerry sync resume ${paused.left[0]!.id}`)
  } finally {
    await other.remove()
    await liar.close()
  }
})

test('skerry sync connect asks for each field with its explanation, and hides the typed credential', async () => {
  const { stdout, code } = await machine.terminal('skerry sync connect edge-workers --name edge', [
    ['Id of the Cloudflare account', `${'a'.repeat(32)}\r`],
    ['Credential of Cloudflare Workers', 'typed-credential\r'],
    ['gives the server a credential', 'y'],
  ])
  expect([code, stdout.includes('typed-credential')]).toEqual([0, false])
  expect(stdout).toContain('so it can read it')
  expect(stdout).toContain('Workers Scripts: Edit')
  const { connections } = JSON.parse(await ok('skerry sync ls --json'))
  expect(connections).toContainEqual(
    expect.objectContaining({ name: 'edge', config: { provider: 'edge-workers', accountId: 'a'.repeat(32) } }),
  )
})
