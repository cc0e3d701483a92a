import type { Command } from 'commander'
import type { Config } from '../config.ts'
import type { Tx } from '../db/database.ts'
import { dropRecoveryCodes } from '../features/second-factor/operating.ts'
import { listOrgIds } from '../identity/store.ts'
import { recordIn, system } from '../kernel/audit.ts'
import { loadServerKey, type SealedFor, type ServerKey, serverKeyOf } from '../keys/server-key.ts'
import { dropSealed, opens, ownerOf, type SealedRow, visitSealed } from '../keys/unopened.ts'
import { type Operation, Refused, type WithDatabase } from './database.ts'

interface Format {
  json?: boolean
}

interface DropOptions extends Format {
  lost?: boolean
  leaked?: boolean
  yes?: boolean
}

export function register(command: Command, withDatabase: WithDatabase): void {
  command
    .command('list')
    .option('--json', 'the same as JSON')
    .description('How much data each server key opens, and how much no key opens')
    .action((format: Format) => withDatabase((operation) => list(operation, format)))
  command
    .command('drop')
    .option('--lost', 'data that no server key opens, because its key is lost')
    .option('--leaked', 'data under SKERRY_SERVER_KEY_PREVIOUS, because a stranger may have that key')
    .option('--yes', 'drop it; without this option, the command only shows what it would drop')
    .option('--json', 'the same as JSON')
    .description('Delete data of a lost or leaked server key, so that people and admins set it up again')
    .action((options: DropOptions) => withDatabase((operation) => drop(operation, options)))
}

/** The names of sealed data, for people and in audit entries: for one row, and for several. */
const kinds: Record<Exclude<SealedFor, 'external-sign-in' | 'keypair'> | 'broker' | 'rotator' | 'sync', Names> = {
  'signing-key': ['key that signs sessions', 'keys that sign sessions'],
  'totp-secret': ['authenticator app', 'authenticator apps'],
  broker: ['key pair for lease targets', 'key pairs for lease targets'],
  rotator: ['key pair of a rotator', 'key pairs of rotators'],
  sync: ['key pair of a sync connection', 'key pairs of sync connections'],
  'export-key': ['key that signs archives and checkpoints', 'keys that sign archives and checkpoints'],
  'log-sink-headers': ['log sink', 'log sinks'],
  'vault-webhook-secret': ['vault webhook', 'vault webhooks'],
}
type Names = [one: string, several: string]
type Kind = keyof typeof kinds
type Counts = Partial<Record<Kind, number>>

const kindOf = (row: SealedRow): Kind =>
  row.purpose === 'keypair' ? ownerOf(row).purpose : (row.purpose as Exclude<SealedFor, 'external-sign-in' | 'keypair'>)

function countsOf(rows: Iterable<SealedRow>): Counts {
  const counts: Counts = {}
  for (const row of rows) counts[kindOf(row)] = (counts[kindOf(row)] ?? 0) + 1
  return counts
}

const linesOf = (counts: Counts): string[] =>
  (Object.keys(kinds) as Kind[]).flatMap((kind) => {
    const count = counts[kind]
    return count === undefined ? [] : [`  ${count} ${kinds[kind][count === 1 ? 0 : 1]}`]
  })

interface Sorted {
  current: SealedRow[]
  previous: SealedRow[]
  none: SealedRow[]
}

/** Sorts all rows by the key that opens them. */
async function sortRows({ config, db }: Operation, serverKey: ServerKey): Promise<Sorted> {
  const sorted: Sorted = { current: [], previous: [], none: [] }
  const newest = newestOf(config, serverKey)
  await visitSealed(db, (row) => {
    const place = opens(newest, row) ? 'current' : opens(serverKey, row) ? 'previous' : 'none'
    sorted[place].push(row)
  })
  return sorted
}

const newestOf = ({ serverKey: key }: Config, serverKey: ServerKey): ServerKey =>
  key === null ? serverKey : serverKeyOf(key)

async function requireKey(config: Config): Promise<ServerKey> {
  const serverKey = await loadServerKey(config)
  if (!serverKey) throw new Refused('There is no server key. Set SKERRY_SERVER_KEY as for the server.')
  return serverKey
}

const headings: Record<keyof Sorted, string> = {
  current: 'The server key opens:',
  previous: 'Only SKERRY_SERVER_KEY_PREVIOUS opens:',
  none: 'No key opens:',
}

