import { useCallback, useMemo, useRef, useState } from 'react'
import type { Column } from './columns.ts'

const none: ReadonlySet<string> = new Set()

export interface Selection {
  /** The selected names that the filter shows, in the order of the rows. */
  names: string[]
  has: (name: string) => boolean
  /** Selects or deselects a row; with `isRange`, also all rows between it and the last one that was clicked. */
  select: (name: string, isSelected: boolean, isRange: boolean) => void
  /** Says if all rows of the filter are selected, some of them, or none. */
  state: 'all' | 'some' | 'none'
  /** Selects all rows of the filter, or deselects all rows. */
  selectAll: (isSelected: boolean) => void
}

/** The selected rows of the matrix. Rows that the filter hides keep their mark, but nothing is done to them. */
export function useSelection(rows: string[], columns: Column[]): Selection {
  const [selected, setSelected] = useState(none)
  const shown = useMemo(() => rows.filter((name) => canSelect(name, columns)), [rows, columns])
  const latest = useRef(shown)
  latest.current = shown
  const last = useRef<string | null>(null)
  const select = useCallback((name: string, isSelected: boolean, isRange: boolean) => {
    const ends = [latest.current.indexOf(name), latest.current.indexOf(last.current ?? name)].sort((a, b) => a - b)
    const [from = -1, to = -1] = ends
    const some = isRange && from >= 0 ? latest.current.slice(from, to + 1) : [name]
    last.current = name
    setSelected((before) => changed(before, some, isSelected))
  }, [])
  const selectAll = useCallback(
    (isSelected: boolean) => setSelected((before) => (isSelected ? changed(before, latest.current, true) : none)),
    [],
  )
  const names = useMemo(() => shown.filter((name) => selected.has(name)), [shown, selected])
  const has = useCallback((name: string) => selected.has(name), [selected])
  const state = names.length === 0 ? 'none' : names.length === shown.length ? 'all' : 'some'
  return { names, has, state, select, selectAll }
}

/** A row that is only proposed or being typed has nothing to copy or delete. */
export const canSelect = (name: string, columns: Column[]): boolean => columns.some(({ entries }) => entries.has(name))

function changed(before: ReadonlySet<string>, names: string[], isSelected: boolean): ReadonlySet<string> {
  const after = new Set(before)
  for (const name of names) {
    if (isSelected) after.add(name)
    else after.delete(name)
  }
  return after
}
