import { newDek } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import { describe, expect, test } from 'vitest'
import { type Draft, layer, resolveWorld, shared } from '../test/world.ts'
import { memoryCache } from './cache.ts'
import { createSeen, type SeenSettings, type ShownEnvironment, WentBackError } from './seen.ts'
import { createSkerry } from './skerry.ts'

const store = () => memoryCache({ ttlSeconds: 3600 })
const remember = (more: Partial<SeenSettings> = {}) =>
  createSeen({ store: store(), baseUrl: 'https://skerry.example', principalId: 'one', ...more })
const kinds = (error: unknown) => (error as WentBackError).changes.map(({ kind }) => kind)
const wentBack = (...expected: string[]) =>
  expect.toSatisfy((error: unknown) => error instanceof WentBackError && kinds(error).join() === expected.join())

const key = newDek()
const environment = (secrets: ShownEnvironment['secrets'], more: Partial<ShownEnvironment> = {}): ShownEnvironment => ({
  environmentId: 'env_a',
  label: 'shop/production',
  key,
  ...(secrets ? { secrets } : {}),
  ...more,
})
const one = (ciphertext: string, more = {}) => ({ name: 'A', ciphertext, ...more })

describe('what was seen', () => {
  test('is accepted as often as it comes, and whatever is new', async () => {
    const seen = remember()
    for (const text of ['v1', 'v1', 'v2', 'v3']) await seen.check([environment([one(text)])], 'q')
  })

  test('and was replaced does not come back, however often it is tried', async () => {
    const seen = remember()
    for (const text of ['v1', 'v2', 'v3']) await seen.check([environment([one(text)])])
    for (const text of ['v1', 'v2', 'v1']) {
      await expect(seen.check([environment([one(text)])])).rejects.toEqual(wentBack('value_came_back'))
    }
    await seen.check([environment([one('v3')])])
  })

  test('comes back when the history says that it was restored, under a higher version', async () => {
    const seen = remember()
    await seen.check([environment([one('v1', { id: 'sec_1', version: 1 })])])
    await seen.check([environment([one('v2', { id: 'sec_1', version: 2 })])])
    const claim = (version: number, restoredFromVersion: number | null, ciphertext = 'v1') =>
      seen.check([
        environment([one('v1')], { newestVersion: async () => ({ version, ciphertext, restoredFromVersion }) }),
      ])
    await expect(claim(3, null)).rejects.toEqual(wentBack('value_came_back'))
    await expect(claim(2, 1)).rejects.toEqual(wentBack('value_came_back'))
    await expect(claim(3, 1, 'other')).rejects.toEqual(wentBack('value_came_back'))
    await claim(3, 1)
  })

  test('of a version does not go down, unless the secret was made anew', async () => {
    const seen = remember()
    await seen.check([environment([one('v5', { id: 'sec_1', version: 5 })])])
    await expect(seen.check([environment([one('v6', { id: 'sec_1', version: 4 })])])).rejects.toEqual(
      wentBack('version_went_back'),
    )
    await seen.check([environment([one('v7', { id: 'sec_2', version: 1 })])])
  })

  test('of a key stays, and of a query’s layers each', async () => {
    const seen = remember()
    const other = environment([], { environmentId: 'env_b', label: 'shared:production' })
    await seen.check([other, environment([])], 'q')
    await expect(seen.check([environment([], { key: newDek() })])).rejects.toEqual(wentBack('key_changed'))
    await expect(seen.check([environment([])], 'q')).rejects.toEqual(wentBack('layer_missing'))
    await seen.check([environment([])], 'another query')
  })

  test('is not replaced by what was refused, and is by what was accepted', async () => {
    const kept = store()
    const strict = remember({ store: kept })
    const told: string[] = []
    const lenient = remember({ store: kept, onWentBack: ({ message }) => told.push(message) })
    await strict.check([environment([])])
    const changed = environment([], { key: newDek() })
    for (let i = 0; i < 2; i++) await expect(strict.check([changed])).rejects.toEqual(wentBack('key_changed'))
    await lenient.check([changed])
    await strict.check([changed])
    expect(told).toEqual(['the key of shop/production is another one'])
  })

  test('and is gone is told of once, and never refused', async () => {
    const gone: string[][] = []
    const seen = remember({ onGone: (_, names) => gone.push(names) })
    await seen.check([environment([one('v1'), { name: '__proto__', ciphertext: 'p' }])])
    for (let i = 0; i < 2; i++) await seen.check([environment([])])
    await seen.check([environment([one('v2')])])
    expect(gone).toEqual([['A', '__proto__']])
    await seen.deleted('env_a', ['A'])
    await seen.check([environment([])])
    expect(gone).toHaveLength(1)
    await expect(seen.check([environment([one('v1')])])).rejects.toEqual(wentBack('value_came_back'))
  })

  test('and is gone does not come back as it was, whatever the history says, but may be made anew', async () => {
    const seen = remember()
    await seen.check([environment([one('v1', { id: 'sec_1', version: 1 })])])
    await seen.check([environment([])])
    const newestVersion = async () => ({ version: 2, ciphertext: 'v1', restoredFromVersion: 1 })
    await expect(seen.check([environment([one('v1')], { newestVersion })])).rejects.toEqual(wentBack('value_came_back'))
    await seen.check([environment([one('v2')])])
  })

  test('by one reader, or on one server, says nothing about another', async () => {
    const kept = store()
    await remember({ store: kept }).check([environment([])])
    const changed = environment([], { key: newDek() })
    await remember({ store: kept, principalId: 'two' }).check([changed])
    await remember({ store: kept, baseUrl: 'https://other.example' }).check([changed])
  })

  test('holds no value, key or ciphertext, and a store that fails stops nothing', async () => {
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
    await remember({ store: failing, warn: (text) => warned.push(text) }).check([environment([one('sc1.aa.bb')])])
    expect(texts.join()).not.toMatch(/sc1|aa\.bb/)
    expect(warned).toEqual(['what was seen before cannot be read', 'what was seen cannot be kept'])
  })
})

describe('a resolve with a memory', () => {
  async function world() {
    const { reader, server, ...more } = await resolveWorld()
    const seen = createSeen({ store: store(), baseUrl: server.baseUrl, principalId: reader.tokenId })
    const skerry = createSkerry({ baseUrl: server.baseUrl, token: reader.token, seen, cache: memoryCache() })
    await skerry.resolve()
    return { reader, server, skerry, ...more }
  }

  test('refuses an environment that the server made up', async () => {
    const { reader, server, skerry, body } = await world()
    const lie = structuredClone(body)
    lie.layers[0] = (await layer(shared, { HOST: 'evil' }, reader.publicKeyJwk)) as Draft<(typeof lie.layers)[0]>
    server.on('resolve.get', () => ({ json: lie }))
    await expect(skerry.resolve()).rejects.toEqual(wentBack('key_changed'))
  })

  test('refuses an answer without a layer, also when a copy is kept', async () => {
    const { server, skerry, body } = await world()
    server.on('resolve.get', () => ({ json: { ...body, layers: body.layers.slice(1) } }))
    await expect(skerry.resolve()).rejects.toEqual(wentBack('layer_missing'))
  })

  test('waits for a server that lags behind for a moment', async () => {
    const { server, skerry, body } = await world()
    let asked = 0
    server.on('resolve.get', () => ({ json: asked++ === 0 ? { ...body, layers: body.layers.slice(1) } : body }))
    expect((await skerry.resolve()).values.HOST).toBe('db')
    expect(asked).toBe(2)
  })

  test('refuses a key that nobody can open before anything is remembered', async () => {
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
