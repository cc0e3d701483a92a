import { fileURLToPath } from 'node:url'
import { buildDashboard } from './dashboard/build.ts'

// Before `npm start`: builds the dashboard when there is none or its sources have changed, and is done at once otherwise.
// The API does without, so a build that fails stops nobody from starting.

// Whatever it is set to here, what is built is what people use.
process.env.NODE_ENV = 'production'
const isStart = process.env.npm_lifecycle_event === 'prestart'
try {
  const { built, seconds } = await buildDashboard(fileURLToPath(new URL('..', import.meta.url)))
  if (built) console.log(`Built the dashboard in ${seconds.toFixed(1)} s`)
} catch (error) {
  console.error(`The dashboard could not be built: ${(error as Error).message}`)
  if (!isStart) process.exit(1)
}
