import type { Memory } from './known-state-memory.ts'
import type { Rollback } from './rollback.ts'

// The server decides which environment a name stands for, and to which environment a token is bound. This module
// detects changes.

/** An environment and its name. */
export interface NamedEnvironment {
  orgId: string
  /**
   * For example `shop/production`, the branch `shop/production@pr-7`, or the environment `shared:production` of a
   * group.
   */
  name: string
  environmentId: string
}

/** The ids that belong to names, according to a response of the server. */
export interface Meanings {
  /** Environments with their names. */
  environments?: readonly NamedEnvironment[]
  /** The id of the environment to which the credential is bound. Leave it out if the credential is not bound. */
  bound?: string
  /** An organization. `name` is the requested name, or empty if the credential alone determines the organization. */
  organization?: { name: string; id: string }
}

/** The values to remember, each with its key in the store. */
export type Entries = [place: string, value: unknown][]

/** Builds the entries for an environment. If this client created it, they are stored without a comparison. */
export async function entriesOf(memory: Memory, { orgId, name, environmentId }: NamedEnvironment): Promise<Entries> {
  const byName = await memory.place(orgId, 'name', name)
  // Slugs never change. So if a known id has another name, the server has swapped environments.
  const byId = await memory.place(orgId, 'called', environmentId)
  return [
    [byName, environmentId],
    [byId, name],
  ]
}

/** Returns the entries to remember. Names that stand for something else than before are added to `found`. */
export async function compareMeanings(
  memory: Memory,
  { environments = [], bound, organization }: Meanings,
  found: Rollback[],
): Promise<Entries> {
  const entries: Entries = []
  for (const one of environments) {
    const { name: what, environmentId } = one
    const own = await entriesOf(memory, one)
    const [meant, was] = await Promise.all(own.map(([place]) => memory.read<string>(place)))
    if (was !== undefined && was !== what) found.push({ kind: 'environment_renamed', environmentId, what, was })
    else if (meant !== undefined && meant !== environmentId) {
      found.push({ kind: 'environment_replaced', environmentId, what })
    }
    if (meant !== environmentId || was !== what) entries.push(...own)
  }
  if (bound !== undefined) {
    const place = await memory.ownPlace('bound', '')
    const known = await memory.read<string>(place)
    if (known !== undefined && known !== bound) {
      found.push({ kind: 'binding_changed', environmentId: bound, what: 'the token’s environment' })
    }
    if (known !== bound) entries.push([place, bound])
  }
  if (organization) {
    const { name, id } = organization
    const place = await memory.ownPlace('organization', name)
    const known = await memory.read<string>(place)
    const what = name === '' ? 'this credential' : name
    if (known !== undefined && known !== id) found.push({ kind: 'organization_replaced', environmentId: '', what })
    if (known !== id) entries.push([place, id])
  }
  return entries
}
