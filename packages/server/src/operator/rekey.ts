import type { Command } from 'commander'
import { rekey } from '../keys/rekey.ts'
import { loadServerKey } from '../keys/server-key.ts'
import { type Operation, Refused, type WithDatabase } from './database.ts'

export function register(command: Command, withDatabase: WithDatabase): void {
  command.action(() => withDatabase(run))
}

/**
 * Re-encrypts the database. The command can be interrupted and run again, also while servers with both keys are
 * running.
 */
async function run({ config, db, print }: Operation): Promise<void> {
  const serverKey = await loadServerKey(config)
  if (!serverKey) throw new Refused('There is no server key. Set SKERRY_SERVER_KEY as for the server.')
  const { resealed, unopened } = await rekey(db, serverKey)
  print(`${resealed} ${resealed === 1 ? 'row is' : 'rows are'} sealed anew under the server key.`)
  for (const { table, rows } of unopened) print(`${table}: no key opens ${rows} of its rows; they stay as they are.`)
  if (unopened.length > 0) throw new Refused('Keep the previous server key until you know what these rows were.')
}
