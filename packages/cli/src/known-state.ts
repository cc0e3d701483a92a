import { join } from 'node:path'
import type { Cache } from '@skerry/sdk/cache'
import { createKnownState, type KnownState, type KnownStateSettings, type Shown } from '@skerry/sdk/known-state'
import { diskMemory } from '@skerry/sdk/node/disk-memory'
import { isSwap, type Rollback, RollbackError, wordsOf } from '@skerry/sdk/rollback'
import { stateFolder } from './folders.js'
import { trustHint } from './labels.ts'
import { warn } from './output.ts'
import { isRemoved, noteReturned } from './removed-layers.ts'
import type { Settings } from './settings.ts'

/** Another way to look than to refuse and remember: to find out what would be refused, or to accept it. */
export interface Look {
  store?: Cache
  onRollback: (error: RollbackError) => void
}

export const isStrict = () => process.env.SKERRY_STRICT === '1'

export const memoryHere = (): Cache => diskMemory({ directory: join(stateFolder(), 'seen') })

/**
 * What this machine has seen of environments, kept in its state folder. A change that an honest server seldom shows is
 * refused until a person accepts it. The exception is reading with SKERRY_TOKEN: a deployment must not stand still
 * because somebody re-keyed an environment or took a group out of it, so it is warned, unless SKERRY_STRICT=1. That
 * another environment goes by a known name is refused there too.
 */
export function knownStateHere(
  settings: Pick<Settings, 'url' | 'credential'>,
  { type, id }: { type: 'service_token' | 'user'; id: string },
  look?: Look,
): Record<'writing' | 'reading', KnownState> {
  const isDeployment = settings.credential.from === 'environment' && type === 'service_token'
  const writing = openKnownState(settings, id, look && { ...look, strict: true })
  if (look || !isDeployment || isStrict()) return { writing, reading: writing }
  return { writing, reading: openKnownState(settings, id, { onRollback: warnUnlessSwap }) }
}

function warnUnlessSwap(error: RollbackError): void {
  if (error.changes.some(isSwap)) throw error
  warn(`${error.message}: this may be an old answer, or a false one`)
}

/** `knownStateHere` makes every `Look` strict: a person who finds out or accepts what changed is told of everything. */
function openKnownState(
  { url }: Pick<Settings, 'url'>,
  principalId: string,
  { store, onRollback = refuse, strict = isStrict() }: Partial<Look> & { strict?: boolean } = {},
): KnownState {
  const settings: KnownStateSettings = {
    store: store ?? memoryHere(),
    baseUrl: url,
    principalId,
    strict,
    onChanged: (changes) => warn(`${wordsOf(changes)}; if nobody meant that, this answer is false`),
    onGone: (label, names) => store ?? warn(`${label} no longer has ${names.join(', ')}`),
    warn: tellOnce,
  }
  const check: KnownState['check'] = async (shown) => {
    const ids = (shown.environments ?? []).map(({ environmentId }) => environmentId)
    const withoutOwn = ({ changes }: RollbackError) => {
      const isOwn = ({ kind, what, environmentId }: Rollback) =>
        kind === 'layer_missing' && isRemoved(what, environmentId, ids)
      const rest = changes.filter((one) => !isOwn(one))
      if (rest.length > 0) onRollback(new RollbackHere(rest, labelOf(shown, rest)))
    }
    await createKnownState({ ...settings, onRollback: withoutOwn }).check(shown)
    if (ids.length > 0 && !store) noteReturned(ids)
  }
  return { ...createKnownState(settings), check }
}

/** What went back, and how a person accepts it in that environment and no other. */
export class RollbackHere extends RollbackError {
  readonly next: string

  /** @param label none where the credential alone says what is read. */
  constructor(changes: readonly Rollback[], label: string | undefined) {
    super(changes)
    this.next = trustHint(label)
  }
}

function refuse(error: RollbackError): never {
  throw error
}

/** What people call what was asked for: `shop/production`, `shop/production@pr-7`; none where nothing was named. */
function labelOf({ meanings, environments = [], query }: Shown, changes: readonly Rollback[]): string | undefined {
  if (meanings?.bound !== undefined) return undefined
  const swapped = changes.find((change) => isSwap(change))?.what
  if (query === undefined && swapped !== undefined) return /[/:]/.test(swapped) ? swapped : undefined
  const labels = environments.map(({ label }) => label)
  return labels.find((label) => label.includes('@')) ?? labels.find((label) => label.includes('/')) ?? labels[0]
}

const told = new Set<string>()

/** Whether what was seen cannot be kept, and that has been said. */
export const isMemoryLost = () => told.size > 0

/** A command looks several times, and fails each time for the same reason. */
function tellOnce(message: string): void {
  if (told.has(message)) return
  told.add(message)
  warn(`${message}: check that ${join(stateFolder(), 'seen')} is yours and can be written`)
}
