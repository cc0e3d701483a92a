import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { leaseProviders } from '@skerry/contract/lease-providers'
import { expect, it } from 'vitest'

// What the registry loads and what the suite is run by are both calls that name their tag.

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8')

it('the registry has every tag of the contract, and no other', () => {
  const registered = read('../../src/leases/registry.ts').matchAll(
    /^ {2}'?([\w-]+)'?: \(\) => import\('\.\/\1\.ts'\)/gm,
  )
  expect(Array.from(registered, ([, tag]) => tag).sort()).toEqual(Object.keys(leaseProviders).sort())
})

it.each(Object.keys(leaseProviders))('the adapter of %s is run by the conformance suite', (tag) => {
  expect(read(`${tag}.test.ts`)).toMatch(new RegExp(`^(?:lease|database)Conformance\\('${tag}', `, 'm'))
})

it('the conformance suite of databases is that of every lease, and more', () => {
  expect(read('conformance.ts')).toMatch(/^ {2}leaseConformance\(tag, skip, suite, /m)
})
