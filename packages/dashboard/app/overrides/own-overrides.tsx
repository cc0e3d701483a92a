import { type UseQueryResult, useQueries } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { createContext, type ReactNode, useContext, useEffect, useMemo } from 'react'
import { keyring, usePlaintext, useUnlocked } from '../keyring.ts'
import type { Column } from '../secrets/columns.ts'
import { type OverrideRow, overridesQuery } from './queries.ts'

/** An override of the signed-in person. Its value stays in the keyring's worker until it is revealed. */
export interface OwnOverride {
  row: OverrideRow
  revision: number
}

/** The person's overrides in one environment. */
export interface OwnOverrides {
  /** All rows, also those that do not open. Undefined while they load. */
  rows: OverrideRow[] | undefined
  /** The opened overrides by name. Empty while the keyring is locked. */
  byName: ReadonlyMap<string, OwnOverride>
}

const Context = createContext<ReadonlyMap<string, OwnOverrides>>(new Map())

/** The overrides in an environment; undefined where the person can have none: in a branch, a group, or without the key. */
export const useOwnOverrides = (environmentId: string): OwnOverrides | undefined =>
  useContext(Context).get(environmentId)

type ByEnvironment = ReadonlyMap<string, ReadonlyMap<string, OwnOverride>>

const nothing: ByEnvironment = new Map()
const noNames: ReadonlyMap<string, OwnOverride> = new Map()
const dataOf = (results: UseQueryResult<OverrideRow[]>[]) => results.map(({ data }) => data)

/** Provides the person's overrides in the environments of an application, while the keyring is unlocked. */
export function OwnOverridesOf({ columns, children }: { columns: Column[]; children: ReactNode }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const userId = me.user?.id ?? ''
  const unlocked = useUnlocked()
  const ids = columns.filter(({ own, isBranch }) => own !== null && !isBranch).map(({ environmentId }) => environmentId)
  const rows = useQueries({
    queries: ids.map((id) => ({ ...overridesQuery(org.id, id), enabled: unlocked })),
    combine: dataOf,
  })
  const [opened, setOpened] = usePlaintext(nothing)
  const key = ids.join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` says all of ids
  useEffect(() => {
    if (!unlocked) return
    let isWanted = true
    const place = { orgId: org.id, userId }
    const all = ids.map(async (id, i) => [id, await nameRows(rows[i] ?? [], { ...place, environmentId: id })] as const)
    // Locking the keyring ends the worker before it answers.
    void Promise.all(all).then(
      (named) => isWanted && setOpened(new Map(named)),
      () => {},
    )
    return () => {
      isWanted = false
    }
  }, [unlocked, rows, key, org.id, userId, setOpened])
  // The cells of the matrix read this, so it is another object only if something changed.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` says all of ids
  const own = useMemo(
    () => new Map(ids.map((id, i) => [id, { rows: rows[i], byName: opened.get(id) ?? noNames }])),
    [key, rows, opened],
  )
  return <Context.Provider value={own}>{children}</Context.Provider>
}

async function nameRows(rows: OverrideRow[], place: { orgId: string; environmentId: string; userId: string }) {
  const byName = new Map<string, OwnOverride>()
  if (rows.length === 0) return byName
  const sealed = rows.map(({ wrappedKey, ciphertext }) => ({ wrappedKey, ciphertext }))
  const named = await keyring.call('nameOverrides', { place, sealed })
  for (const [i, row] of rows.entries()) {
    const one = named[i]
    if (one && one.revision > (byName.get(one.name)?.revision ?? 0))
      byName.set(one.name, { row, revision: one.revision })
  }
  return byName
}

/** Marks a cell whose value the person has replaced for themselves. */
export function OwnMark({ column, name }: { column: Column; name: string }) {
  if (!useOwnOverrides(column.environmentId)?.byName.has(name)) return null
  return (
    <span className="matrix-tag" title="You stored another value for yourself alone. Nobody else sees this mark.">
      yours differs
    </span>
  )
}
