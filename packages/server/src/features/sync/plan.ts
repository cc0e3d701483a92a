import type { SyncEntry, SyncLimits } from '@skerry/providers/sync/provider'
import type { LedgerRow } from './ledger-store.ts'
import { nameProblem, namesThere } from './names.ts'
import type { Binding } from './scope.ts'

// A plan says for every name what a run does with it. It follows from the values that should be at the destination, the
// entries that are there and the ledger. The functions are pure, so an admin’s plan shows what a run would do.

export interface Refused {
  name: string
  reason: string
}

/** The values that should be at the destination, by their names there. */
export interface Wanted {
  values: Map<string, string>
  refused: Refused[]
}

type Settings = Pick<Binding, 'include' | 'exclude' | 'nameTransform'>

/**
 * Refuses a name that stands for two secrets, or that breaks a rule of the destination. A refused name does not block
 * the other names.
 */
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

/** Why a destination that stores everything as one document would refuse it; null if it accepts it. */
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
  /** Whether a ledger digest matches this value of the name under the current rules. */
  isValue: (digest: string | null, name: string, value: string) => boolean
  /** Whether a ledger digest matches the revision that the destination showed for the name. */
  isRevision: (digest: string | null, name: string, revision: string) => boolean
}

export interface Plan {
  create: string[]
  update: string[]
  delete: string[]
  unchanged: string[]
  foreign: string[]
  /** Names that are no longer wanted and stay there, because somebody else has changed them. */
  kept: Refused[]
  refused: Refused[]
  /** Names that this binding no longer owns at the destination, so that the ledger can forget them. */
  forget: string[]
}

export function makePlan(state: State): Plan {
  const { wanted } = state
  const plan: Plan = {
    create: [],
    update: [],
    delete: [],
    unchanged: [],
    foreign: [],
    kept: [],
    refused: [...wanted.refused],
    forget: [],
  }
  for (const [name, value] of wanted.values) planWrite(state, plan, name, value)
  // A name whose value is refused in this run is still wanted: its entry must not be deleted.
  const kept = new Set([...wanted.values.keys(), ...wanted.refused.map(({ name }) => name)])
  if (state.onDelete === 'delete')
    for (const row of state.ledger.values()) if (!kept.has(row.name)) planRemoval(state, plan, row)
  return plan
}

function planWrite(state: State, plan: Plan, name: string, value: string): void {
  const { entries, ledger, elsewhere } = state
  const [entry, row, owner] = [entries.get(name), ledger.get(name), elsewhere.get(name)]
  const refuse = (reason: string) => plan.refused.push({ name, reason })
  if (owner !== undefined) refuse(`The binding ${owner} writes this name.`)
  else if (entry && !isOwn(state, row, entry) && !state.adopts(name)) plan.foreign.push(name)
  else if (entry?.locked !== undefined) refuse(entry.locked)
  else if (!entry || entry.deleted) plan.create.push(name)
  else if (!row) plan.update.push(name)
  else if (isUntouched(state, row, entry) && state.isValue(row.valueDigest, name, value)) plan.unchanged.push(name)
  else plan.update.push(name)
}

/**
 * Whether this binding wrote the entry. A name that it removed stays its own while it is deleted. If the name is live
 * again, somebody else made or restored it.
 */
function isOwn(state: State, row: LedgerRow | undefined, entry: SyncEntry): boolean {
  if (!row) return false
  return row.deletedAt === null || (entry.deleted === true && isUntouched(state, row, entry))
}

/** Whether the entry is still what this binding last wrote, as far as the destination shows. */
const isUntouched = ({ isRevision }: State, row: LedgerRow, { name, revision }: SyncEntry): boolean =>
  row.sendingRunId === null &&
  (revision === null || row.revisionDigest === null || isRevision(row.revisionDigest, name, revision))

function planRemoval(state: State, plan: Plan, row: LedgerRow): void {
  const { name } = row
  const entry = state.entries.get(name)
  if (!entry || state.elsewhere.has(name)) plan.forget.push(name)
  else if (row.deletedAt !== null) {
    // Somebody else has the name again.
    if (!entry.deleted) plan.forget.push(name)
  } else if (entry.deleted) plan.forget.push(name)
  else if (entry.locked !== undefined) plan.refused.push({ name, reason: entry.locked })
  else {
    const reason = row.sendingRunId === null ? reasonToKeep(state, row, entry) : null
    if (reason === null) plan.delete.push(name)
    else plan.kept.push({ name, reason })
  }
}

/** Returns why a value is not removed: somebody else has changed it, or may have. Returns null if it can be removed. */
function reasonToKeep(state: State, row: LedgerRow, entry: SyncEntry): string | null {
  if (entry.revision !== null && row.revisionDigest === null)
    return 'It is not known whether somebody else has changed it there, so it was not removed.'
  return isUntouched(state, row, entry) ? null : 'Somebody else has changed it there, so it was not removed.'
}
