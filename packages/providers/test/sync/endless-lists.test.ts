import type { SyncTag } from '@skerry/contract/sync/providers'
import { expect, it } from 'vitest'
import type { Outbound } from '../../src/outbound.ts'
import { syncProvider } from '../../src/sync/registry.ts'
import { testOutbound } from '../outbound.ts'
import { syncSamples } from './facts.ts'

// A list is read to its end or not at all. After its first part alone, every other name would seem to be missing.

/** A full page of Render. */
const variables = Array.from({ length: 100 }, (_, index) => ({
  envVar: { key: `NAME_${index}`, value: 'x' },
  cursor: String(index),
}))

/** Answers of services to a list request. Each says that another page follows. */
const pages: [SyncTag, unknown][] = [
  [
    'app-platform-a',
    { data: { environment: { variables: { edges: [], pageInfo: { hasNextPage: true, endCursor: 'x' } } } } },
  ],
  ['app-platform-b', variables],
  ['edge-secrets-store', { success: true, result: [], result_info: { total_pages: 1_000_000 } }],
  ['frontend-cloud', { envs: [], pagination: { next: 1 } }],
]

/** A service that answers every request with the same page. */
const answering = (page: unknown): Outbound => ({
  ...testOutbound(),
  send: async () => ({ status: 200, headers: {}, body: new TextEncoder().encode(JSON.stringify(page)) }),
})

async function listing(tag: SyncTag, page: unknown) {
  const sample = (await syncSamples())[tag]
  if (sample === undefined) throw new Error(`no sample of ${tag}`)
  return (await syncProvider(tag)).open({ ...sample, credential: 'token' }, answering(page)).list()
}

it.each(pages)('%s: a list that does not end is refused', async (tag, page) => {
  await expect(listing(tag, page)).rejects.toMatchObject({
    reason: 'failed',
    message: expect.stringMatching(/^the list of \w+ is too long$/),
  })
})

it.each([{}, { hasNextPage: null }, { hasNextPage: true, endCursor: null }])(
  'Railway: a page that does not say where the list continues is refused: %j',
  async (pageInfo) => {
    const page = { data: { environment: { variables: { edges: [], pageInfo } } } }
    await expect(listing('app-platform-a', page)).rejects.toMatchObject({
      reason: 'failed',
      message: 'the answer does not say whether the list of variables is complete',
    })
  },
)
