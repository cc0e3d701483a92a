import { describe, expect, it } from 'vitest'
import { crc32c } from '../../src/sync/crc32c.ts'
import { syncProvider } from '../../src/sync/registry.ts'
import { testOutbound } from '../outbound.ts'
import { oneByOneConformance } from './clouds.ts'
import { syncConformance } from './conformance.ts'
import {
  bundle,
  type Connection,
  connection,
  type ProjectFake,
  projectFake,
  pruned,
  type StoredSecret,
} from './google-secret-manager-fake.ts'

const { describe: factsOf, open } = await syncProvider('cloud-b-secret-manager')

oneByOneConformance('cloud-b-secret-manager', () => projectFake(connection))
oneByOneConformance('cloud-b-secret-manager', () => projectFake(pruned))
syncConformance('cloud-b-secret-manager', () => projectFake(bundle))

describe('Google Secret Manager sync', () => {
  const session = (fake: ProjectFake) => open(fake.connection, testOutbound({ 'cloud-b-secret-manager': fake.origin }))
  const write = async (fake: ProjectFake, value: string, memo: string | null = null) => {
    const change = { runId: 'run_1', write: [{ name: 'FIRST_NAME', value, memo }], remove: [] }
    const { written } = await session(fake).push(change)
    return written[0]?.memo ?? null
  }
  const id = 'production-FIRST_NAME'

  it('a new secret is replicated as the destination says, and the notes count secrets that are replicated differently', async () => {
    const fake = await projectFake(connection)
    await write(fake, 'one')
    const replicas = [{ location: 'europe-west1' }, { location: 'europe-west4' }]
    expect(fake.replicationAsked()).toEqual({ userManaged: { replicas } })
    expect((await session(fake).verify()).notes).toEqual([])
    fake.put('production-OTHER', 'automatic')
    expect((await session(fake).verify()).notes).toEqual([expect.stringMatching(/^1 existing secrets/)])
    await fake.stop()
  })

  it('pruning removes versions that Skerry wrote, but not those of others or those with an alias', async () => {
    const fake = await projectFake(pruned)
    let memo = await write(fake, 'one')
    memo = await write(fake, 'two', memo)
    fake.put(id, 'by a person')
    memo = await write(fake, 'three', memo)
    expect(fake.secrets.get(id)?.versions).toEqual([null, null, 'by a person', 'three'])
    ;(fake.secrets.get(id) as StoredSecret).aliases = { stable: '4' }
    memo = await write(fake, 'four', memo)
    expect(fake.secrets.get(id)?.versions).toEqual([null, null, 'by a person', 'three', 'four'])
    expect(String(memo).length).toBeLessThan(1024)
    await fake.stop()
  })

  it('pruning removes nothing if the secret was created again, because version numbers then start again', async () => {
    const fake = await projectFake(pruned)
    let memo = await write(fake, 'one')
    memo = await write(fake, 'two', memo)
    fake.secrets.delete(id)
    fake.put(id, 'theirs 1')
    fake.put(id, 'theirs 2')
    await write(fake, 'three', memo)
    expect(fake.secrets.get(id)?.versions).toEqual(['theirs 1', 'theirs 2', 'three'])
    await fake.stop()
  })

  it('no empty secret is left if its first version is refused', async () => {
    const fake = await projectFake(connection)
    fake.refuse(id)
    expect(await write(fake, 'one')).toBeNull()
    expect(fake.secrets.size).toBe(0)
    await fake.stop()
  })

  it('a disabled or replaced version changes the revision', async () => {
    const fake = await projectFake(connection)
    await write(fake, 'one')
    const revision = async () => (await session(fake).look?.('FIRST_NAME'))?.revision
    const first = await revision()
    ;(fake.secrets.get(id) as StoredSecret).versions[0] = null
    const destroyed = await revision()
    fake.put(id, 'theirs')
    expect(new Set([first, destroyed, await revision()]).size).toBe(3)
    expect(await session(fake).look?.('NEVER_THERE')).toBeNull()
    await fake.stop()
  })

  it('a bundle is one version for all names, and no new version if nothing changes', async () => {
    const fake = await projectFake(bundle)
    const all = ['A', 'B'].map((name) => ({ name, value: 'x', memo: null }))
    await session(fake).push({ runId: 'run_1', write: all, remove: [] })
    await session(fake).push({ runId: 'run_2', write: all, remove: [{ name: 'GONE', memo: null }] })
    expect(fake.secrets.get('production')?.versions).toEqual(['{"A":"x","B":"x"}'])
    await fake.stop()
  })

  it('contradictory settings, and a credential that is no service account key, are refused', async () => {
    const of = (more: object) => () => {
      const { locations: _, ...rest } = connection.destination
      factsOf({ ...connection, destination: { ...rest, ...more } as Connection['destination'] })
    }
    const key = (location: string) => `projects/p/locations/${location}/keyRings/r/cryptoKeys/k`
    expect(of({ replication: 'user-managed' })).toThrow(/locations: needed/)
    expect(of({ replication: 'automatic', locations: ['europe-west1'] })).toThrow(/locations: only/)
    expect(of({ replication: 'automatic', kmsKeyName: key('europe-west1') })).toThrow(/location global/)
    expect(of({ locations: ['a1', 'b1'], kmsKeyName: key('a1') })).toThrow(/single location/)
    expect(of({ locations: ['a1'], kmsKeyName: key('a1') })).not.toThrow()
    const stranger = { ...connection, credential: '{"type":"authorized_user"}' }
    const outbound = testOutbound({ 'cloud-b-secret-manager': 'http://127.0.0.1:1' })
    await expect(open(stranger, outbound).list()).rejects.toMatchObject({ reason: 'invalid' })
  })

  it('crc32c computes the CRC-32C of bytes', () => {
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283)
  })
})
