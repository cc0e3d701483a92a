import { join } from 'node:path'
import { diskCache } from '@skerry/sdk/node/disk-cache'
import { createSeen, type Seen, type SeenSettings, type ShownEnvironment, WentBackError } from '@skerry/sdk/seen'
import { stateFolder } from './folders.js'
import { trustHint } from './labels.ts'
import { warn } from './output.ts'
import type { Settings } from './settings.ts'
import { isTakenOut, putBack } from './taken-out.ts'

const keepSeconds = 10 * 365 * 86_400
const entriesMax = 10_000

/**
 * What this machine has seen of environments, kept in its state folder. A change that an honest server seldom shows is
 * refused until a person accepts it. The exception is reading with SKERRY_TOKEN: a deployment must not stand still
 * because somebody re-keyed an environment or took a group out of it, so it is warned, unless SKERRY_STRICT=1.
 */
export function seenHere(
  settings: Pick<Settings, 'url' | 'credential'>,
  { type, id }: { type: 'service_token' | 'user'; id: string },
): Record<'writing' | 'reading', Seen> {
  const isDeployment = settings.credential.from === 'environment' && type === 'service_token'
  const lenient = isDeployment && process.env.SKERRY_STRICT !== '1'
  const writing = openSeen(settings, id)
  if (!lenient) return { writing, reading: writing }
  return { writing, reading: openSeen(settings, id, { onWentBack: (error) => warn(describeChange(error)) }) }
}

export function openSeen(
  { url }: Pick<Settings, 'url'>,
  principalId: string,
  { onWentBack = refuse }: Pick<SeenSettings, 'onWentBack'> = {},
): Seen {
  const settings: SeenSettings = {
    store: diskCache({ directory: join(stateFolder(), 'seen'), keepSeconds, entriesMax }),
    baseUrl: url,
    principalId,
    onGone: (label, names) => warn(`${label} no longer has ${names.join(', ')}`),
    warn: tellOnce,
  }
  const check: Seen['check'] = async (environments, layers) => {
    const shown = environments.map(({ environmentId }) => environmentId)
    const withoutOwn = ({ changes }: WentBackError) => {
      const isOwn = ({ kind, what, environmentId }: WentBackError['changes'][number]) =>
        kind === 'layer_missing' && isTakenOut(what, environmentId, shown)
      const rest = changes.filter((one) => !isOwn(one))
      if (rest.length > 0) onWentBack(new WentBackHere(rest, labelOf(environments)))
    }
    await createSeen({ ...settings, onWentBack: withoutOwn }).check(environments, layers)
    putBack(shown)
  }
  return { ...createSeen(settings), check }
}

/** What went back, and how a person accepts it in that environment and no other. */
export class WentBackHere extends WentBackError {
  readonly next: string

  constructor(changes: WentBackError['changes'], label: string) {
    super(changes)
    this.next = trustHint(label)
  }
}

function refuse(error: WentBackError): never {
  throw error
}

/** Of the layers of a query, what people call it: `shop/production`, `shop/production@pr-7`. */
function labelOf(environments: readonly ShownEnvironment[]): string {
  const labels = environments.map(({ label }) => label)
  const branch = labels.find((label) => label.startsWith('branch '))?.replace('branch ', '@')
  return `${labels.find((label) => label.includes('/')) ?? labels[0]}${branch ?? ''}`
}

const told = new Set<string>()

/** A command looks several times, and fails each time for the same reason. */
function tellOnce(message: string): void {
  if (told.has(message)) return
  told.add(message)
  warn(`${message}: check that ${join(stateFolder(), 'seen')} is yours and can be written`)
}

const describeChange = (error: WentBackError) => `${error.message}: this may be an old answer, or a false one`
