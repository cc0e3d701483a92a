import { useCallback, useEffect, useRef } from 'react'
import { keyring, usePlaintext } from '../keyring.ts'
import { type Column, type Entry, sealedPart } from './columns.ts'

/** The result of decrypting a ciphertext. It is shown only while the cell still has that ciphertext. */
export type Shown = { ciphertext: string } & ({ value: string } | { problem: string })
/** The decrypted values of one row, by environment ID. */
export type RowShown = Readonly<Record<string, Shown>>
export type AllShown = ReadonlyMap<string, RowShown>

const none: AllShown = new Map()
const pieceSize = 500

export interface Cell {
  column: Column
  entry: Entry
}

/** The values that the person revealed. If a newer version replaces a value, the new one is revealed too. */
export function useRevealed(columns: Column[]) {
  const [shown, setShown] = usePlaintext<AllShown>(none)
  const latest = useRef(shown)
  latest.current = shown

  useEffect(() => {
    const replaced = replacedCells(latest.current, columns)
    if (replaced.length === 0) return
    // If a value cannot be decrypted, its cell says so. If the keyring has locked, this must not open the unlock
    // prompt.
    const opened = openCells(replaced).catch(() => [])
    // Values hidden meanwhile stay hidden.
    void opened.then((cells) =>
      setShown((before) =>
        withShown(
          before,
          cells.filter(({ cell }) => shownIn(before, cell)),
        ),
      ),
    )
  }, [columns, setShown])

  const reveal = useCallback(
    async (cells: Cell[]) => {
      for (let from = 0; from < cells.length; from += pieceSize) {
        const opened = await openCells(cells.slice(from, from + pieceSize))
        setShown((before) => withShown(before, opened))
      }
    },
    [setShown],
  )

  const hide = useCallback(
    (environmentIds: string[], names: Iterable<string>) =>
      setShown((before) => {
        const after = new Map(before)
        for (const name of names) {
          const kept = Object.entries(after.get(name) ?? {}).filter(([id]) => !environmentIds.includes(id))
          if (kept.length > 0) after.set(name, Object.fromEntries(kept))
          else after.delete(name)
        }
        return after
      }),
    [setShown],
  )
  return { shown, reveal, hide }
}

const shownIn = (shown: AllShown, { column, entry }: Cell) => shown.get(entry.secret.name)?.[column.environmentId]

export const isShown = (shown: AllShown, cell: Cell): boolean =>
  shownIn(shown, cell)?.ciphertext === cell.entry.secret.ciphertext

function withShown(before: AllShown, opened: { cell: Cell; shown: Shown }[]): AllShown {
  if (opened.length === 0) return before
  const after = new Map(before)
  for (const { cell, shown } of opened) {
    const { name } = cell.entry.secret
    after.set(name, { ...after.get(name), [cell.column.environmentId]: shown })
  }
  return after
}

/** Returns cells whose ciphertext differs from the revealed one. */
const replacedCells = (shown: AllShown, columns: Column[]): Cell[] =>
  columns.flatMap((column) =>
    [...shown].flatMap(([name, row]) => {
      const entry = column.entries.get(name)
      const was = row[column.environmentId]
      return entry && was && was.ciphertext !== entry.secret.ciphertext ? [{ column, entry }] : []
    }),
  )

/** Decrypts the cells' values. A failure is reported for its cell and does not affect the others. */
export async function openCells(cells: Cell[]): Promise<{ cell: Cell; shown: Shown }[]> {
  const byLayer = Map.groupBy(cells, ({ entry }) => entry.layer)
  const layers = [...byLayer].map(async ([layer, of]) => {
    const opened = await keyring.call(
      'openEach',
      sealedPart(
        layer,
        of.map(({ entry }) => entry.secret),
      ),
    )
    return of.map((cell, i) => ({ cell, shown: { ciphertext: cell.entry.secret.ciphertext, ...opened[i]! } }))
  })
  return (await Promise.all(layers)).flat()
}

/** Decrypts one value, or throws. */
export async function openCell(cell: Cell): Promise<string> {
  const { layer, secret } = cell.entry
  const { name, ciphertext } = secret
  const { wrappedDek, environmentId } = layer
  return keyring.call('openSecret', { wrappedDek, environmentId, name, ciphertext })
}
