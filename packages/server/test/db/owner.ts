/**
 * A process that owns a data directory, for suites to kill. It prints `ready`, then the number of each acknowledged
 * row, and its peak memory once its standard input has ended.
 */
import { openEmbedded } from '../../src/db/embedded.ts'

const dataDir = process.argv[2]
if (dataDir === undefined) throw new Error('owner needs a data directory')
const print = (line: string) => process.stdout.write(`${line}\n`)

const db = await openEmbedded(dataDir)
await db.script('create table if not exists acknowledged (n integer primary key, other integer not null)')
print('ready')
let writing = process.argv[3] === 'write'
process.stdin.resume().on('end', () => {
  writing = false
})
const start = (await db.row<{ n: number }>('select coalesce(max(n), 0) as n from acknowledged'))?.n ?? 0
for (let n = start + 1; writing; n++) {
  await db.transaction(async (tx) => {
    await tx.rows('insert into acknowledged values ($1, 0)', [n])
    await tx.rows('update acknowledged set other = $1 where n = $1', [n])
  })
  print(String(n))
}
if (process.argv[3] === 'write') {
  await db.close()
  print(`peak ${Math.round(process.resourceUsage().maxRSS / 1024)}`)
}
