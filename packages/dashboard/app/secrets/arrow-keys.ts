import type { KeyboardEvent } from 'react'

const steps: Record<string, readonly [rows: number, columns: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}

/** Arrow keys go from value to value. Rows a little out of sight exist already, so the next one is always there. */
export function moveByArrow(event: KeyboardEvent<HTMLElement>): void {
  const step = steps[event.key]
  const cell = (event.target as Element).closest('.matrix-value')?.closest('.matrix-cell')
  const row = cell?.closest<HTMLElement>('.matrix-row')
  if (!step || !cell || !row || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
  const [rows, columns] = step
  const nextRow = event.currentTarget.querySelector(`.matrix-row[data-index="${Number(row.dataset.index) + rows}"]`)
  const next = nextRow && cellsOf(nextRow)[cellsOf(row).indexOf(cell) + columns]
  const target = next?.querySelector<HTMLElement>('button.matrix-value, textarea')
  if (!target) return
  event.preventDefault()
  target.focus()
}

const cellsOf = (row: Element): Element[] => [...row.querySelectorAll('.matrix-cell')]
