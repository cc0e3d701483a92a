import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { leaseProviders } from '@skerry/contract/leases/providers'
import { expect, it } from 'vitest'

// The registry is the table of tags and files. A suite is a call that names its tag, in the test beside the adapter's name.

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8')

/** Tag -> the name of the adapter's file. */
const fileNames = new Map(
  [...read('../../src/leases/registry.ts').matchAll(/^ {2}'?([\w-]+)'?: \(\) => import\('\.\/([\w-]+)\.ts'\)/gm)].map(
    ([, tag, name]) => [tag, name],
  ),
)

it('the registry has every tag of the contract, and no other', () => {
  expect([...fileNames.keys()].sort()).toEqual(Object.keys(leaseProviders).sort())
})

it.each(Object.keys(leaseProviders))('the adapter of %s is run by the conformance suite', (tag) => {
  expect(read(`${fileNames.get(tag)}.test.ts`)).toMatch(new RegExp(`^(?:lease|database)Conformance\\('${tag}', `, 'm'))
})

it('the conformance suite of databases is that of every lease, and more', () => {
  expect(read('conformance.ts')).toMatch(/^ {2}leaseConformance\(tag, skip, suite, /m)
})
