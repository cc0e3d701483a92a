import { swappedPrompt } from '../prompts.ts'
import { knowsDirectories } from '../trust/known.ts'

// The server decides which environment a name belongs to. This browser remembers the environment that it first saw
// under each name. If the name now belongs to another one, the browser asks before it seals anything for that
// environment, copies its values or wraps its key.

const storageName = 'skerry-known-names'

/** The environment's ID, by organization and name. */
type Meanings = Record<string, string>

interface Named {
  orgId: string
  /** The name on the page: `Web shop / Production`. */
  name: string
  environmentId: string
}

/**
 * All names under which this page has shown an environment, by its ID. A server that shows it under one more name must not
 * hide the others.
 */
const shown = new Map<string, Map<string, Named>>()

/** The owner of a branch's name, because names are unique only among the branches of one parent. */
export const branchesOf = (parentId: string | null): string => `branches of ${parentId}`

const keyOf = ({ orgId, name }: Named) => `${orgId} ${name}`

function addShown(named: Named): void {
  const names = shown.get(named.environmentId) ?? new Map<string, Named>()
  shown.set(named.environmentId, names.set(keyOf(named), named))
}

function readMeanings(): Meanings {
  try {
    const meanings: unknown = JSON.parse(localStorage.getItem(storageName) ?? '{}')
    return typeof meanings === 'object' && meanings !== null ? (meanings as Meanings) : {}
  } catch {
    return {}
  }
}

const writeMeanings = (meanings: Meanings) => localStorage.setItem(storageName, JSON.stringify(meanings))

/** Records the names under which the page shows environments. Only the first environment of a name is remembered. */
export function noteShown(orgId: string, owner: string, environments: readonly { id: string; name: string }[]): void {
  const meanings = readMeanings()
  const before = Object.keys(meanings).length
  for (const { id, name } of environments) {
    const named = { orgId, name: `${owner} / ${name}`, environmentId: id }
    addShown(named)
    meanings[keyOf(named)] ??= id
  }
  if (Object.keys(meanings).length > before) writeMeanings(meanings)
}

/**
 * Records that a name belongs to an environment from now on, because this person created the environment or confirmed
 * the change.
 */
export function noteMade(orgId: string, owner: string, { id, name }: { id: string; name: string }): void {
  const named = { orgId, name: `${owner} / ${name}`, environmentId: id }
  addShown(named)
  writeMeanings({ ...readMeanings(), [keyOf(named)]: id })
}

/** The name that the dialog asks about. */
let asked = ''
export const swappedName = (): string => asked

/**
 * Asks the person about each environment whose name belonged to another one before. Call it before you seal anything
 * for these environments, copy their values elsewhere or wrap their keys. If this browser knows the signed directory, an
 * environment must have an entry, and the keyring's worker then uses its signed key alone.
 *
 * @throws Cancelled if the person declines, KeyringError `directory_…`. Then do nothing for any of them.
 */
export async function checkMeanings(environmentIds: readonly string[]): Promise<void> {
  const all = environmentIds.flatMap((id) => [...(shown.get(id)?.values() ?? [])])
  for (const named of all) {
    if ((readMeanings()[keyOf(named)] ?? named.environmentId) === named.environmentId) continue
    asked = named.name
    await swappedPrompt.ask()
    writeMeanings({ ...readMeanings(), [keyOf(named)]: named.environmentId })
  }
  if (!knowsDirectories()) return
  const { requireSignedKeys } = await import('../trust/verify.ts')
  await requireSignedKeys(environmentIds.map((id) => ({ id, orgId: shown.get(id)?.values().next().value?.orgId })))
}
