import { type SyncTag, syncProviders } from '@skerry/contract/sync/providers'
import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import type { SyncConnection } from '../../src/sync/provider.ts'
import { syncProvider } from '../../src/sync/registry.ts'
import { testOutbound } from '../outbound.ts'
import { describedDestinations, syncSamples } from './facts.ts'

const tags = Object.keys(syncProviders) as SyncTag[]

it('every destination describes its sample, and its schemas accept that sample', async () => {
  const samples = await syncSamples()
  const described = await describedDestinations()
  expect(described.map(({ tag }) => tag).sort()).toEqual([...tags].sort())
  for (const tag of tags) {
    const { config, destination } = samples[tag] ?? {}
    expect([tag, Value.Check(syncProviders[tag].config, config)]).toEqual([tag, true])
    expect([tag, Value.Check(syncProviders[tag].destination, destination)]).toEqual([tag, true])
    expect([tag, Value.Check(syncProviders[tag].destination, { ...destination, other: 1 })]).toEqual([tag, false])
  }
})

it('a destination names its places completely, and each place only once', async () => {
  const { places } = (await syncProvider('frontend-cloud')).describe({
    config: { provider: 'frontend-cloud' },
    destination: { provider: 'frontend-cloud', projectId: 'prj_a', targets: ['preview'], gitBranch: 'main' },
  })
  expect(places).toEqual(['project/prj_a/preview/main'])
  for (const { tag, facts } of await describedDestinations())
    expect([tag, new Set(facts.places).size]).toEqual([tag, facts.places.length])
})

describe('an invalid destination:', () => {
  const id = '11111111-2222-4333-8444-555555555555'
  it.each([
    ['frontend-cloud', { projectId: '../x', targets: ['preview'] }],
    ['frontend-cloud', { projectId: 'x', targets: [] }],
    ['frontend-cloud', { projectId: 'x', targets: ['preview', 'preview'] }],
    ['frontend-cloud', { projectId: 'x', targets: ['staging'] }],
    ['edge-workers', { scriptName: 'a/b' }],
    ['edge-pages', { projectName: 'shop', environments: ['development'] }],
    ['edge-secrets-store', { storeId: 'x', scopes: [] }],
    ['app-platform-a', { projectId: 'shop', environmentId: id }],
    ['app-platform-b', { kind: 'service', envGroupId: 'evg-1' }],
    ['app-platform-b', { serviceId: 'srv-1' }],
    ['app-platform-d', { projectId: 'shop' }],
    ['app-platform-e', { kind: 'component', appId: id }],
    ['app-platform-e', { kind: 'app', appId: id, scope: 'ALWAYS' }],
    ['app-platform-f', { app: 'Shop App' }],
    ['site-host', { siteId: 'shop', contexts: ['production'] }],
    ['site-host', { siteId: id, contexts: ['all'] }],
  ] as const)('%s refuses %j', async (tag, given) => {
    const destination = { provider: tag, ...given }
    expect(Value.Check(syncProviders[tag].destination, destination)).toBe(false)
    const connection = { ...(await syncSamples())[tag], destination, credential: 'token' } as SyncConnection<SyncTag>
    const { describe, open } = await syncProvider<SyncTag>(tag)
    for (const use of [() => describe(connection), () => open(connection, testOutbound())])
      expect(use).toThrow(expect.objectContaining({ reason: 'invalid' }))
  })
})
