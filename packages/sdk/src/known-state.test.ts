import { newDek } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import { describe, expect, test } from 'vitest'
import { type Draft, layer, resolveWorld, shared } from '../test/world.ts'
import { memoryCache } from './cache.ts'
import { createKnownState, type KnownState, type KnownStateSettings } from './known-state.ts'
import type { ShownEnvironment } from './known-state-compare.ts'
import { RollbackError } from './rollback.ts'
import { createSkerry } from './skerry.ts'

const store = () => memoryCache({ ttlSeconds: 3600 })
const remember = (more: Partial<KnownStateSettings> = {}) =>
  createKnownState({ store: store(), baseUrl: 'https://skerry.example', principalId: 'one', ...more })
const kinds = (error: unknown) => (error as RollbackError).changes.map(({ kind }) => kind)
const rolledBack = (...expected: string[]) =>
  expect.toSatisfy((error: unknown) => error instanceof RollbackError && kinds(error).join() === expected.join())

const key = newDek()
const environment = (secrets: ShownEnvironment['secrets'], more: Partial<ShownEnvironment> = {}): ShownEnvironment => ({
  environmentId: 'env_a',
  label: 'shop/production',
  key,
  ...(secrets ? { secrets } : {}),
  ...more,
})
const look = (knownState: KnownState, environments: ShownEnvironment[], query?: string) =>
  knownState.check({ environments, ...(query === undefined ? {} : { query }) })
const one = (ciphertext: string, more = {}) => ({ name: 'A', ciphertext, ...more })

