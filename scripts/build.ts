import { fileURLToPath } from 'node:url'
import { buildCommand } from './command.ts'
import { buildPages } from './pages/build.ts'
import { bundles } from './pages/bundles.ts'
import { buildSite } from './site.ts'

// Runs before `npm start`. It builds the dashboard, the Connect page, the command and the documentation if they are
// missing or their sources have changed, and otherwise does nothing. The API works without the pages, and the command
// runs from its sources, so a failed build does not prevent a start.
//
//   node scripts/build.ts [dashboard] [connect] [command] [site]    all of them unless some are named

// Always a production build, whatever NODE_ENV is set to here.
process.env.NODE_ENV = 'production'
const isStart = process.env.npm_lifecycle_event === 'prestart'
const root = fileURLToPath(new URL('..', import.meta.url))

const named = process.argv.slice(2)
const isWanted = (name: string) => named.length === 0 || named.includes(name)

const pageWords = { dashboard: 'the dashboard', connect: 'the Connect page' }
const bundleWords = { dashboard: 'This takes one to two minutes.', connect: 'This takes a few seconds.' }
for (const bundle of bundles.filter((one) => isWanted(one.name)))
  await attempt(pageWords[bundle.name], (name) => {
    const done = buildPages(root, bundle, () => console.log(`Building ${name} once. ${bundleWords[bundle.name]}`))
    if (!done) return
    const kilobytes = Math.ceil(done.firstLoadBytes / 1000)
    console.log(`Built ${name} in ${done.seconds.toFixed(1)} s; a first load is ${kilobytes} kB of script at most`)
  })
if (isWanted('command'))
  await attempt('the command', async (name) => {
    const seconds = await buildCommand(root)
    if (seconds !== null) console.log(`Built ${name} in ${seconds.toFixed(1)} s`)
  })
if (isWanted('site'))
  await attempt('the documentation', async (name) => {
    const seconds = await buildSite(root)
    if (seconds !== null) console.log(`Built ${name} in ${seconds.toFixed(1)} s: packages/site/dist`)
  })

async function attempt(name: string, build: (name: string) => Promise<void> | void): Promise<void> {
  try {
    await build(name)
  } catch (error) {
    console.error(`Building ${name} failed: ${(error as Error).message}`)
    if (!isStart) process.exit(1)
  }
}
