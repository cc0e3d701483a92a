import type { SyncEntry, SyncLimits } from '@skerry/providers/sync/provider'
import type { LedgerRow } from './ledger-store.ts'
import { nameProblem, namesThere } from './names.ts'
import type { Binding } from './scope.ts'

// What a run does, name by name, out of what should be there, what is there and what the ledger knows. Pure: a plan is the
// same without the doing.

export interface Refused {
  name: string
  reason: string
}

/** What should be at the destination, by its name there. */
export interface Wanted {
  values: Map<string, string>
  refused: Refused[]
}

type Settings = Pick<Binding, 'include' | 'exclude' | 'nameTransform'>

/** Names two secrets, or breaks a rule, and none of them goes; the others do. */
export function wantedOf(
  resolved: { values: ReadonlyMap<string, string>; failed: ReadonlyMap<string, string> },
  binding: Settings,
  limits: SyncLimits,
): Wanted {
  const wanted: Wanted = { values: new Map(), refused: [] }
  const secrets = [...resolved.values.keys(), ...resolved.failed.keys()].sort()
  for (const [name, from] of namesThere(secrets, binding, limits.name)) {
    const [secret, ...others] = from as [string, ...string[]]
    const value = resolved.values.get(secret) ?? ''
    const reason =
      others.length > 0
        ? `${from.join(' and ')} would become the same name.`
        : (nameProblem(name, limits.name) ?? resolved.failed.get(secret) ?? valueProblem(value, limits))
    if (reason === null) wanted.values.set(name, value)
    else wanted.refused.push({ name, reason })
  }
  return wanted
}

function valueProblem(value: string, { emptyValues, valueBytesMax }: SyncLimits): string | null {
  if (value === '' && !emptyValues) return 'The destination holds no empty values.'
  if (valueBytesMax !== null && Buffer.byteLength(value) > valueBytesMax)
    return `The destination holds values of ${valueBytesMax} bytes at most.`
  return null
}

/** Why a destination that holds all as one would not take it; null where it would. */
export function totalProblem({ values }: Wanted, { totalBytesMax }: SyncLimits): string | null {
  if (totalBytesMax === null) return null
  let bytes = 0
  for (const [name, value] of values) bytes += Buffer.byteLength(name) + Buffer.byteLength(value)
  return bytes > totalBytesMax
    ? `Names and values take ${bytes} bytes together, and the destination holds ${totalBytesMax}.`
    : null
}

export interface State {
  wanted: Wanted
  entries: ReadonlyMap<string, SyncEntry>
  ledger: ReadonlyMap<string, LedgerRow>
  /** Names that another binding wrote in the same place, with its id. */
  elsewhere: ReadonlyMap<string, string>
  /** Whether a name that somebody else wrote may be overwritten. */
  adopts: (name: string) => boolean
  onDelete: Binding['onDelete']
  /** Whether a digest in the ledger is that of this value of the name, under the rules that hold now. */
  isValue: (digest: string | null, name: string, value: string) => boolean
  /** Whether it is that of what the destination showed as the name’s revision. */
  isRevision: (digest: string | null, name: string, revision: string) => boolean
}

export interface Decision {
  create: string[]
  update: string[]
  delete: string[]
  unchanged: string[]
  foreign: string[]
  /** Names that are no longer wanted and stay there, because somebody else has changed them. */
  kept: Refused[]
  refused: Refused[]
  /** Names that are no longer there, and that the ledger need not know. */
  forget: string[]
}

export function decide(state: State): Decision {
  const { wanted } = state
  const decision: Decision = {
    create: [],
    update: [],
    delete: [],
    unchanged: [],
    foreign: [],
    kept: [],
    refused: [...wanted.refused],
    forget: [],
  }
  for (const [name, value] of wanted.values) decideWrite(state, decision, name, value)
  // What only failed this time is wanted still.
  const kept = new Set([...wanted.values.keys(), ...wanted.refused.map(({ name }) => name)])
  if (state.onDelete === 'delete')
    for (const row of state.ledger.values()) if (!kept.has(row.name)) decideRemoval(state, decision, row)
  return decision
}

function decideWrite(state: State, decision: Decision, name: string, value: string): void {
  const { entries, ledger, elsewhere } = state
  const [entry, row, owner] = [entries.get(name), ledger.get(name), elsewhere.get(name)]
  const refuse = (reason: string) => decision.refused.push({ name, reason })
  if (owner !== undefined) refuse(`The binding ${owner} writes this name.`)
  else if (entry && !isOwn(state, row, entry) && !state.adopts(name)) decision.foreign.push(name)
  else if (entry?.locked !== undefined) refuse(entry.locked)
  else if (!entry || entry.deleted) decision.create.push(name)
  else if (!row) decision.update.push(name)
  else if (isUntouched(state, row, entry) && state.isValue(row.valueDigest, name, value)) decision.unchanged.push(name)
  else decision.update.push(name)
}

/**
 * Whether this binding wrote what is there. A name that it removed is its own for as long as it stays deleted: a live one was
 * made or restored by somebody else.
 */
function isOwn(state: State, row: LedgerRow | undefined, entry: SyncEntry): boolean {
  if (!row) return false
  return row.deletedAt === null || (entry.deleted === true && isUntouched(state, row, entry))
}

/** Whether what is there is what this binding last wrote, as far as that can be seen. */
const isUntouched = ({ isRevision }: State, row: LedgerRow, { name, revision }: SyncEntry): boolean =>
  row.sendingRunId === null &&
  (revision === null || row.revisionDigest === null || isRevision(row.revisionDigest, name, revision))

function decideRemoval(state: State, decision: Decision, row: LedgerRow): void {
  const { name } = row
  const entry = state.entries.get(name)
  if (!entry || state.elsewhere.has(name)) decision.forget.push(name)
  else if (row.deletedAt !== null) {
    // Somebody else has the name again.
    if (!entry.deleted) decision.forget.push(name)
  } else if (entry.deleted) decision.forget.push(name)
  else if (entry.locked !== undefined) decision.refused.push({ name, reason: entry.locked })
  else {
    const reason = row.sendingRunId === null ? reasonToKeep(state, row, entry) : null
    if (reason === null) decision.delete.push(name)
    else decision.kept.push({ name, reason })
  }
}

/** A value is removed only where nobody else can have changed it, as far as the destination shows it. */
function reasonToKeep(state: State, row: LedgerRow, entry: SyncEntry): string | null {
  if (entry.revision !== null && row.revisionDigest === null)
    return 'It is not known whether somebody else has changed it there, so it was not removed.'
  return isUntouched(state, row, entry) ? null : 'Somebody else has changed it there, so it was not removed.'
}