describe('the known state', () => {
  test('accepts what was seen before, and new values', async () => {
    const knownState = remember()
    for (const text of ['v1', 'v1', 'v2', 'v3']) await look(knownState, [environment([one(text)])], 'q')
  })

  test('refuses a replaced value that comes back, at each attempt', async () => {
    const knownState = remember()
    for (const text of ['v1', 'v2', 'v3']) await look(knownState, [environment([one(text)])])
    for (const text of ['v1', 'v2', 'v1']) {
      await expect(look(knownState, [environment([one(text)])])).rejects.toEqual(rolledBack('value_came_back'))
    }
    await look(knownState, [environment([one('v3')])])
  })

  test('accepts an earlier value if the history shows its restore, under a higher version', async () => {
    const knownState = remember()
    await look(knownState, [environment([one('v1', { id: 'sec_1', version: 1 })])])
    await look(knownState, [environment([one('v2', { id: 'sec_1', version: 2 })])])
    const claim = (version: number, restoredFromVersion: number | null, ciphertext = 'v1') =>
      look(knownState, [
        environment([one('v1')], { newestVersion: async () => ({ version, ciphertext, restoredFromVersion }) }),
      ])
    await expect(claim(3, null)).rejects.toEqual(rolledBack('value_came_back'))
    await expect(claim(2, 1)).rejects.toEqual(rolledBack('value_came_back'))
    await expect(claim(3, 1, 'other')).rejects.toEqual(rolledBack('value_came_back'))
    await claim(3, 1)
  })

  test('refuses a lower version, unless the secret was created anew', async () => {
    const knownState = remember()
    await look(knownState, [environment([one('v5', { id: 'sec_1', version: 5 })])])
    await expect(look(knownState, [environment([one('v6', { id: 'sec_1', version: 4 })])])).rejects.toEqual(
      rolledBack('version_went_back'),
    )
    await look(knownState, [environment([one('v7', { id: 'sec_2', version: 1 })])])
  })

  test('refuses another key, and a missing layer of the same query', async () => {
    const knownState = remember()
    const other = environment([], { environmentId: 'env_b', label: 'shared:production' })
    await look(knownState, [other, environment([])], 'q')
    await expect(look(knownState, [environment([], { key: newDek() })])).rejects.toEqual(rolledBack('key_changed'))
    await expect(look(knownState, [environment([])], 'q')).rejects.toEqual(rolledBack('layer_missing'))
    await look(knownState, [environment([])], 'another query')
  })

  test('is unchanged after a refusal, and replaced after the change was accepted', async () => {
    const kept = store()
    const strict = remember({ store: kept })
    const told: string[] = []
    const lenient = remember({ store: kept, onRollback: ({ message }) => told.push(message) })
    await look(strict, [environment([])])
    const changed = environment([], { key: newDek() })
    for (let i = 0; i < 2; i++) await expect(look(strict, [changed])).rejects.toEqual(rolledBack('key_changed'))
    await look(lenient, [changed])
    await look(strict, [changed])
    expect(told).toEqual(['the key of shop/production was replaced'])
  })

  test('reports missing secrets once, and never refuses them', async () => {
    const gone: string[][] = []
    const knownState = remember({ onGone: (_, names) => gone.push(names) })
    await look(knownState, [environment([one('v1'), { name: '__proto__', ciphertext: 'p' }])])
    for (let i = 0; i < 2; i++) await look(knownState, [environment([])])
    await look(knownState, [environment([one('v2')])])
    expect(gone).toEqual([['A', '__proto__']])
    await knownState.deleted('env_a', ['A'])
    await look(knownState, [environment([])])
    expect(gone).toHaveLength(1)
    await expect(look(knownState, [environment([one('v1')])])).rejects.toEqual(rolledBack('value_came_back'))
  })

  test('refuses the old value of a deleted secret unless the history shows its restore, and accepts a new value', async () => {
    const knownState = remember()
    await look(knownState, [environment([one('v1', { id: 'sec_1', version: 1 })])])
    await look(knownState, [environment([])])
    const claim = (version: number, restoredFromVersion: number | null) =>
      look(knownState, [
        environment([one('v1')], { newestVersion: async () => ({ version, ciphertext: 'v1', restoredFromVersion }) }),
      ])
    await expect(claim(1, null)).rejects.toEqual(rolledBack('value_came_back'))
    await expect(claim(2, null)).rejects.toEqual(rolledBack('value_came_back'))
    await expect(claim(1, 1)).rejects.toEqual(rolledBack('value_came_back'))
    // `secrets restore` brings a deleted secret back with its versions, and then the first version as the third.
    await claim(3, 1)
    await look(knownState, [environment([one('v2')])])
  })

  test('is separate for each principal and for each server', async () => {
    const kept = store()
    await look(remember({ store: kept }), [environment([])])
    const changed = environment([], { key: newDek() })
    await look(remember({ store: kept, principalId: 'two' }), [changed])
    await look(remember({ store: kept, baseUrl: 'https://other.example' }), [changed])
  })

  test('stores no value, key or ciphertext, and a failing store stops nothing', async () => {
    const texts: string[] = []
    const failing = {
      read: () => Promise.reject(new Error('no disk')),
      write: async (_: string, text: string) => {
        texts.push(text)
        throw new Error('no disk')
      },
      delete: async () => {},
    }
    const warned: string[] = []
    await look(remember({ store: failing, warn: (text) => warned.push(text) }), [environment([one('sc1.aa.bb')])])
    expect(texts.join()).not.toMatch(/sc1|aa\.bb/)
    expect(warned).toEqual(['the known state from earlier runs cannot be read', 'the known state cannot be stored'])
  })
})

