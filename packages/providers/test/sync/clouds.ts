import type { SyncTag } from '@skerry/contract/sync/providers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SyncOutcome } from '../../src/sync/provider.ts'
import { syncProvider } from '../../src/sync/registry.ts'
import { testOutbound } from '../outbound.ts'
import { type SyncFake, syncConformance } from './conformance.ts'

/**
 * A fake that refuses single names, and requests a pause after some writes. `routedFake` and `FakeState` provide both.
 */
export interface CloudFake<T extends SyncTag> extends SyncFake<T> {
  refuse(name: string): void
  /** Answers this many writes, and then reports too many requests. */
  tire(after: number): void
}

/** The tests of every sync adapter, and in addition those of an adapter that writes name by name with `oneByOne`. */
export function oneByOneConformance<T extends SyncTag>(tag: T, start: () => Promise<CloudFake<T>>): void {
  syncConformance(tag, start)

  describe(`${tag} sync, name by name`, () => {
    let fake: CloudFake<T>
    beforeAll(async () => {
      fake = await start()
    })
    beforeEach(() => fake.reset())
    afterAll(() => fake.stop())

    const push = async (values: Record<string, string>): Promise<SyncOutcome> => {
      const provider = await syncProvider(tag)
      const session = provider.open(fake.connection, testOutbound({ [tag]: fake.origin }))
      const write = Object.entries(values).map(([name, value]) => ({ name, value, memo: null }))
      return await session.push({ runId: 'run_1', write, remove: [] })
    }
    const names = async () => {
      const { form, prefix } = (await syncProvider(tag)).describe(fake.connection).limits.name
      const own = ['FIRST_NAME', 'SECOND_NAME', 'THIRD_NAME'].map((name) =>
        form === 'dashed' ? name.replaceAll('_', '-') : name,
      ) as [string, string, string]
      return { own, there: own.map((name) => `${prefix}${name}`) as [string, string, string] }
    }

    it('a pause in the middle leaves the rest unwritten, and a repeated push writes it', async () => {
      const { own, there } = await names()
      fake.tire(1)
      const all = { [own[0]]: 'one', [own[1]]: 'two', [own[2]]: 'three' }
      const outcome = await push(all)
      expect(outcome.written.map(({ name }) => name)).toEqual([own[0]])
      expect(outcome.failed).toEqual([])
      expect(outcome.retryAfterMs).toBeGreaterThan(0)
      fake.tire(Number.POSITIVE_INFINITY)
      expect((await push(all)).written.length).toBe(3)
      expect(fake.values().get(there[2])).toBe('three')
    })

    it('a destination that does not answer is reported as unreachable', async () => {
      const provider = await syncProvider(tag)
      const session = provider.open(fake.connection, testOutbound({ [tag]: 'http://127.0.0.1:1' }))
      await expect(session.list()).rejects.toMatchObject({ reason: 'unreachable' })
    })
  })
}
