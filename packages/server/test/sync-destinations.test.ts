import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sync } from '@skerry/contract/sync/endpoints'
import type { SyncTag } from '@skerry/contract/sync/providers'
import { syncVendors } from '@skerry/contract/vendors'
import type { NameRule } from '@skerry/providers/sync/provider'
import { syncProvider } from '@skerry/providers/sync/registry'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SyncFake } from '../../providers/test/sync/conformance.ts'
import { tagsByName } from '../../providers/test/sync/facts.ts'
import { syncFakes } from '../../providers/test/sync/fakes.ts'
import { isQuick } from './extent.ts'
import { deksFor, erase, keyOf, runNow, type Vaulted, vaultedEnv, wrapped, write } from './sync-scene.ts'
import { signUp, type Tenant } from './tenant.ts'
import { openWorld, type World } from './world.ts'

// Runs every destination from the API to a strict fake of the service, so that decisions of the server and requests of
// the adapter are tested together. The results are the table in docs/contributing/sync-tests.md. SKERRY_WRITE_TABLE=1
// writes it again.

const page = join(import.meta.dirname, '../../../docs/contributing/sync-tests.md')
const [begin, end] = ['<!-- The table is made by sync-destinations.test.ts. -->', '<!-- End of the table. -->']
const columns = [
  'Destination',
  'Requests for three new names',
  'Requests for one changed value',
  'Requests if no secret changed',
  'Name deleted in Skerry, with `onDelete: keep`',
  'Name deleted in Skerry, with `onDelete: delete`',
  'Value changed by somebody else at the destination',
  'Value changed by somebody else at the destination, then name deleted in Skerry, with `onDelete: delete`',
  'Name deleted in Skerry, then stored again',
  'Foreign name that is also the name of a secret in Skerry, without `adopt`',
  'The destination refuses one of several names',
  'The destination sends an error text that contains a value',
]

const tags = tagsByName()
const nameOf = (tag: SyncTag): string => syncVendors[tag].name
/** A destination that takes all names in one call, one with its own form of names, and one with options for values. */
const quick: SyncTag[] = ['cloud-c-key-vault', 'env-platform', 'app-platform-f']
const tried = isQuick ? quick : tags

type Fake = SyncFake<SyncTag>

let world: World
let tenant: Tenant
const fakes = new Map<SyncTag, Fake>()
const rows = new Map<SyncTag, string>()
beforeAll(async () => {
  for (const tag of tried) fakes.set(tag, (await syncFakes[tag]()) as unknown as Fake)
  const origins = Object.fromEntries([...fakes].map(([tag, { origin }]) => [tag, origin]))
  world = await openWorld({
    SKERRY_PROVIDER_ORIGINS: JSON.stringify(origins),
    SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  })
  tenant = await signUp(world)
})
afterAll(async () => {
  await world.close()
  for (const fake of fakes.values()) await fake.stop()
})

interface Scene {
  tag: SyncTag
  fake: Fake
  env: Vaulted
  bindingId: string
  /** The name as the API lists it. */
  own: (name: string) => string
  /** The name as the service stores it. */
  there: (name: string) => string
}

/** Creates an environment with three secrets, and connects and binds it as clients do. */
async function bound(tag: SyncTag): Promise<Scene> {
  const fake = fakes.get(tag) as Fake
  fake.reset()
  const { form, prefix } = (await syncProvider(tag)).describe(fake.connection).limits.name
  const own = (name: string) => formOf(form, name)
  const there = (name: string) => `${prefix}${own(name)}`
  fake.put(there('FOREIGN_NAME'), 'theirs')
  const env = await vaultedEnv(world, tenant)
  for (const name of ['FIRST_NAME', 'SECOND_NAME', 'THIRD_NAME'])
    await write(world, tenant, env, name, `value of ${name}`)
  const { config, destination, credential } = fake.connection
  const key = await keyOf(world, tenant)
  const org = { as: tenant.admin.as, params: { orgId: tenant.orgId } }
  const connection = { id: key.id, name: key.id, config, wrappedCredential: await wrapped(credential, key) }
  expect((await world.call(sync.createConnection, { ...org, body: connection })).status).toBe(201)
  const params = { orgId: tenant.orgId, connectionId: key.id }
  const verified = await world.call(sync.verifyConnection, { ...org, params, body: { destination } })
  expect([verified.status, fake.writes()]).toEqual([200, 0])
  const keys = { wrappedDeks: await deksFor([env], key), acknowledgedDecryption: true }
  const body = { connectionId: key.id, environmentId: env.id, destination, mode: 'manual' as const, ...keys }
  const answer = await world.call(sync.createBinding, { ...org, body: { ...body, exclude: ['FOREIGN_NAME'] } })
  expect(answer.status, answer.error?.message).toBe(201)
  return { tag, fake, env, bindingId: answer.body.binding.id, own, there }
}

