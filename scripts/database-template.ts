import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, sep } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import manifest from '../packages/server/package.json' with { type: 'json' }
import { startPglite } from '../packages/server/src/db/embedded-start.ts'
import { type TemplateIndex, templateFile } from '../packages/server/src/db/embedded-template.ts'

// Makes the data directory from which every embedded database starts. Run it again after each update of PGlite; a test
// fails until then. It needs 550 MB of memory and a minute.
//
//   npm run database-template

const pglite = manifest.dependencies['@electric-sql/pglite']
const directory = mkdtempSync(join(tmpdir(), 'skerry-database-template-'))
try {
  await createDatabase(directory)
  const packed = packDirectory(directory)
  writeFileSync(templateFile, packed)
  console.log(`${relative(process.cwd(), templateFile)}: ${Math.round(packed.length / 1000)} kB, PGlite ${pglite}`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}

async function createDatabase(directory: string): Promise<void> {
  const database = await startPglite(directory)
  // Skerry creates no second database. Without the templates there are two thirds fewer files, so a backup is faster.
  await database.exec('UPDATE pg_database SET datistemplate = false')
  for (const name of ['template1', 'template0']) await database.exec(`DROP DATABASE ${name}`)
  await database.exec('CHECKPOINT')
  await database.close()
}

function packDirectory(directory: string): Buffer {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, full: join(entry.parentPath, entry.name) }))
    .map(({ entry, full }) => ({ entry, full, path: relative(directory, full).split(sep).join('/') }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  const contents = entries
    .filter(({ entry }) => entry.isFile())
    .map(({ full, path }) => [path, readFileSync(full)] as const)
  const index: TemplateIndex = {
    pglite,
    directories: entries.filter(({ entry }) => entry.isDirectory()).map(({ path }) => path),
    files: contents.map(([path, bytes]) => ({ path, size: bytes.length })),
  }
  const text = Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...contents.map(([, bytes]) => bytes)])
  return brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
    },
  })
}
