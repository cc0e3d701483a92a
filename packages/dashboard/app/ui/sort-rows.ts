import type { ListColumn } from './list-row.tsx'

/** The column by which a person sorts a list, and the direction. */
export interface Sorting {
  header: string
  order: 'ascending' | 'descending'
}

/** Returns the sorting after a click on a column: ascending, then descending, then as the server sent the rows. */
export function nextSorting(current: Sorting | null, header: string): Sorting | null {
  if (current?.header !== header) return { header, order: 'ascending' }
  return current.order === 'ascending' ? { header, order: 'descending' } : null
}

/** Sorts texts alphabetically (English, ignoring case), numbers by size, and empty values last. */
export function sortRows<R>(rows: R[], columns: ListColumn<R>[], sorting: Sorting | null): R[] {
  const read = columns.find(({ header }) => header === sorting?.header)?.sort
  if (!read || !sorting) return rows
  const sign = sorting.order === 'ascending' ? 1 : -1
  return rows
    .map((row) => ({ row, value: read(row) }))
    .sort((one, other) => compare(one.value, other.value, sign))
    .map(({ row }) => row)
}

type Value = string | number | null

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

function compare(one: Value, other: Value, sign: number): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  if (typeof one === 'number' && typeof other === 'number') return sign * (one - other)
  return sign * collator.compare(String(one), String(other))
}
