import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// Takes pictures of every page in light and dark, in the folder `screenshots`, for a review after a change of the
// design. `npm run screenshots readme` renews the pictures in README.md instead.

const readme = { SKERRY_SCREENSHOTS: 'docs/images', SKERRY_PICTURES: 'matrix-light,change-dark' }
const all = { SKERRY_SCREENSHOTS: 'screenshots' }

const root = fileURLToPath(new URL('..', import.meta.url))
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const isReadme = process.argv[2] === 'readme'
const suites = isReadme ? ['dashboard'] : ['dashboard', 'connect']
const files = suites.map((name) => `packages/${name}/test/screenshots.test.ts`)
const args = [vitest, 'run', '--project', 'browser', ...files]
const env = { ...process.env, ...(isReadme ? readme : all) }
const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', cwd: root, env })
process.exit(status ?? 1)
