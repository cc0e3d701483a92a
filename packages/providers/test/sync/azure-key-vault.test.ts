import { describe, expect, it } from 'vitest'
import { syncProvider } from '../../src/sync/registry.ts'
import { testOutbound } from '../outbound.ts'
import { type Connection, connection, type KeyVaultFake, keyVaultFake, own } from './azure-key-vault-fake.ts'
import { oneByOneConformance } from './clouds.ts'

const { describe: factsOf, open } = await syncProvider('cloud-c-key-vault')

oneByOneConformance('cloud-c-key-vault', keyVaultFake)

describe('Azure Key Vault sync', () => {
  const session = (fake: KeyVaultFake, at: Connection = connection) =>
    open(at, testOutbound({ 'cloud-c-key-vault': fake.origin }))
  const push = async (fake: KeyVaultFake, value: string) =>
    await session(fake).push({ runId: 'run_1', write: [{ name: 'db-url', value, memo: null }], remove: [] })

  it('deleted secrets are listed as deleted, and those of others are not recovered', async () => {
    const fake = await keyVaultFake()
    for (const name of ['shop-a', 'shop-b', 'shop-c', 'other']) fake.deleted.set(name, 'theirs')
    fake.put('shop-live', 'x')
    const entries = await session(fake).list()
    expect(entries.filter(({ deleted }) => deleted).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    const write = [{ name: 'a', value: 'ours', memo: null, isNew: true }]
    const { failed } = await session(fake).push({ runId: 'run_1', write, remove: [] })
    expect(failed).toEqual([{ name: 'a', reason: expect.stringContaining('Skerry did not create'), foreign: true }])
    expect([fake.deleted.get('shop-a'), fake.values().has('shop-a')]).toEqual(['theirs', false])
    await fake.stop()
  })

  it('a deleted name of the caller is recovered and overwritten', async () => {
    const fake = await keyVaultFake()
    fake.deleted.set('shop-db-url', 'old')
    expect(await push(fake, 'new')).toMatchObject({ written: [{ name: 'db-url' }], failed: [] })
    expect(fake.values().get('shop-db-url')).toBe('new')
    await fake.stop()
  })

  it('a recovery that takes time is tried again later, and then the name is overwritten', async () => {
    const fake = await keyVaultFake()
    fake.deleted.set('shop-db-url', 'old')
    fake.settle(1)
    const outcome = await push(fake, 'new')
    expect(outcome.failed).toMatchObject([{ name: 'db-url', retryAfterMs: expect.any(Number) }])
    await push(fake, 'new')
    expect(fake.values().get('shop-db-url')).toBe('new')
    await fake.stop()
  })

  it('a recovered old value is deleted again if the new value is refused', async () => {
    const fake = await keyVaultFake()
    fake.deleted.set('shop-db-url', 'old')
    fake.refuse('shop-db-url')
    expect(await push(fake, 'new')).toMatchObject({ written: [], failed: [{ name: 'db-url' }] })
    expect(fake.values().has('shop-db-url')).toBe(false)
    expect(fake.deleted.get('shop-db-url')).toBe('old')
    await fake.stop()
  })

  it('the list contains all pages of its prefix, in the form of its names, and locks certificates', async () => {
    const fake = await keyVaultFake()
    for (const name of ['Shop-DB-URL', 'other', 'shop-tls', 'shop-c', 'shop-d']) fake.put(name, 'x')
    fake.managed.add('shop-tls')
    const entries = await session(fake).list()
    expect(entries.map(({ name }) => name)).toEqual(['DB-URL', 'tls', 'c', 'd'])
    expect(entries.filter(({ locked }) => locked).map(({ name }) => name)).toEqual(['tls'])
    await fake.stop()
  })

  it('the token is not sent to another host that a page names', async () => {
    const fake = await keyVaultFake()
    for (const name of ['shop-a', 'shop-b', 'shop-c']) fake.put(name, 'x')
    for (const to of ['https://attacker.example', `${own}.attacker.example`, `${own}@attacker.example`]) {
      fake.link(to)
      await expect(session(fake).list()).rejects.toMatchObject({ reason: 'failed' })
    }
    await fake.stop()
  })

  it('each cloud has its own hosts, and names get hyphens or are refused', () => {
    const asked: string[] = []
    const outbound = testOutbound()
    const origin = (_: string, usual: string) => {
      asked.push(usual)
      return usual
    }
    const spying = { ...outbound, origin }
    for (const cloud of ['usgov', 'china'] as const)
      open({ ...connection, config: { ...connection.config, cloud } }, spying)
    expect(asked).toEqual(['https://shop-production.vault.usgovcloudapi.net', 'https://shop-production.vault.azure.cn'])
    expect(factsOf(connection).limits.name.form).toBe('dashed')
    const strict = factsOf({ ...connection, destination: { ...connection.destination, nameMode: 'reject' } }).limits
      .name
    expect([strict.form, strict.ignoresCase]).toEqual(['exact', true])
    expect(new RegExp(strict.pattern).test('SHOP-DB_URL')).toBe(false)
    for (const vault of ['ab', 'a--b', '1ab', 'ab-', 'a'.repeat(25)])
      expect(() => factsOf({ ...connection, destination: { ...connection.destination, vault } })).toThrow(/vault/)
  })
})
