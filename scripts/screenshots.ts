import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// Every page in light and dark, as pictures in the folder `screenshots`: to be looked at after a change of looks.

const root = fileURLToPath(new URL('..', import.meta.url))
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const args = [vitest, 'run', '--project', 'browser', 'packages/dashboard/test/screenshots.test.ts']
const env = { ...process.env, SKERRY_SCREENSHOTS: fileURLToPath(new URL('../screenshots', import.meta.url)) }
const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', cwd: root, env })
process.exit(status ?? 1)
