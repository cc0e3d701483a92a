import { useMemo, useRef } from 'react'
import { useUnlocked } from '../keyring.ts'
import { type Column, isMissing } from './columns.ts'
import type { Filter } from './filters.ts'
import { rowState, type ValueIds } from './value-ids.ts'

interface Compared {
  columns: Column[]
  valueIds: ValueIds
  version: number
}

/** Returns the names that contain the text of the search, or whose value does. */
export function useSearched(all: string[], search: string, matches: ReadonlySet<string>): string[] {
  return useMemo(() => {
    const wanted = search.trim().toLowerCase()
    return wanted === '' ? all : all.filter((name) => name.toLowerCase().includes(wanted) || matches.has(name))
  }, [all, search, matches])
}

/** Returns the names that pass the filter. */
export function useFiltered(names: string[], filter: Filter, { columns, valueIds, version }: Compared): string[] {
  // biome-ignore lint/correctness/useExhaustiveDependencies: valueIds are read as of `version`
  return useMemo(
    () => (filter === 'all' ? names : names.filter((name) => passes(filter, rowState(name, columns, valueIds)))),
    [names, filter, columns, filter === 'all' ? 0 : version],
  )
}

/** How many names pass each filter. A filter that compares values has no count until all values are compared. */
export type FilterCounts = Partial<Record<Filter, number>>

const comparing = ['different', 'same', 'production', 'broken'] as const

export function useFilterCounts(
  names: string[],
  { columns, valueIds, version, isComplete }: Compared & { isComplete: boolean },
): FilterCounts {
  const unlocked = useUnlocked()
  const plain = useMemo(
    () => ({ all: names.length, missing: names.filter((name) => columns.some((one) => isMissing(one, name))).length }),
    [names, columns],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: valueIds are read as of `version`
  const compared = useMemo(
    () => (isComplete ? countCompared(names.map((name) => rowState(name, columns, valueIds))) : null),
    [names, columns, isComplete, isComplete ? version : 0],
  )
  // After an edit, the counts stay until the new value is compared.
  const last = useRef(compared)
  if (compared) last.current = compared
  return { ...plain, ...(unlocked ? last.current : null) }
}

const countCompared = (states: RowState[]): FilterCounts =>
  Object.fromEntries(comparing.map((filter) => [filter, states.filter((state) => passes(filter, state)).length]))

type RowState = ReturnType<typeof rowState>

function passes(filter: Filter, { kind, missing, tampered, productionLetter }: RowState): boolean {
  if (filter === 'missing') return missing > 0
  if (filter === 'broken') return tampered
  // The mark in the row has the same rule: one value alone is not the same as anything.
  if (filter === 'same' && missing > 0) return false
  if (filter === 'production') return productionLetter !== null
  return kind === filter
}