const formOf = (form: NameRule['form'], name: string) => (form === 'dashed' ? name.replaceAll('_', '-') : name)

const onBinding = ({ bindingId }: Scene) => ({ as: tenant.admin.as, params: { orgId: tenant.orgId, bindingId } })

/** Runs a sync and counts its requests that write. There is no pause between pushes, because other tests cover that. */
async function pushed({ bindingId, fake }: Scene) {
  await world.server.context.db.rows('update sync_places set last_pushed_at = null')
  const before = fake.writes()
  const run = await runNow(world, tenant, { id: bindingId })
  return { ...run, requests: fake.writes() - before }
}

const edit = async (scene: Scene, body: object) =>
  expect((await world.call(sync.updateBinding, { ...onBinding(scene), body })).status).toBe(200)

const requests = (count: number) => `${count} ${count === 1 ? 'request' : 'requests'}`

describe('a destination, from the API to the service', () => {
  test.for(tried)('%s: gets new, changed and deleted secrets, and secrets of others stay untouched', async (tag) => {
    const scene = await bound(tag)
    const cells = [nameOf(tag)]
    cells.push(...(await writes(scene)), ...(await removals(scene)))
    cells.push(await drift(scene), await takenOver(scene), await returned(scene), await foreign(scene))
    cells.push(await refusal(scene), await echo(scene))
    rows.set(tag, `| ${cells.join(' | ')} |`)
  })

  test('gets all values again, and keeps its ledger, if only the setting for the use of values changes', async () => {
    // Two bindings of one organization never write the same name to one destination.
    tenant = await signUp(world)
    const scene = await bound('env-platform')
    const { fake, env, own } = scene
    await pushed(scene)
    await erase(world, tenant, env, 'THIRD_NAME')
    await edit(scene, { destination: { ...fake.connection.destination, secret: false } })
    const names = ['FIRST_NAME', 'SECOND_NAME'].map(own)
    expect(await pushed(scene)).toMatchObject({ status: 'succeeded', pushed: names, failures: [], unchanged: 0 })
    expect(await pushed(scene)).toMatchObject({ status: 'succeeded', pushed: [], unchanged: 2, requests: 0 })
    await edit(scene, { onDelete: 'delete' })
    expect(await pushed(scene)).toMatchObject({ status: 'succeeded', deleted: [own('THIRD_NAME')] })
  })

  test.runIf(tried.includes('app-platform-b'))(
    'gets a change within 5 seconds, even right after a push, although full pushes need longer pauses',
    async () => {
      tenant = await signUp(world)
      const { bindingId, env } = await bound('app-platform-b')
      for (let number = 1; number <= 7; number++) await write(world, tenant, env, `NAME_${number}`, 'a value')
      await runNow(world, tenant, { id: bindingId })
      await write(world, tenant, env, 'FIRST_NAME', 'another value')
      const askedAt = performance.now()
      expect(await runNow(world, tenant, { id: bindingId })).toMatchObject({ pushed: ['FIRST_NAME'] })
      expect(performance.now() - askedAt).toBeLessThan(5000)
    },
  )

  test('counts as the same one by name and by id, and as another one once its name belongs to another app', async () => {
    tenant = await signUp(world)
    const heroku = fakes.get('app-platform-f') as unknown as Awaited<
      ReturnType<(typeof syncFakes)['app-platform-f']>
    > & {
      rename: (otherId: string) => void
    }
    const scene = await bound('app-platform-f')
    const { config, destination: byName, credential } = heroku.connection
    const byId = { ...byName, app: '01234567-89ab-4def-8123-456789abcdef' }
    expect(await pushed(scene)).toMatchObject({ status: 'succeeded', pushed: { length: 3 } })
    const key = await keyOf(world, tenant)
    const org = { as: tenant.admin.as, params: { orgId: tenant.orgId } }
    const body = { id: key.id, name: key.id, config, wrappedCredential: await wrapped(credential, key) }
    await world.call(sync.createConnection, { ...org, body })
    const again = { connectionId: key.id, environmentId: scene.env.id, destination: byId, mode: 'manual' as const }
    const keys = { wrappedDeks: await deksFor([scene.env], key), acknowledgedDecryption: true }
    const refused = await world.call(sync.createBinding, { ...org, body: { ...again, ...keys } })
    expect([refused.status, refused.error?.message]).toEqual([409, expect.stringContaining(scene.bindingId)])
    // An edit of another setting sends no request to the service, and keeps the ledger.
    await edit(scene, { onDelete: 'delete' })
    expect(await pushed(scene)).toMatchObject({ status: 'succeeded', pushed: [], unchanged: 3 })
    // The same secrets in another app of that name do not belong to the binding.
    heroku.rename('99999999-89ab-4def-8123-456789abcdef')
    const run = await pushed(scene)
    expect([run.status, run.pushed, run.skipped.length, run.requests]).toEqual(['succeeded', [], 3, 0])
  })

  const keepsDeleted: SyncTag[] = ['cloud-a-secrets-manager', 'cloud-c-key-vault']
  test.for(tried.filter((tag) => keepsDeleted.includes(tag)))(
    '%s: a deleted secret of somebody else is neither restored nor overwritten, unless it is adopted',
    async (tag) => {
      tenant = await signUp(world)
      const scene = await bound(tag)
      const { fake, own, there } = scene
      fake.put(there('FIRST_NAME'), 'theirs')
      fake.softDelete?.(there('FIRST_NAME'))
      const plan = (await world.call(sync.plan, { ...onBinding(scene), body: {} })).body.plan
      expect(plan.foreign).toEqual([own('FIRST_NAME')])
      const run = await pushed(scene)
      expect(run).toMatchObject({ status: 'succeeded', failures: [] })
      expect(run.skipped).toEqual([{ name: own('FIRST_NAME'), reason: expect.stringContaining('deleted secret') }])
      expect(fake.values().has(there('FIRST_NAME'))).toBe(false)
      await edit(scene, { adopt: true })
      expect(await pushed(scene)).toMatchObject({ status: 'succeeded', pushed: [own('FIRST_NAME')] })
      expect(fake.values().get(there('FIRST_NAME'))).toBe('value of FIRST_NAME')
      // A secret that this binding wrote still belongs to it after somebody has deleted it.
      fake.softDelete?.(there('FIRST_NAME'))
      expect(await pushed(scene)).toMatchObject({ status: 'succeeded', pushed: [own('FIRST_NAME')] })
    },
  )

  test('has the row in the table of docs/contributing/sync-tests.md that these tests give it', () => {
    expect([...rows.keys()]).toEqual(tried)
    const text = readFileSync(page, 'utf8')
    if (process.env.SKERRY_WRITE_TABLE) writeFileSync(page, withTable(text))
    else for (const row of rows.values()) expect(text).toContain(row)
    const listed = [
      ...(text.split(begin)[1]?.split(end)[0] ?? '').matchAll(/^\| (?!Destination )([^|-][^|]*) \|/gm),
    ].map(([, name]) => name)
    if (!process.env.SKERRY_WRITE_TABLE) expect(listed).toEqual(tags.map(nameOf))
  })
})

