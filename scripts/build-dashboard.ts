import { fileURLToPath } from 'node:url'
import { buildDashboard } from './dashboard/build.ts'

// Before `npm start`: builds the dashboard when there is none or its sources have changed, and is done at once otherwise.
// The API does without, so a build that fails stops nobody from starting.

// Whatever it is set to here, what is built is what people use.
process.env.NODE_ENV = 'production'
const isStart = process.env.npm_lifecycle_event === 'prestart'
try {
  const done = await buildDashboard(fileURLToPath(new URL('..', import.meta.url)))
  if (done) {
    const kilobytes = Math.ceil(done.firstLoadBytes / 1000)
    console.log(
      `Built the dashboard in ${done.seconds.toFixed(1)} s; a first load is ${kilobytes} kB of script at most`,
    )
  }
} catch (error) {
  console.error(`The dashboard could not be built: ${(error as Error).message}`)
  if (!isStart) process.exit(1)
}
