import { join } from 'node:path'
import type { Cache } from '@skerry/sdk/cache'
import { createKnownState, type KnownState, type KnownStateSettings, type Shown } from '@skerry/sdk/known-state'
import { diskMemory } from '@skerry/sdk/node/disk-memory'
import { isSwap, type Rollback, RollbackError, wordsOf } from '@skerry/sdk/rollback'
import { stateFolder } from './folders.js'
import { committedLabel, forgetCommitment, requireCommitted } from './known-directories.ts'
import { acceptHere, trustHint } from './labels.ts'
import { warn } from './output.ts'
import { isRemoved, noteReturned } from './removed-layers.ts'
import type { Settings } from './settings.ts'

/**
 * Replaces the default, which is to refuse and remember: to list the changes that would be refused, or to accept them.
 */
export interface Look {
  store?: Cache
  onRollback: (error: RollbackError) => void
}

export const isStrict = () => process.env.SKERRY_STRICT === '1'

export const memoryHere = (): Cache => diskMemory({ directory: join(stateFolder(), 'seen') })

/**
 * The known state of environments, which this machine keeps in its state folder. A change that an honest server seldom
 * shows is refused until a person accepts it. Reading with SKERRY_TOKEN only warns, unless SKERRY_STRICT=1, so that a
 * deployment does not stop because somebody re-keyed an environment or removed a group. A known name that means another
 * environment is refused even then.
 */
export function knownStateHere(
  settings: Pick<Settings, 'url' | 'credential' | 'profile'>,
  { type, id }: { type: 'service_token' | 'user'; id: string },
  look?: Look,
): Record<'writing' | 'reading', KnownState> {
  const isDeployment = settings.credential.from === 'environment' && type === 'service_token'
  const writing = openKnownState(settings, id, look && { ...look, strict: true })
  if (look || !isDeployment || isStrict()) return { writing, reading: writing }
  return { writing, reading: openKnownState(settings, id, { onRollback: warnUnlessSwap, rememberRollbacks: false }) }
}

function warnUnlessSwap(error: RollbackError): void {
  if (error.changes.some(isSwap)) throw error
  const next = error instanceof RollbackHere ? `; if someone on your team did this, ${error.acceptance}` : ''
  warn(`${error.message}; the server may have sent an old or a false answer${next}`)
}

interface Remembering {
  strict?: boolean
  /** False: what a run only warned of is reported at the next run, too, and refused before anything is written. */
  rememberRollbacks?: boolean
}

/** `knownStateHere` makes every `Look` strict, so that a person who lists or accepts changes sees all of them. */
function openKnownState(
  { url, profile }: Pick<Settings, 'url' | 'profile'>,
  principalId: string,
  { store, onRollback = refuse, strict = isStrict(), rememberRollbacks = true }: Partial<Look> & Remembering = {},
): KnownState {
  const settings: KnownStateSettings = {
    store: store ?? memoryHere(),
    baseUrl: url,
    principalId,
    strict,
    rememberRollbacks,
    onChanged: (changes) => warn(`${wordsOf(changes)}; if nobody on your team did this, do not trust the server`),
    onGone: (label, names) => store ?? warn(`${label} no longer has ${names.join(', ')}`),
    warn: tellOnce,
  }
  const check: KnownState['check'] = async (shown) => {
    // The proof of an answer was verified now. The commitment is as old as the command, and a command may run for weeks.
    for (const { environmentId, key, isSigned } of shown.environments ?? [])
      if (key && !isSigned) await requireCommitted(environmentId, key)
    const ids = (shown.environments ?? []).map(({ environmentId }) => environmentId)
    const withoutOwn = ({ changes }: RollbackError) => {
      const isOwn = ({ kind, what, environmentId }: Rollback) =>
        kind === 'layer_missing' && isRemoved(what, environmentId, ids)
      const rest = changes.filter((one) => !isOwn(one))
      if (rest.length > 0) onRollback(new RollbackHere(rest, labelOf(shown, rest), profile))
    }
    const environments = (shown.environments ?? []).map((one) =>
      one.key && committedLabel(one.environmentId) !== undefined ? { ...one, isSigned: true } : one,
    )
    await createKnownState({ ...settings, onRollback: withoutOwn }).check({ ...shown, environments })
    if (ids.length > 0 && !store) noteReturned(ids)
  }
  const memory = createKnownState(settings)
  const rekeyed: KnownState['rekeyed'] = async (environmentId, key) => {
    forgetCommitment(environmentId)
    await memory.rekeyed(environmentId, key)
  }
  return { ...memory, check, rekeyed }
}

/** A rollback error that says how to accept it in this environment alone. */
export class RollbackHere extends RollbackError {
  readonly next: string
  readonly acceptance: string

  /** @param label undefined if the credential alone determines the environment. */
  constructor(changes: readonly Rollback[], label: string | undefined, profile: string | undefined) {
    super(changes)
    this.next = trustHint(label, profile)
    this.acceptance = acceptHere(label, profile)
  }
}

function refuse(error: RollbackError): never {
  throw error
}

/**
 * The label of the requested environment: `shop/production`, `shop/production@pr-7`. Undefined if the command named
 * none.
 */
function labelOf({ meanings, environments = [], query }: Shown, changes: readonly Rollback[]): string | undefined {
  if (meanings?.bound !== undefined) return undefined
  const swapped = changes.find((change) => isSwap(change))?.what
  if (query === undefined && swapped !== undefined) return /[/:]/.test(swapped) ? swapped : undefined
  const labels = environments.map(({ label }) => label)
  return labels.find((label) => label.includes('@')) ?? labels.find((label) => label.includes('/')) ?? labels[0]
}

const told = new Set<string>()

/** Whether this command has warned that the known state cannot be stored. */
export const isMemoryLost = () => told.size > 0

/** Warns once. A command uses the known state several times, and each time it fails for the same reason. */
function tellOnce(message: string): void {
  if (told.has(message)) return
  told.add(message)
  warn(`${message}: check that you own ${join(stateFolder(), 'seen')} and can write to it`)
}