function withTable(text: string): string {
  const lines = [`| ${columns.join(' | ')} |`, `|${'---|'.repeat(columns.length)}`, ...rows.values()]
  const [before = ''] = text.split(begin)
  const [, after = ''] = text.split(end)
  return `${before}${begin}\n\n${lines.join('\n')}\n\n${end}${after}`
}

async function writes(scene: Scene): Promise<string[]> {
  const { fake, env, own, there } = scene
  const names = ['FIRST_NAME', 'SECOND_NAME', 'THIRD_NAME']
  const { body } = await world.call(sync.plan, { ...onBinding(scene), body: {} })
  expect(body.plan).toMatchObject({ create: names.map(own), update: [], delete: [], refused: [] })
  const first = await pushed(scene)
  expect(first).toMatchObject({ status: 'succeeded', pushed: names.map(own), failures: [] })
  for (const name of names) expect(fake.values().get(there(name))).toBe(`value of ${name}`)
  await write(world, tenant, env, 'SECOND_NAME', 'another value')
  const change = await pushed(scene)
  expect(change).toMatchObject({ status: 'succeeded', pushed: [own('SECOND_NAME')], unchanged: 2 })
  expect(fake.values().get(there('SECOND_NAME'))).toBe('another value')
  const again = await pushed(scene)
  expect(again).toMatchObject({ status: 'succeeded', pushed: [], unchanged: 3, requests: 0 })
  return [requests(first.requests), requests(change.requests), requests(again.requests)]
}

async function removals(scene: Scene): Promise<string[]> {
  const { fake, env, own, there } = scene
  await erase(world, tenant, env, 'THIRD_NAME')
  expect(await pushed(scene)).toMatchObject({ status: 'succeeded', deleted: [], requests: 0 })
  expect(fake.values().has(there('THIRD_NAME'))).toBe(true)
  await edit(scene, { onDelete: 'delete' })
  const removal = await pushed(scene)
  expect(removal).toMatchObject({ status: 'succeeded', pushed: [], deleted: [own('THIRD_NAME')] })
  expect([...fake.values().keys()].sort()).toEqual(['FIRST_NAME', 'FOREIGN_NAME', 'SECOND_NAME'].map(there))
  return ['the name stays at the destination', `Skerry removes the name with ${requests(removal.requests)}`]
}

