import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// Writes everything that a release publishes. The same sources give the same bytes.
//
//   npm run package                       into dist/release
//   node scripts/package.ts <folder>      into this folder, which is replaced

// The time zone, the language and the umask of the machine must not reach the files. It is always a production build.
process.umask(0o022)
const same = { TZ: 'UTC', LC_ALL: 'C', NODE_ENV: 'production' }
const main = fileURLToPath(new URL('package/main.ts', import.meta.url))
const { status } = spawnSync(process.execPath, [main, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, ...same },
})
process.exitCode = status ?? 1
