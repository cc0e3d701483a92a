import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { leaseProviders } from '@skerry/contract/leases/providers'
import { expect, it } from 'vitest'

// The registry is the table of tags and files. A suite is a call that names its tag, in the test with the adapter's
// name.

const read = (file: string) => readFileSync(join(import.meta.dirname, file), 'utf8')

/** Tag -> the name of the adapter's file. */
const fileNames = new Map(
  [...read('../../src/leases/registry.ts').matchAll(/^ {2}'?([\w-]+)'?: \(\) => import\('\.\/([\w-]+)\.ts'\)/gm)].map(
    ([, tag, name]) => [tag, name],
  ),
)

it('the registry has exactly the tags of the contract', () => {
  expect([...fileNames.keys()].sort()).toEqual(Object.keys(leaseProviders).sort())
})

it.each(Object.keys(leaseProviders))('the conformance suite runs the adapter of %s', (tag) => {
  expect(read(`${fileNames.get(tag)}.test.ts`)).toMatch(new RegExp(`^(?:lease|database)Conformance\\('${tag}', `, 'm'))
})

it('the conformance suite of databases contains the one of all leases', () => {
  expect(read('conformance.ts')).toMatch(/^ {2}leaseConformance\(tag, skip, suite, /m)
})