async function drift(scene: Scene): Promise<string> {
  const { fake, own, there } = scene
  fake.put(there('FIRST_NAME'), 'by hand')
  const run = await pushed(scene)
  expect(run.status).toBe('succeeded')
  if (run.pushed.length === 0) return 'Skerry cannot see the change, so the changed value stays at the destination'
  expect([run.pushed, fake.values().get(there('FIRST_NAME'))]).toEqual([[own('FIRST_NAME')], 'value of FIRST_NAME'])
  return 'Skerry writes its own value again'
}

/** Somebody else changes a secret that is then deleted here. It stays if the destination shows the change. */
async function takenOver(scene: Scene): Promise<string> {
  const { fake, env, own, there } = scene
  await write(world, tenant, env, 'TAKEN_NAME', 'ours')
  expect(await pushed(scene)).toMatchObject({ status: 'succeeded', pushed: [own('TAKEN_NAME')] })
  fake.put(there('TAKEN_NAME'), 'by hand')
  await erase(world, tenant, env, 'TAKEN_NAME')
  const plan = (await world.call(sync.plan, { ...onBinding(scene), body: {} })).body.plan
  const run = await pushed(scene)
  expect([run.status, run.deleted]).toEqual(['succeeded', plan.delete])
  if (run.deleted.length > 0) return 'Skerry cannot see the change, so it removes the name'
  expect(run.skipped).toEqual([{ name: own('TAKEN_NAME'), reason: expect.stringContaining('Somebody else') }])
  expect(fake.values().get(there('TAKEN_NAME'))).toBe('by hand')
  return 'the changed value stays at the destination'
}

/** A name that was removed and then added again belongs to the binding, even if the destination keeps deleted names. */
async function returned(scene: Scene): Promise<string> {
  const { fake, env, own, there } = scene
  await write(world, tenant, env, 'THIRD_NAME', 'back again')
  const run = await pushed(scene)
  const [failure] = run.failures
  if (failure !== undefined) {
    expect(failure.reason).toContain('still being deleted')
    await erase(world, tenant, env, 'THIRD_NAME')
    return 'Skerry writes the name again after the destination has finished the deletion'
  }
  expect(run).toMatchObject({ status: 'succeeded', pushed: [own('THIRD_NAME')] })
  expect(fake.values().get(there('THIRD_NAME'))).toBe('back again')
  return 'Skerry writes the name again'
}

async function foreign(scene: Scene): Promise<string> {
  const { fake, env, own, there } = scene
  await write(world, tenant, env, 'FOREIGN_NAME', 'ours')
  await edit(scene, { exclude: [] })
  const run = await pushed(scene)
  expect(run).toMatchObject({ status: 'succeeded', pushed: [], failures: [], requests: 0 })
  expect(run.skipped.map(({ name }) => name)).toContain(own('FOREIGN_NAME'))
  expect(fake.values().get(there('FOREIGN_NAME'))).toBe('theirs')
  await edit(scene, { exclude: ['FOREIGN_NAME'] })
  return 'Skerry does not change the foreign name'
}

async function refusal(scene: Scene): Promise<string> {
  const { fake, env, own, there } = scene
  if (fake.refuse === undefined) return 'none is'
  fake.refuse(there('BAD_NAME'))
  await write(world, tenant, env, 'BAD_NAME', 'a value')
  await write(world, tenant, env, 'GOOD_NAME', 'a value')
  const run = await pushed(scene)
  expect(run).toMatchObject({ status: 'partial', pushed: [own('GOOD_NAME')] })
  expect(run.failures.map(({ name }) => name)).toEqual([own('BAD_NAME')])
  expect([fake.values().has(there('GOOD_NAME')), fake.values().has(there('BAD_NAME'))]).toEqual([true, false])
  await erase(world, tenant, env, 'BAD_NAME')
  return 'Skerry reports the refused name as failed, and pushes the other names'
}

/** The service repeats the value and the credential in its error. Neither may appear in a response or in the log. */
async function echo(scene: Scene): Promise<string> {
  const { fake, env } = scene
  const value = `canary ${crypto.randomUUID()}`
  await write(world, tenant, env, 'FIRST_NAME', value)
  fake.fail('echo')
  const run = await pushed(scene)
  expect(['partial', 'failed']).toContain(run.status)
  expect(run.failures.length + (run.error === null ? 0 : 1)).toBeGreaterThan(0)
  const told = [...world.answers, ...world.log].join('\n')
  for (const secret of [value, value.slice(7), fake.connection.credential.slice(0, 200)])
    expect(told.includes(secret)).toBe(false)
  return 'Skerry does not show the value'
}
