import { expect, test } from 'vitest'
import { openCache } from './cache.ts'
import { tagged } from './resolve.ts'

const bytesMax = 200_000
/** The memory that an entry takes beside its body and key. It is most of the memory if there are many small answers. */
const besideBytes = 1024

test.each([50, 1000])(
  'the cache stays within its limit with many small answers under keys of %i characters',
  (characters) => {
    const cache = openCache({ bytesMax, alone: true, monotonicMs: () => 0 })
    const keys = Array.from({ length: 1000 }, (_, n) => `${n}`.padStart(characters))
    const answer = { orgId: 'org_a', environmentIds: ['env_a'], validUntilMs: 1, ...tagged('{}') }
    for (const key of keys) cache.keep(cache.generation(), key, answer)
    const kept = keys.filter((key) => cache.find(key, 0))
    const most = bytesMax / (besideBytes + characters)
    expect(kept.length).toBeLessThanOrEqual(most)
    expect(kept.length).toBeGreaterThan(0.95 * most)
    expect(kept).toEqual(keys.slice(-kept.length))
  },
)
