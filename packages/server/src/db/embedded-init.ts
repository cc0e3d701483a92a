/**
 * Entry of the child process that makes a new embedded database in the directory of its first argument. initdb peaks
 * near 530 MB, which only the end of a process gives back.
 */
import { startPglite } from './embedded-start.ts'

const directory = process.argv[2]
if (directory === undefined) throw new Error('embedded-init needs a directory')
// Its other end is the server. When that was killed, nobody waits for this.
process.stdin.on('end', () => process.exit(1)).resume()
const pglite = await startPglite(directory)
// Nobody makes a second database here: two thirds of the files, which also make a copy for a backup slow.
await pglite.exec('UPDATE pg_database SET datistemplate = false')
for (const name of ['template1', 'template0']) await pglite.exec(`DROP DATABASE ${name}`)
await pglite.exec('CHECKPOINT')
await pglite.close()
process.exit(0)
