import { describe, expect, it } from 'vitest'
import { syncProvider } from '../../src/sync/registry.ts'
import { testOutbound } from '../outbound.ts'
import { type Connection, connection, parametersFake } from './aws-parameter-store-fake.ts'
import { oneByOneConformance } from './clouds.ts'

const { describe: factsOf, open } = await syncProvider('cloud-a-parameter-store')

oneByOneConformance('cloud-a-parameter-store', () => parametersFake(connection))
oneByOneConformance('cloud-a-parameter-store', () =>
  parametersFake({ ...connection, destination: { ...connection.destination, type: 'String', tier: 'Advanced' } }),
)

describe('AWS Parameter Store sync', () => {
  it('the list contains parameters directly under the path, also after empty pages, and locks other types', async () => {
    const fake = await parametersFake(connection)
    for (const name of ['A_1', 'A_2', 'A_3', 'deeper/A_4']) fake.put(`/shop/production/${name}`, 'x')
    fake.put('/shop/other', 'x')
    fake.types.set('/shop/production/A_2', 'String')
    const entries = await open(connection, testOutbound({ 'cloud-a-parameter-store': fake.origin })).list()
    expect(entries.map(({ name }) => name)).toEqual(['A_1', 'A_2', 'A_3'])
    expect(entries.filter(({ locked }) => locked).map(({ name }) => name)).toEqual(['A_2'])
    expect(JSON.stringify(entries)).not.toContain('AQICAHh')
    await fake.stop()
  })

  it('reserved or malformed paths, and a KMS key for a String, are refused', () => {
    const at = (more: object) => () =>
      factsOf({ ...connection, destination: { ...connection.destination, ...more } as Connection['destination'] })
    for (const path of ['/aws/x/', '/SSMx/', '/shop', 'shop/', '/shop//', `/${'a/'.repeat(15)}`])
      expect(at({ path }), path).toThrow(/^destination\/path/)
    expect(at({ type: 'String', kmsKeyId: 'alias/shop' })).toThrow(/kmsKeyId: only/)
    expect(at({ tier: 'Advanced' })().limits.valueBytesMax).toBe(8192)
    expect(at({ path: '/' })().limits.name.prefix).toBe('/')
  })
})
