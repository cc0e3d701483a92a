import { describe, expect, it } from 'vitest'
import { leaseFacts } from './leases/facts.ts'
import { syncProviders } from './sync/providers.ts'
import { leaseVendors, syncVendors, vendorName, vendorSlug, vendors, vendorTag } from './vendors.ts'

const words = Object.values(vendors)

describe('the table of vendors', () => {
  it('has every provider, and no other', () => {
    expect(Object.keys(syncVendors).sort()).toEqual(Object.keys(syncProviders).sort())
    expect(Object.keys(leaseVendors).sort()).toEqual(Object.keys(leaseFacts).sort())
  })

  it('gives no name and no slug twice', () => {
    expect(new Set(words.map(({ name }) => name.toLowerCase())).size).toBe(words.length)
    expect(new Set(words.map(({ slug }) => slug)).size).toBe(words.length)
  })

  it.each(Object.entries(vendors))('gives %s a slug that is easy to type and the tag of no other', (tag, { slug }) => {
    expect(slug).toMatch(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/)
    expect(Object.keys(vendors).filter((other) => other !== tag)).not.toContain(slug)
  })
})

it.each(['fly-io', 'Fly.io', 'FLY-IO', ' fly io ', 'app-platform-c', 'App-Platform-C'])(
  'a person may type %j for Fly.io',
  (typed) => expect(vendorTag(typed, syncVendors)).toBe('app-platform-c'),
)

it.each(['', 'fly', 'toString', 'aws', 'app-platform'])('%j is no sync destination', (typed) =>
  expect(vendorTag(typed, syncVendors)).toBeUndefined(),
)

it('a tag of a newer server stands for itself', () => {
  expect([vendorName('site-host'), vendorSlug('site-host')]).toEqual(['Netlify', 'netlify'])
  for (const tag of ['cloud-z', 'toString']) expect([vendorName(tag), vendorSlug(tag)]).toEqual([tag, tag])
})
