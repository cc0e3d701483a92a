import type { SyncFacts, SyncSession } from '@skerry/providers/sync/provider'
import type { Context } from '../../kernel/context.ts'
import { type State, totalProblem, wantedOf } from './decide.ts'
import { listForeignOwners, listLedger } from './ledger-store.ts'
import type { Binding } from './scope.ts'
import { Unreadable } from './values.ts'

/**
 * What a value or a revision is known by in the ledger: keyed, and bound to its name, so that equal values do not show. A
 * value’s is bound to the rules it was written under as well: when hosts or visibility change, it is no longer the same.
 */
export function digestsOf({ serverKey }: Context, { orgId, id }: Binding, { rules }: Pick<SyncFacts, 'rules'>) {
  if (serverKey === null) throw new Error('who has opened an environment has a server key')
  const textOf = (...texts: readonly string[]) => JSON.stringify([orgId, id, ...texts])
  const ruled = rules === undefined ? [] : [rules]
  const isOne = (digest: string | null, text: string) =>
    digest !== null && serverKey.macs('sync-value', text).includes(digest)
  return {
    ofValue: (name: string, value: string): string => serverKey.mac('sync-value', textOf(name, value, ...ruled)),
    ofRevision: (name: string, revision: string): string => serverKey.mac('sync-value', textOf(name, revision)),
    isValue: (digest: string | null, name: string, value: string): boolean =>
      isOne(digest, textOf(name, value, ...ruled)),
    isRevision: (digest: string | null, name: string, revision: string): boolean =>
      isOne(digest, textOf(name, revision)),
  }
}

/** Everything that decides what a run does. Asks the destination for its names, once. */
export async function stateOf(
  context: Context,
  {
    binding,
    session,
    facts,
    resolved,
    adopt,
  }: {
    binding: Binding
    session: SyncSession
    facts: SyncFacts
    resolved: Parameters<typeof wantedOf>[0]
    /** Names that may be overwritten although somebody else wrote them. */
    adopt: readonly string[]
  },
): Promise<State> {
  const wanted = wantedOf(resolved, binding, facts.limits)
  const problem = totalProblem(wanted, facts.limits)
  if (problem !== null) throw new Unreadable(problem)
  const entries = await session.list()
  const { db } = context
  const [ledger, elsewhere] = await Promise.all([
    listLedger(db, binding.orgId, binding.id),
    listForeignOwners(db, binding.orgId, binding),
  ])
  const adopted = new Set(adopt)
  const { isValue, isRevision } = digestsOf(context, binding, facts)
  return {
    wanted,
    entries: new Map(entries.map((entry) => [entry.name, entry])),
    ledger: new Map(ledger.map((row) => [row.name, row])),
    elsewhere: new Map(elsewhere.map(({ name, bindingId }) => [name, bindingId])),
    adopts: (name) => binding.adopt || adopted.has(name),
    onDelete: binding.onDelete,
    isValue,
    isRevision,
  }
}
