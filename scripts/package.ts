import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeRelease } from './package/write.ts'
import { buildPages } from './pages/build.ts'
import { bundles } from './pages/bundles.ts'
import { buildSite } from './site.ts'

// Writes everything that a release publishes. The same sources give the same bytes.
//
//   npm run package                       into dist/release
//   node scripts/package.ts <folder>      into this folder, which is replaced

// Always a production build, whatever NODE_ENV is set to here.
process.env.NODE_ENV = 'production'
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = resolve(process.argv[2] ?? join(root, 'dist/release'))

for (const pages of bundles) buildPages(root, pages, () => console.log(`Building the pages of ${pages.name}`))
await buildSite(root, () => console.log('Building the documentation'))
const files = await writeRelease(root, folder, timeOfSources())
for (const file of files) console.log(join(folder, file))

/** SOURCE_DATE_EPOCH, or else the time of the last commit. */
function timeOfSources(): Date {
  const seconds = process.env.SOURCE_DATE_EPOCH || lastCommit()
  if (!/^\d{1,11}$/.test(seconds)) throw new Error('SOURCE_DATE_EPOCH: must be a number of seconds since 1970')
  return new Date(Number(seconds) * 1000)
}

function lastCommit(): string {
  try {
    return execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    throw new Error('these sources are no git checkout: set SOURCE_DATE_EPOCH to the time of the release, in seconds')
  }
}
