import { describe, expect, it } from 'vitest'
import { syncProvider } from '../../src/sync/registry.ts'
import { testOutbound } from '../outbound.ts'
import {
  bundle,
  type Connection,
  connection,
  type StoredSecret,
  type StoreFake,
  storeFake,
} from './aws-secrets-manager-fake.ts'
import { oneByOneConformance } from './clouds.ts'
import { syncConformance } from './conformance.ts'

const { describe: factsOf, open } = await syncProvider('cloud-a-secrets-manager')

const kmsKeyId = 'alias/shop'
oneByOneConformance('cloud-a-secrets-manager', () => storeFake(connection))
oneByOneConformance('cloud-a-secrets-manager', () =>
  storeFake({ ...connection, destination: { ...connection.destination, kmsKeyId } }),
)
syncConformance('cloud-a-secrets-manager', () => storeFake(bundle))

describe('AWS Secrets Manager sync', () => {
  const session = (fake: StoreFake) => open(fake.connection, testOutbound({ 'cloud-a-secrets-manager': fake.origin }))
  const push = async (fake: StoreFake, values: Record<string, string>, runId = 'run_1') =>
    await session(fake).push({
      runId,
      write: Object.entries(values).map(([name, value]) => ({ name, value, memo: null })),
      remove: [],
    })
  const name = 'shop/production/FIRST_NAME'

  it('a repeated write in a run creates no second version, but a second value does', async () => {
    const fake = await storeFake(connection)
    await push(fake, { FIRST_NAME: 'one' })
    await push(fake, { FIRST_NAME: 'one' })
    expect(fake.secrets.get(name)?.versions.size).toBe(1)
    await push(fake, { FIRST_NAME: 'two' })
    await push(fake, { FIRST_NAME: 'three' }, 'run_2')
    expect([...(fake.secrets.get(name)?.versions.values() ?? [])]).toEqual(['one', 'two', 'three'])
    await fake.stop()
  })

  it('a secret that is scheduled for deletion is restored and overwritten', async () => {
    const fake = await storeFake(connection)
    await push(fake, { FIRST_NAME: 'one' })
    await session(fake).push({ runId: 'run_2', write: [], remove: [{ name: 'FIRST_NAME', memo: null }] })
    expect(fake.secrets.get(name)?.deleted).toBe(true)
    expect(await push(fake, { FIRST_NAME: 'two' }, 'run_3')).toMatchObject({ failed: [] })
    expect(fake.values().get(name)).toBe('two')
    await fake.stop()
  })

  it('a list that lags behind does not hide what the session wrote', async () => {
    const fake = await storeFake(connection)
    fake.put('shop/production/OLD_NAME', 'x')
    fake.lag()
    const writing = session(fake)
    const write = [{ name: 'FIRST_NAME', value: 'one', memo: null }]
    await writing.push({ runId: 'run_1', write, remove: [{ name: 'OLD_NAME', memo: null }] })
    const live = (await writing.list()).filter(({ deleted }) => !deleted)
    expect(live.map((entry) => entry.name)).toEqual(['FIRST_NAME'])
    // A new session has only the late list, so it reads the names that it owns one by one.
    expect(await session(fake).look?.('FIRST_NAME')).toMatchObject({ revision: expect.any(String) })
    expect(await session(fake).look?.('OLD_NAME')).toMatchObject({ deleted: true })
    await fake.stop()
  })

  it('a deleted secret of somebody else is neither restored nor overwritten', async () => {
    const fake = await storeFake(connection)
    fake.put(name, 'theirs')
    const secret = fake.secrets.get(name) as StoredSecret
    secret.deleted = true
    expect(await session(fake).list()).toEqual([{ name: 'FIRST_NAME', revision: null, deleted: true }])
    const write = [{ name: 'FIRST_NAME', value: 'ours', memo: null, isNew: true }]
    const { failed } = await session(fake).push({ runId: 'run_1', write, remove: [] })
    expect(failed).toEqual([
      { name: 'FIRST_NAME', reason: expect.stringContaining('Skerry did not create'), foreign: true },
    ])
    expect([secret.deleted, [...secret.versions.values()]]).toEqual([true, ['theirs']])
    await fake.stop()
  })

  it('a restored value is deleted again if the new value is refused', async () => {
    const fake = await storeFake(connection)
    fake.put(name, 'ours')
    const secret = fake.secrets.get(name) as StoredSecret
    secret.deleted = true
    expect(await push(fake, { FIRST_NAME: 'x'.repeat(65_537) })).toMatchObject({ written: [] })
    expect(secret.deleted).toBe(true)
    await fake.stop()
  })

  it('a bundle keeps the entries of others, and is not written if somebody deleted it', async () => {
    const fake = await storeFake(bundle)
    fake.put('FOREIGN_NAME', 'theirs')
    const secret = fake.secrets.get('shop/production') as StoredSecret
    secret.versions.set('t', '{"FOREIGN_NAME":{"nested":[1,2]},"__proto__":"odd"}')
    secret.deleted = true
    const ways = [() => session(fake).verify(), () => session(fake).list(), () => push(fake, { FIRST_NAME: 'one' })]
    for (const way of ways)
      await expect(way()).rejects.toMatchObject({ reason: 'invalid', message: expect.stringContaining('restore it') })
    expect(secret.deleted).toBe(true)
    secret.deleted = false
    await push(fake, { FIRST_NAME: 'one' })
    expect(secret.versions.get(secret.current)).toBe(
      '{"FOREIGN_NAME":{"nested":[1,2]},"__proto__":"odd","FIRST_NAME":"one"}',
    )
    const versions = secret.versions.size
    await push(fake, { FIRST_NAME: 'one' }, 'run_2')
    expect(secret.versions.size).toBe(versions)
    expect((await session(fake).list()).find((entry) => entry.name === 'FOREIGN_NAME')?.locked).toMatch(/not text/)
    await fake.stop()
  })

  it('a secret that is no JSON object stays unchanged, and a bundle that is too large is refused', async () => {
    const fake = await storeFake(bundle)
    for (const text of ['a password', '[]', 'null', '"text"']) {
      fake.secrets.clear()
      fake.put('FOREIGN_NAME', 'x')
      const secret = fake.secrets.get('shop/production') as StoredSecret
      secret.versions.set('t', text)
      await expect(push(fake, { FIRST_NAME: 'one' })).rejects.toMatchObject({ reason: 'unsupported' })
      expect(secret.current).toBe('t')
    }
    fake.secrets.clear()
    await expect(push(fake, { FIRST_NAME: 'x'.repeat(65_536) })).rejects.toMatchObject({ reason: 'invalid' })
    await fake.stop()
  })

  it('fields of the other layout, and keys of a session, are refused', () => {
    const of = (more: object) => () =>
      factsOf({
        ...connection,
        destination: { provider: 'cloud-a-secrets-manager', ...more } as Connection['destination'],
      })
    expect(of({ layout: 'json-bundle' })).toThrow(/secretName: needed/)
    expect(of({ layout: 'json-bundle', secretName: 'x', pathPrefix: 'y' })).toThrow(/pathPrefix: only/)
    expect(of({ layout: 'secret-per-name', secretName: 'x' })).toThrow(/secretName: only/)
    const config = { ...connection.config, accessKeyId: 'ASIAIOSFODNN7EXAMPLE' }
    expect(() => factsOf({ ...connection, config })).toThrow(/^config/)
  })
})
