import type { KeyboardEvent } from 'react'

const steps: Record<string, readonly [rows: number, columns: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}

/** Moves the focus from value to value with the arrow keys. */
export function moveByArrow(event: KeyboardEvent<HTMLElement>): void {
  const step = steps[event.key]
  const cell = (event.target as Element).closest('.matrix-value')?.closest('.matrix-cell')
  const row = cell?.closest<HTMLElement>('.matrix-row')
  if (!step || !cell || !row || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
  const [rows, columns] = step
  const nextRow = rowAt(event.currentTarget, Number(row.dataset.index) + rows)
  const next = nextRow && cellsOf(nextRow)[cellsOf(row).indexOf(cell) + columns]
  const target = next?.querySelector<HTMLElement>('button.matrix-value, textarea')
  if (!target) return
  event.preventDefault()
  target.focus()
}

/**
 * Returns the row at this index. A few rows out of sight are already rendered. Fast key presses can go beyond them,
 * because a browser fires scroll events only once a frame. So this fires one itself, and the missing rows are rendered.
 */
function rowAt(table: Element, index: number): Element | null {
  const find = () => table.querySelector(`.matrix-row[data-index="${index}"]`)
  const found = find()
  if (found) return found
  table.dispatchEvent(new Event('scroll'))
  return find()
}

const cellsOf = (row: Element): Element[] => [...row.querySelectorAll('.matrix-cell')]
