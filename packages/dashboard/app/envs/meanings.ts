import { swappedPrompt } from '../prompts.ts'

// Which environment a name means is the server's word. This browser remembers what each name meant when it was first shown,
// and asks before something is sealed for another environment under that name, or another's key is wrapped to somebody.

const storageName = 'skerry-known-names'

/** By organization and name, an environment's id. */
type Meanings = Record<string, string>

interface Named {
  orgId: string
  /** As people see it: `Web shop / Production`. */
  name: string
  environmentId: string
}

/** What this page has shown, by environment. */
const shown = new Map<string, Named>()

/** A branch's name counts beside those of its parent. */
export const branchesOf = (parentId: string | null): string => `branches of ${parentId}`

const keyOf = ({ orgId, name }: Named) => `${orgId} ${name}`

function readMeanings(): Meanings {
  try {
    const meanings: unknown = JSON.parse(localStorage.getItem(storageName) ?? '{}')
    return typeof meanings === 'object' && meanings !== null ? (meanings as Meanings) : {}
  } catch {
    return {}
  }
}

const writeMeanings = (meanings: Meanings) => localStorage.setItem(storageName, JSON.stringify(meanings))

/** Takes note of environments under the names that the page shows them with. A name's first meaning is remembered. */
export function noteShown(orgId: string, owner: string, environments: readonly { id: string; name: string }[]): void {
  const meanings = readMeanings()
  const before = Object.keys(meanings).length
  for (const { id, name } of environments) {
    const named = { orgId, name: `${owner} / ${name}`, environmentId: id }
    shown.set(id, named)
    meanings[keyOf(named)] ??= id
  }
  if (Object.keys(meanings).length > before) writeMeanings(meanings)
}

/** This person has made this environment, or says that somebody meant it: its name means it from now on. */
export function noteMade(orgId: string, owner: string, { id, name }: { id: string; name: string }): void {
  const named = { orgId, name: `${owner} / ${name}`, environmentId: id }
  shown.set(id, named)
  writeMeanings({ ...readMeanings(), [keyOf(named)]: id })
}

/** The name whose meaning is asked about. */
let asked = ''
export const swappedName = (): string => asked

/**
 * To be called before something is sealed for these environments or their keys are wrapped: asks the person about each whose
 * name meant another one before.
 *
 * @throws Cancelled, and then nothing of it is to be done.
 */
export async function checkMeanings(environmentIds: readonly string[]): Promise<void> {
  for (const id of environmentIds) {
    const named = shown.get(id)
    if (!named || (readMeanings()[keyOf(named)] ?? id) === id) continue
    asked = named.name
    await swappedPrompt.ask()
    writeMeanings({ ...readMeanings(), [keyOf(named)]: id })
  }
}