describe('the environment of a name', () => {
  const named = (name: string, environmentId: string) => ({
    meanings: { environments: [{ orgId: 'org_a', name, environmentId }] },
  })

  test('is the same for every principal, and another one is refused and not remembered', async () => {
    const kept = store()
    await remember({ store: kept }).check(named('shop/dev', 'env_a'))
    const other = remember({ store: kept, principalId: 'two' })
    for (let i = 0; i < 2; i++) {
      await expect(other.check(named('shop/dev', 'env_b'))).rejects.toEqual(rolledBack('environment_replaced'))
    }
    await other.check(named('shop/dev', 'env_a'))
    await other.check({ meanings: { environments: [{ orgId: 'org_b', name: 'shop/dev', environmentId: 'env_b' }] } })
  })

  test('is refused if it is known under another name, even if this name is new', async () => {
    const knownState = remember()
    await knownState.check(named('shop/production', 'env_a'))
    await expect(knownState.check(named('shop/dev', 'env_a'))).rejects.toMatchObject({
      message: 'shop/dev is now the environment that was called shop/production',
    })
  })

  test('is the one that this client created, and its key is known from then on', async () => {
    const knownState = remember()
    await knownState.check(named('shop/dev', 'env_a'))
    await knownState.made({ orgId: 'org_a', name: 'shop/dev', environmentId: 'env_b' }, key)
    await knownState.check({
      ...named('shop/dev', 'env_b'),
      environments: [environment([], { environmentId: 'env_b' })],
    })
    await expect(look(knownState, [environment([], { environmentId: 'env_b', key: newDek() })])).rejects.toEqual(
      rolledBack('key_changed'),
    )
    await expect(knownState.check(named('shop/dev', 'env_a'))).rejects.toEqual(rolledBack('environment_replaced'))
  })

  test('is remembered anew once the change was accepted', async () => {
    const kept = store()
    await remember({ store: kept }).check(named('shop/dev', 'env_a'))
    await remember({ store: kept, onRollback: () => {} }).check(named('shop/dev', 'env_b'))
    await remember({ store: kept }).check(named('shop/dev', 'env_b'))
  })

  test('of a token may not change, nor may the organization of a credential', async () => {
    const knownState = remember()
    const said = (bound: string, id: string) =>
      knownState.check({ meanings: { bound, organization: { name: '', id } } })
    await said('env_a', 'org_a')
    await expect(said('env_b', 'org_a')).rejects.toEqual(rolledBack('binding_changed'))
    await expect(said('env_a', 'org_b')).rejects.toEqual(rolledBack('organization_replaced'))
    await said('env_a', 'org_a')
  })
})

describe('the layers of a query', () => {
  const group = (secrets: ShownEnvironment['secrets']) =>
    environment(secrets, { environmentId: 'env_g', label: 'shared:production' })
  const changedBy = async (knownState: KnownState, told: string[], layers: ShownEnvironment[]) => {
    told.length = 0
    await look(knownState, layers, 'q')
    return [...told]
  }
  const telling = (more: Partial<KnownStateSettings> = {}) => {
    const told: string[] = []
    const knownState = remember({
      ...more,
      onChanged: (changes) => told.push(...changes.map((one) => new RollbackError([one]).message)),
    })
    return { knownState, told }
  }

  test('are reported once when one of them is new', async () => {
    const { knownState, told } = telling()
    expect(await changedBy(knownState, told, [environment([one('v1')])])).toEqual([])
    expect(await changedBy(knownState, told, [group([]), environment([one('v1')])])).toEqual([
      'shared:production was added since the last run',
    ])
    expect(await changedBy(knownState, told, [group([]), environment([one('v1')])])).toEqual([])
  })

  test('are reported when a name moves between them, even after an answer without that name', async () => {
    const { knownState, told } = telling()
    const moved = 'A now comes from shared:production (before: shop/production)'
    await look(knownState, [group([]), environment([one('v1')])], 'q')
    expect(await changedBy(knownState, told, [group([]), environment([])])).toEqual([])
    expect(await changedBy(knownState, told, [group([one('v2')]), environment([])])).toEqual([moved])
  })

  test('are reported at each answer in which one is missing and another is new, if missing ones only warn', async () => {
    const missing: string[] = []
    const onRollback = ({ message }: RollbackError) => void missing.push(message)
    const { knownState, told } = telling({ onRollback, rememberRollbacks: false })
    await look(knownState, [group([]), environment([one('v1')])], 'q')
    const other = environment([], { environmentId: 'env_h', label: 'mail:production' })
    for (let i = 0; i < 2; i++) {
      const added = await changedBy(knownState, told, [other, environment([one('v1')])])
      expect(added).toEqual(['mail:production was added since the last run'])
    }
    expect(missing).toEqual(Array(2).fill('shared:production is missing'))
  })

  test('are refused when one of them is new and the known state is strict, and nothing is remembered', async () => {
    const kept = store()
    await look(remember({ store: kept }), [environment([one('v1')])], 'q')
    const strict = remember({ store: kept, strict: true })
    for (let i = 0; i < 2; i++) {
      await expect(look(strict, [group([]), environment([one('v1')])], 'q')).rejects.toEqual(rolledBack('layer_added'))
    }
  })

  test('are not reported after this client composed, wrote or deleted, nor when a branch overrides', async () => {
    const { knownState, told } = telling()
    await look(knownState, [environment([])], 'q')
    await knownState.composed({ environmentId: 'env_g', label: 'shared:production' }, 'q')
    expect(await changedBy(knownState, told, [group([one('v1')]), environment([])])).toEqual([])
    await knownState.wrote('env_a', ['A'])
    expect(await changedBy(knownState, told, [group([one('v1')]), environment([one('v2')])])).toEqual([])
    await knownState.deleted('env_a', ['A'])
    expect(await changedBy(knownState, told, [group([one('v1')]), environment([])])).toEqual([])
    const branch = environment([one('v3')], { environmentId: 'env_b', label: 'shop/production@pr-7', isBranch: true })
    expect(await changedBy(knownState, told, [group([one('v1')]), environment([]), branch])).toEqual([])
    expect(await changedBy(knownState, told, [group([one('v1')]), environment([])])).toEqual([])
  })
})

