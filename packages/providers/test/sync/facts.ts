import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type SyncTag, syncProviders } from '@skerry/contract/sync/providers'
import { syncVendors } from '@skerry/contract/vendors'
import type { SyncConnection, SyncFacts } from '../../src/sync/provider.ts'
import { syncProvider } from '../../src/sync/registry.ts'

/** The description of a destination by its adapter, its vendor's name, and its kind of credential. */
export interface DescribedDestination {
  tag: SyncTag
  name: string
  credential: string
  facts: SyncFacts
}

/** Every tag, in the order of the vendors' names. Tables for people have this order. */
export const tagsByName = (): SyncTag[] =>
  (Object.keys(syncProviders) as SyncTag[]).sort((one, other) =>
    syncVendors[one].name < syncVendors[other].name ? -1 : 1,
  )

type Samples = Record<string, Omit<SyncConnection<SyncTag>, 'credential'>>

/** The samples of all `samples-*.ts` beside this file, by tag. */
export async function syncSamples(): Promise<Samples> {
  const files = readdirSync(import.meta.dirname).filter((name) => /^samples-.*\.ts$/.test(name))
  const modules = await Promise.all(
    files.map(async (name) => (await import(pathToFileURL(join(import.meta.dirname, name)).href)) as object),
  )
  const objects = modules.flatMap((module) => Object.values(module) as Samples[])
  return Object.fromEntries(
    objects.flatMap((samples) => Object.entries(samples).filter(([tag]) => Object.hasOwn(syncProviders, tag))),
  )
}

/** Describes every sample, in the order of the vendors' names. A tag without a sample is a defect. */
export async function describedDestinations(): Promise<DescribedDestination[]> {
  const samples = await syncSamples()
  const tags = tagsByName()
  return await Promise.all(
    tags.map(async (tag) => {
      const sample = samples[tag]
      if (sample === undefined) throw new Error(`packages/providers/test/sync/samples-*.ts: no sample of ${tag}`)
      const facts = (await syncProvider(tag)).describe(sample)
      const { credential } = syncProviders[tag]
      return { tag, name: syncVendors[tag].name, credential, facts }
    }),
  )
}
