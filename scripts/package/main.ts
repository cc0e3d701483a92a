import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPages } from '../pages/build.ts'
import { bundles } from '../pages/bundles.ts'
import { buildSite } from '../site.ts'
import { writeRelease } from './write.ts'

// `scripts/package.ts` starts this program, with surroundings that are the same on each machine.

const root = fileURLToPath(new URL('../..', import.meta.url))
const [wanted = join(root, 'dist/release')] = process.argv.slice(2)
if (wanted.startsWith('-')) throw new Error(`${wanted}: there are no options; name a folder, or nothing`)
const folder = resolve(wanted)

for (const pages of bundles) buildPages(root, pages, () => console.log(`Building the pages of ${pages.name}`))
await buildSite(root, () => console.log('Building the documentation'))
const { files, missing } = await writeRelease(root, folder, timeOfSources())
for (const file of files) console.log(join(folder, file))
if (missing !== undefined) console.error(`The executable and its package for Debian are left out: ${missing}`)

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
