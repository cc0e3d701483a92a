import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { openEmbedded } from './embedded.ts'
import { readTemplate, unpackTemplate } from './embedded-template.ts'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'skerry-template-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('the database template was made by the installed PGlite release (if not, run: npm run database-template)', () => {
  expect(readTemplate().index.pglite).toBe(manifest.dependencies['@electric-sql/pglite'])
})

test('unpacking writes every file of the template completely, and only their owner can read them', () => {
  const folder = newFolder()
  unpackTemplate(folder)
  const { index } = readTemplate()
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  expect(entries).toHaveLength(index.directories.length + index.files.length)
  for (const { path, size } of index.files) expect([path, statSync(join(folder, path)).size]).toEqual([path, size])
  const modes = new Set(entries.map((entry) => statSync(join(entry.parentPath, entry.name)).mode & 0o777))
  expect([...modes].sort()).toEqual([0o600, 0o700])
})

test('a new database contains no data and has the settings of Skerry', async () => {
  const db = await openEmbedded(newFolder())
  onTestFinished(() => db.close())
  expect(await db.rows('select datname from pg_database')).toEqual([{ datname: 'postgres' }])
  expect(await db.rows(`select relname from pg_class where relnamespace = 'public'::regnamespace`)).toEqual([])
  expect(await db.rows('show timezone')).toEqual([{ TimeZone: 'UTC' }])
  expect(await db.rows('show wal_segment_size')).toEqual([{ walSegmentSize: '4MB' }])
})