async function list(operation: Operation, { json }: Format): Promise<void> {
  const { config, print } = operation
  const sorted = await sortRows(operation, await requireKey(config))
  const groups = (Object.keys(headings) as (keyof Sorted)[]).map((group) => [group, countsOf(sorted[group])] as const)
  if (json) return print(JSON.stringify(Object.fromEntries(groups), null, 2))
  if (groups.every(([group]) => sorted[group].length === 0))
    return print('The database has no data under a server key.')
  for (const [group, counts] of groups)
    if (sorted[group].length > 0) print([headings[group], ...linesOf(counts)].join('\n'))
  if (sorted.previous.length > 0) print('`skerry-server rekey` encrypts this data again under the server key.')
  if (sorted.none.length > 0)
    print(
      'If you still have the key of this data, set it as SKERRY_SERVER_KEY_PREVIOUS. If it is lost, see `skerry-server sealed drop --lost`.',
    )
}

async function drop(operation: Operation, { lost, leaked, yes, json }: DropOptions): Promise<void> {
  const { config, db, print } = operation
  if ((lost === true) === (leaked === true)) throw new Refused('Give --lost or --leaked.')
  const serverKey = await requireKey(config)
  const rows = lost ? await findLost(operation, serverKey) : await findLeaked(operation, serverKey)
  if (yes) {
    const newest = newestOf(config, serverKey)
    const dropped = await db.transaction((tx) => dropRows(tx, newest, rows, lost ? 'lost' : 'leaked'))
    if (json) return print(JSON.stringify({ dropped: countsOf(dropped) }, null, 2))
    print(['Dropped:', ...linesOf(countsOf(dropped))].join('\n'))
    return print('Start the servers, or restart those that run. Then people and admins set up again what was dropped.')
  }
  if (json) print(JSON.stringify({ toDrop: countsOf(rows) }, null, 2))
  else print(['To drop:', ...linesOf(countsOf(rows))].join('\n'))
  throw new Refused('Nothing was changed. Run again with --yes to drop this data; nobody can bring it back.')
}

async function findLost(operation: Operation, serverKey: ServerKey): Promise<SealedRow[]> {
  const { none } = await sortRows(operation, serverKey)
  if (none.length === 0) throw new Refused('The server key opens all data. Nothing is lost.')
  return none
}

async function findLeaked(operation: Operation, serverKey: ServerKey): Promise<SealedRow[]> {
  if (operation.config.serverKeyPrevious === null)
    throw new Refused('Set a new key as SKERRY_SERVER_KEY, and the leaked key as SKERRY_SERVER_KEY_PREVIOUS.')
  const { previous } = await sortRows(operation, serverKey)
  if (previous.length === 0)
    throw new Refused(
      'No data is under SKERRY_SERVER_KEY_PREVIOUS. If you ran `rekey` after the leak, replace the server key once more, and run this command instead of `rekey`.',
    )
  return previous
}

/** Deletes the rows with what only they make useful, and records it in every organization concerned. */
async function dropRows(
  tx: Tx,
  serverKey: ServerKey,
  rows: readonly SealedRow[],
  reason: string,
): Promise<SealedRow[]> {
  const now = () => new Date()
  const dropped = await dropSealed(tx, serverKey, rows, now)
  const userIds = dropped.filter(({ purpose }) => purpose === 'totp-secret').map(({ key }) => key[0] as string)
  await dropRecoveryCodes(tx, userIds)
  for (const [orgId, concerned] of await groupByOrg(tx, dropped))
    recordIn({ now }, tx, system, {
      orgId,
      action: 'org.sealed_data_dropped',
      resourceId: orgId,
      metadata: { reason, dropped: countsOf(concerned) },
    })
  return dropped
}

/** The rows that concern each organization. A key of the whole server concerns all of them. */
async function groupByOrg(tx: Tx, rows: readonly SealedRow[]): Promise<Map<string, SealedRow[]>> {
  const all = (await tx.rows<{ id: string }>('select id from organizations')).map(({ id }) => id)
  const byOrg = new Map<string, SealedRow[]>()
  for (const row of rows)
    for (const orgId of await orgIdsOf(tx, row, all)) byOrg.set(orgId, [...(byOrg.get(orgId) ?? []), row])
  return byOrg
}

async function orgIdsOf(tx: Tx, { purpose, key }: SealedRow, all: string[]): Promise<string[]> {
  if (purpose === 'signing-key' || purpose === 'export-key') return all
  return purpose === 'totp-secret' ? listOrgIds(tx, key[0] as string) : [key[0] as string]
}
