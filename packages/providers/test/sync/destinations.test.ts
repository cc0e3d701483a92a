import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type SyncTag, syncProviders } from '@skerry/contract/sync-providers'
import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { syncProvider } from '../../src/sync/registry.ts'
import { describedDestinations, syncSamples } from './facts.ts'

const root = join(import.meta.dirname, '../../../..')
const page = readFileSync(join(root, 'docs/sync-destinations.md'), 'utf8')
const tags = Object.keys(syncProviders) as SyncTag[]

/** Files of the table in “Adding a destination”. */
const files = [...(page.split('## Adding a destination')[1] ?? '').matchAll(/^\| `([^`]+)` \|/gm)].map(
  ([, file = '']) => file,
)

/** A file with rows of several destinations may have others of its kind beside it. */
const siblings = (file: string) => globSync(file.replace(/(sync|samples)-platforms\.ts$/, '$1-*.ts'), { cwd: root })

describe('the page on adding a destination', () => {
  it('names eight files', () => {
    expect(files).toHaveLength(8)
  })

  it.each(tags)('names all files that %s has', (tag) => {
    for (const file of files) {
      if (file.includes('<tag>'))
        expect([file, existsSync(join(root, file.replace('<tag>', tag)))]).toEqual([file, true])
      else {
        const naming = siblings(file).filter((each) => readFileSync(join(root, each), 'utf8').includes(tag))
        expect([file, naming.length]).toEqual([file, expect.toSatisfy((count: number) => count > 0)])
      }
    }
  })
})

it('every destination describes its sample, which its schemas take', async () => {
  const samples = await syncSamples()
  const described = await describedDestinations()
  expect(described.map(({ tag }) => tag)).toEqual([...tags].sort())
  for (const tag of tags) {
    const { config, destination } = samples[tag] ?? {}
    expect([tag, Value.Check(syncProviders[tag].config, config)]).toEqual([tag, true])
    expect([tag, Value.Check(syncProviders[tag].destination, destination)]).toEqual([tag, true])
    expect([tag, Value.Check(syncProviders[tag].destination, { ...destination, other: 1 })]).toEqual([tag, false])
  }
})

it('two places of one kind are told apart, and the same one is the same', async () => {
  const { places } = (await syncProvider('frontend-cloud')).describe({
    config: { provider: 'frontend-cloud' },
    destination: { provider: 'frontend-cloud', projectId: 'prj_a', targets: ['preview'], gitBranch: 'main' },
  })
  expect(places).toEqual(['project/prj_a/preview/main'])
  for (const { tag, facts } of await describedDestinations())
    expect([tag, new Set(facts.places).size]).toEqual([tag, facts.places.length])
})

describe('destinations that can never be', () => {
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
  ] as const)('%s refuses %j', (tag, destination) => {
    expect(Value.Check(syncProviders[tag].destination, { provider: tag, ...destination })).toBe(false)
  })
})