describe('a resolve with known state', () => {
  async function world() {
    const { reader, server, ...more } = await resolveWorld()
    const knownState = createKnownState({ store: store(), baseUrl: server.baseUrl, principalId: reader.tokenId })
    const skerry = createSkerry({ baseUrl: server.baseUrl, token: reader.token, knownState, cache: memoryCache() })
    await skerry.resolve()
    return { reader, server, skerry, ...more }
  }

  test('refuses an environment that the server invented', async () => {
    const { reader, server, skerry, body } = await world()
    const lie = structuredClone(body)
    lie.layers[0] = (await layer(shared, { HOST: 'evil' }, reader.publicKeyJwk)) as Draft<(typeof lie.layers)[0]>
    server.on('resolve.get', () => ({ json: lie }))
    await expect(skerry.resolve()).rejects.toEqual(rolledBack('key_changed'))
  })

  test('refuses an answer without a layer, even if a copy is cached', async () => {
    const { server, skerry, body } = await world()
    server.on('resolve.get', () => ({ json: { ...body, layers: body.layers.slice(1) } }))
    await expect(skerry.resolve()).rejects.toEqual(rolledBack('layer_missing'))
  })

  test('asks again when a server lags behind for a moment', async () => {
    const { server, skerry, body } = await world()
    let asked = 0
    server.on('resolve.get', () => ({ json: asked++ === 0 ? { ...body, layers: body.layers.slice(1) } : body }))
    expect((await skerry.resolve()).values.HOST).toBe('db')
    expect(asked).toBe(2)
  })

  test('refuses a key that this reader cannot open, and remembers nothing of that answer', async () => {
    const { server, skerry, body } = await world()
    const foreign = (await resolveWorld()).reader
    const lie = structuredClone(body)
    lie.layers[1]!.wrappedDek = await wrapKey(newDek(), foreign.publicKeyJwk)
    server.on('resolve.get', () => ({ json: lie }))
    await expect(skerry.resolve()).rejects.toMatchObject({ code: 'decryption_failed' })
    server.on('resolve.get', () => ({ json: body }))
    expect((await skerry.resolve()).stale).toBe(false)
  })
})
