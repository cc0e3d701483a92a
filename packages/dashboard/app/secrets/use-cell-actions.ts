import { useMemo, useRef } from 'react'
import { KeyringError, keyring } from '../keyring.ts'
import { Cancelled } from '../prompts.ts'
import { describeProblem } from '../ui/problem.tsx'
import { showErrorToast, showToast } from '../ui/toast.ts'
import type { CellActions } from './cell-actions.ts'
import type { Column } from './columns.ts'
import type { MatrixDialog } from './matrix-dialog.ts'
import { useEdits } from './use-edits.ts'
import { type Cell, isShown, openCell, useRevealed } from './use-revealed.ts'

/** Returns the actions of cells, with the edits and revealed values that they change. */
export function useCellActions(orgId: string, columns: Column[], openDialog: (dialog: MatrixDialog) => void) {
  const edits = useEdits(orgId, columns)
  const { shown, reveal, hide } = useRevealed(columns)
  const latestShown = useRef(shown)
  latestShown.current = shown
  const { begin, update, save, cancel, compare } = edits
  // biome-ignore lint/correctness/useExhaustiveDependencies: these never change, and rows depend on the result
  const actions = useMemo((): CellActions => {
    return {
      toggle: (columns, name) =>
        attempt(async () => {
          const cells = cellsOf(columns, name)
          if (cells.every((cell) => isShown(latestShown.current, cell)))
            hide(
              columns.map(({ environmentId }) => environmentId),
              [name],
            )
          else await reveal(cells)
        }),
      copy: (column, name) =>
        attempt(async () => {
          const [cell] = cellsOf([column], name)
          if (!cell) return
          const value = await openCell(cell)
          try {
            await navigator.clipboard.writeText(value)
          } catch {
            return showErrorToast(
              `${name} was not copied`,
              'The browser refused to copy it. Reveal the value, and copy it by hand.',
            )
          }
          showToast(`Copied ${name} of ${column.name}.`)
        }),
      edit: (column, name, isInDrawer = false) =>
        attempt(async () => {
          // New secrets need this too: with an unlocked keyring, typed values can be sealed if it locks.
          await keyring.unlock()
          const [cell] = cellsOf([column], name)
          const leadsToDrawer = begin(column, name, cell ? await openOrNull(cell) : null, isInDrawer)
          if (leadsToDrawer && !isInDrawer) openDialog({ kind: 'secret', column, name })
        }),
      open: (column, name) => openDialog({ kind: 'secret', column, name }),
      edited: update,
      save: (column, name) => void save(column, name),
      cancel,
      resolveConflict: (column, name) =>
        attempt(async () => {
          if (await compare(column, name)) openDialog({ kind: 'conflict', column, name })
        }),
    }
  }, [])
  return { actions, edits, shown, reveal: (cells: Cell[]) => attempt(() => reveal(cells)), hide }
}

const cellsOf = (columns: Column[], name: string): Cell[] =>
  columns.flatMap((column) => {
    const entry = column.entries.get(name)
    return entry ? [{ column, entry }] : []
  })

/** Decrypts a value, or returns null if that fails, because such a value can still be replaced. */
async function openOrNull(cell: Cell): Promise<string | null> {
  try {
    return await openCell(cell)
  } catch (error) {
    if (error instanceof KeyringError && error.code !== 'locked') return null
    throw error
  }
}

async function attempt(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof Cancelled) return
    const { title, advice } = describeProblem(error)
    showErrorToast(title, advice ?? '')
  }
}
