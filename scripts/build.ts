import { fileURLToPath } from 'node:url'
import { buildPages } from './pages/build.ts'
import { bundles } from './pages/bundles.ts'

// Before `npm start`: builds the dashboard and the Connect page when there are none or their sources have changed, and is
// done at once otherwise. The API does without, so a build that fails stops nobody from starting.

// Whatever it is set to here, what is built is what people use.
process.env.NODE_ENV = 'production'
const isStart = process.env.npm_lifecycle_event === 'prestart'
const words = { dashboard: 'the dashboard', connect: 'the Connect page' }
for (const bundle of bundles)
  try {
    const done = await buildPages(fileURLToPath(new URL('..', import.meta.url)), bundle)
    if (done) {
      const kilobytes = Math.ceil(done.firstLoadBytes / 1000)
      const took = `in ${done.seconds.toFixed(1)} s`
      console.log(`Built ${words[bundle.name]} ${took}; a first load is ${kilobytes} kB of script at most`)
    }
  } catch (error) {
    console.error(`Building ${words[bundle.name]} failed: ${(error as Error).message}`)
    if (!isStart) process.exit(1)
  }
