import type { NameRule, SyncEntry, SyncFacts, SyncSession } from '@skerry/providers/sync/provider'
import type { Sql } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { sha256 } from '../../kernel/context.ts'
import { syncOf } from '../../keys/keypairs.ts'
import { openResolved, type Resolved, type SealedLayer, UnopenedLayer } from '../../keys/resolved.ts'
import { layersFor, type ReaderLayer } from '../resolve/layers.ts'
import { type LedgerRow, listForeignOwners, listLedger } from './ledger-store.ts'
import { nameKey } from './names.ts'
import { type State, totalProblem, type Wanted, wantedOf } from './plan.ts'
import type { Binding } from './scope.ts'

// A plan follows from three things: the values of the environment, the entries at the destination and the ledger.

/** Why an environment cannot be read for a binding. Only a change helps, so there is no automatic retry. */
export class Unreadable extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'Unreadable'
  }
}

const layersOf = (db: Sql, { orgId, connectionId, environmentId }: Binding, now: string) =>
  layersFor(db, { type: 'sync_connection', id: connectionId, orgId }, environmentId, now)

/**
 * Returns a digest of what a binding would push, without decrypting anything. An unchanged digest means that there is
 * nothing to push.
 */
export async function digestNow(db: Sql, binding: Binding, now: string): Promise<string> {
  const layers = await layersOf(db, binding, now)
  const parts = layers.map(({ environmentId, wrappedDek, secrets }) => [environmentId, wrappedDek, secrets])
  return sha256(JSON.stringify([binding.revision, ...parts]))
}

/** Reads an environment as `skerry run` would, and decrypts it. The values are kept for one run only. */
export async function readValues(context: Context, binding: Binding, now: string): Promise<Resolved> {
  const layers = await layersOf(context.db, binding, now)
  if (layers.length === 0) throw new Unreadable('The environment is gone, or its time is up.')
  const sealed = layers.map(sealedLayer)
  const owner = syncOf(binding.orgId, binding.connectionId)
  return openResolved(context.keypairs, context.db, owner, sealed).catch((error: unknown) => {
    throw error instanceof UnopenedLayer ? new Unreadable(`Of its layers, ${error.message}.`) : error
  })
}

function sealedLayer({ source, environmentId, slug, groupSlug, wrappedDek, secrets }: ReaderLayer): SealedLayer {
  const place = groupSlug === null ? slug : `${groupSlug}:${slug}`
  if (wrappedDek === null)
    throw new Unreadable(`The connection has no key to ${place}: PATCH the binding with its wrappedDeks.`)
  return { source, environmentId, slug: place, wrappedDek, secrets: JSON.parse(secrets ?? '[]') }
}

/**
 * Digests that identify a value or a revision in the ledger. They are keyed and bound to the name, so that equal values
 * do not show. The digest of a value also covers the rules that it was written under, so it differs when hosts or
 * visibility change.
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

/** Collects everything that a plan depends on. Lists the names at the destination once. */
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
  const given = wantedOf(resolved, binding, facts.limits)
  const problem = totalProblem(given, facts.limits)
  if (problem !== null) throw new Unreadable(problem)
  const entries = await session.list()
  const { db } = context
  const [ledger, elsewhere] = await Promise.all([
    listLedger(db, binding.orgId, binding.id),
    listForeignOwners(db, binding.orgId, binding),
  ])
  const spell = spelling(facts.limits.name, [...ledger.map(({ name }) => name), ...given.values.keys()])
  const wanted = { ...given, values: new Map([...given.values].map(([name, value]) => [spell(name), value])) }
  const rows = new Map(ledger.map((row) => [row.name, row]))
  const listed = new Map(entries.map((entry) => [spell(entry.name), entry]))
  const adopted = new Set(adopt.map(spell))
  const { isValue, isRevision } = digestsOf(context, binding, facts)
  return {
    wanted,
    entries: await lookCloser(session, listed, namesToLookAt(wanted, listed, rows, binding.onDelete)),
    ledger: rows,
    elsewhere: new Map(elsewhere.map(({ name, bindingId }) => [spell(name), bindingId])),
    adopts: (name) => binding.adopt || adopted.has(name),
    onDelete: binding.onDelete,
    isValue,
    isRevision,
  }
}

/** If a destination ignores case, a name keeps its first spelling. */
function spelling(rule: NameRule, names: readonly string[]): (name: string) => string {
  const byKey = new Map<string, string>()
  for (const name of names) {
    const key = nameKey(name, rule)
    if (!byKey.has(key)) byKey.set(key, name)
  }
  return (name) => byKey.get(nameKey(name, rule)) ?? name
}

/**
 * Names of this binding that are to be removed, or that the list does not show as existing. They need a closer look.
 */
function namesToLookAt(
  { values, refused }: Wanted,
  listed: ReadonlyMap<string, SyncEntry>,
  rows: ReadonlyMap<string, LedgerRow>,
  onDelete: Binding['onDelete'],
): string[] {
  const kept = new Set([...values.keys(), ...refused.map(({ name }) => name)])
  return [...rows.keys()].filter((name) => {
    const entry = listed.get(name)
    return kept.has(name) ? !entry || entry.deleted === true : onDelete === 'delete'
  })
}

/** Returns the list, with more details of some names if the destination offers them. */
async function lookCloser(
  { look }: SyncSession,
  listed: ReadonlyMap<string, SyncEntry>,
  names: readonly string[],
): Promise<Map<string, SyncEntry>> {
  const entries = new Map(listed)
  if (look === undefined) return entries
  for (const name of names) {
    const entry = await look(name)
    if (entry === null) entries.delete(name)
    else entries.set(name, { ...listed.get(name), ...entry })
  }
  return entries
}
