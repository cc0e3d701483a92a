import { openPool } from '../../src/children/pool.ts'
import { childFile, nothingThere } from './scene.ts'

// A process that starts a child, makes it spin, and prints its process id.

const pool = openPool({ file: childFile, environment: {}, door: {}, max: 2, maxOfOwner: 2 })
void pool.use('one', async (child) => {
  process.stdout.write(`${child.pid}\n`)
  await nothingThere(child, Number(process.argv[2]))
})
