import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// CONTRIBUTING.md leads through leases, file by file and row by row. Both change more often than that page is read.

const cwd = fileURLToPath(new URL('..', import.meta.url))
const page = readFileSync(`${cwd}/CONTRIBUTING.md`, 'utf8')

/** `<noun>` stands for any. A name without a folder is one of a feature, or of the folders that the page is about. */
const filesOf = (name: string): string[] => {
  const pattern = name.replaceAll(/<\w+>/g, '*')
  return globSync(
    ['', 'packages/', 'packages/server/src/', 'packages/server/src/features/*/'].map((folder) => folder + pattern),
    { cwd },
  )
}

/** A row of the example in each of these files. */
const rowPatterns: Record<string, RegExp> = {
  'contract/src/prefixes.ts': /^ {2}lease\w*: '/gm,
  'contract/src/params.ts': /id\('lease/g,
  'contract/src/endpoints.ts': /^ {2}leases,$/gm,
  'contract/src/openapi.ts': /^ {2}leases: /gm,
  'contract/src/openapi-schemas.ts': /^ {2}Lease\w*,$/gm,
  'contract/src/audit-actions.ts': /^ {2}'lease\w*\./gm,
  'contract/src/audit-groups.ts': /^ {2}lease\w*: /gm,
  'dashboard/app/audit/labels.ts': /^ {2}'lease\w*\./gm,
  'features/audit/names-store.ts': / from lease/g,
  'features/export/sections.ts': /^ {2}lease\w*: |table: 'lease/gm,
  'server/src/events/types.ts': /^ {2}'lease/gm,
  'contract/src/notification-types.ts': /^ {2}lease/gm,
  'features/notifications/notices.ts': /^ {2}'lease/gm,
  'features/notifications/mails.ts': /^ {2}lease/gm,
  'contract/src/plans.ts': /'leases\.active': /g,
  'features/billing/usage-store.ts': /^ {2}'leases\.active': /gm,
  'server/src/app.ts': /^ {2}\.\.\.lease/gm,
  'providers/src/leases/registry.ts': /=> import\(/g,
  'cli/src/commands/table.ts': /name: 'lease/g,
}

test('every file that CONTRIBUTING.md names is there', () => {
  const named = [...page.matchAll(/`([\w./{},*<>-]+\.(?:ts|md|sql|json))`/g)].map(([, name]) => name!)
  expect(named.length).toBeGreaterThan(40)
  expect(named.filter((name) => filesOf(name).length === 0)).toEqual([])
})

test('its example names every file of the feature', () => {
  const folder = 'packages/server/src/features/leases/'
  const named = new Set([...page.matchAll(/`(features\/leases\/[^`]+)`/g)].flatMap(([, name]) => filesOf(name!)))
  expect(globSync(`${folder}*`, { cwd }).filter((path) => !named.has(path))).toEqual([])
})

test('its example counts the rows that the feature has elsewhere', () => {
  const counted = [...page.matchAll(/^\| `([^`]+)` \| (\d+) \| /gm)].map(([, name, count]) => [name, Number(count)])
  const there = Object.entries(rowPatterns).map(([name, pattern]) => {
    const [path] = filesOf(name)
    return [name, readFileSync(`${cwd}/${path}`, 'utf8').match(pattern)?.length]
  })
  expect(counted).toEqual(there)
})
