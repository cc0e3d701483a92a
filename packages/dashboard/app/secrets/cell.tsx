// biome-ignore-all lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see matrix.tsx

import { memo, useState } from 'react'
import { IconCopy, IconEllipsis, IconEye, IconEyeOff, IconPencil } from '../ui/icons.ts'
import type { Column, Entry } from './columns.ts'
import type { Doings } from './doings.ts'
import { CellEditor } from './editor.tsx'
import { type Marks, rowState } from './marks.ts'
import type { RowDrafts } from './use-edits.ts'
import type { RowShown } from './use-revealed.ts'

interface RowProps {
  name: string
  columns: Column[]
  marks: Marks
  /** Changes when what is known of the row does. */
  state: string
  shown: RowShown | undefined
  drafts: RowDrafts | undefined
  doings: Doings
}

/** Without the components of the toolkit: hundreds of cells are made while one scrolls. */
export const Row = memo(function Row({ name, columns, marks, shown, drafts, doings }: RowProps) {
  // Its tools are made when it is pointed at or gets the focus: most rows are only scrolled past.
  const [touched, setTouched] = useState(false)
  const touch = touched ? {} : { onPointerEnter: () => setTouched(true), onFocus: () => setTouched(true) }
  const state = rowState(name, columns, marks)
  const allShown = columns.every(({ entries, environmentId }) => {
    const entry = entries.get(name)
    return !entry || isShown(entry, shown?.[environmentId])
  })
  return (
    <>
      <div role="rowheader" className="matrix-name" {...touch}>
        <span className="mono" title={name}>
          {name}
        </span>
        {columns.length > 1 && <RowTag {...state} />}
        {touched && (
          <span className="matrix-tools">
            <Tool
              label={`${allShown ? 'Hide' : 'Reveal'} ${name} everywhere`}
              onClick={() => doings.toggle(columns, name)}
            >
              {allShown ? <IconEyeOff size={15} /> : <IconEye size={15} />}
            </Tool>
          </span>
        )}
      </div>
      {columns.map((column, i) => (
        <div role="cell" className="matrix-cell" key={column.environmentId} {...touch}>
          {drafts?.[column.environmentId] ? (
            <CellEditor column={column} name={name} draft={drafts[column.environmentId]!} doings={doings} />
          ) : (
            <Cell
              column={column}
              name={name}
              letter={state.kind === 'different' ? state.letters[i]! : null}
              marks={marks}
              shown={shown?.[column.environmentId]}
              doings={doings}
              touched={touched}
            />
          )}
        </div>
      ))}
    </>
  )
})

const isShown = (entry: Entry, shown: RowShown[string] | undefined) => shown?.ciphertext === entry.secret.ciphertext

function RowTag({ kind, missing, tampered }: ReturnType<typeof rowState>) {
  if (tampered) return <span className="matrix-tag matrix-broken">does not open</span>
  if (missing > 0) return <span className="matrix-tag matrix-missing">{missing} missing</span>
  if (kind === 'same') return <span className="matrix-tag">same</span>
  return null
}

interface CellProps {
  column: Column
  name: string
  letter: string | null
  marks: Marks
  shown: RowShown[string] | undefined
  doings: Doings
  touched: boolean
}

function Cell({ column, name, letter, marks, shown, doings, touched }: CellProps) {
  const entry = column.entries.get(name)
  const where = `${name} in ${column.name}`
  const isQueued = column.queued.has(name)
  if (!entry) return <Missing column={column} name={name} where={where} isQueued={isQueued} doings={doings} />
  const broken = marks.of(entry.layer, entry.secret) === -1 || (isShown(entry, shown) && 'problem' in shown!)
  return (
    <>
      {broken ? (
        <button
          type="button"
          className="matrix-value matrix-broken"
          onClick={() => doings.open(column, name)}
          title={brokenMeans}
        >
          does not open
        </button>
      ) : (
        <Value entry={entry} where={where} shown={shown} onClick={() => doings.toggle([column], name)} />
      )}
      {isQueued && <span className="matrix-tag">queued</span>}
      {!entry.own && (
        <span className="matrix-tag" title={`from ${entry.layer.label}`}>
          ↳ {entry.layer.label}
        </span>
      )}
      {letter && (
        <span className="matrix-letter" data-letter={letter} title="Equal letters stand for equal values">
          {letter}
        </span>
      )}
      {touched && (
        <span className="matrix-tools">
          {!broken && (
            <Tool label={`Copy ${where}`} onClick={() => doings.copy(column, name)}>
              <IconCopy size={15} />
            </Tool>
          )}
          {column.own && (
            <Tool label={`${entry.own ? 'Edit' : 'Override'} ${where}`} onClick={() => doings.edit(column, name)}>
              <IconPencil size={15} />
            </Tool>
          )}
          <Tool label={`Details of ${where}`} onClick={() => doings.open(column, name)}>
            <IconEllipsis size={15} />
          </Tool>
        </span>
      )}
    </>
  )
}

export const brokenMeans =
  'It was altered, moved here from elsewhere, or sealed under another key. Do not trust it; restore an earlier version or set it anew.'

function Value(props: { entry: Entry; where: string; shown: RowShown[string] | undefined; onClick: () => void }) {
  const { entry, where, shown, onClick } = props
  const value = isShown(entry, shown) && shown && 'value' in shown ? firstLines(shown.value) : null
  // A label stands in for what is in the button, so it says a shown value as well.
  return (
    <button
      type="button"
      className={`matrix-value mono ${value === null ? 'matrix-masked' : 'matrix-shown'}`}
      aria-label={value === null ? `Reveal ${where}` : `Hide ${where}: ${value === '' ? 'empty' : firstLines(value)}`}
      aria-pressed={value !== null}
      onClick={onClick}
    >
      {value === null ? '••••••••' : value === '' ? <span className="matrix-quiet">empty</span> : value}
    </button>
  )
}

/** One line is what a cell has room for; the drawer has all of it. */
function firstLines(value: string): string {
  const end = value.indexOf('\n')
  const line = end < 0 ? value : `${value.slice(0, end)} ↵`
  return line.length > 400 ? `${line.slice(0, 400)}…` : line
}

function Missing(props: { column: Column; name: string; where: string; isQueued: boolean; doings: Doings }) {
  const { column, name, where, isQueued, doings } = props
  if (column.loading) return <span className="matrix-value matrix-quiet">{column.error ? 'not loaded' : '…'}</span>
  if (!column.own) return <span className="matrix-value matrix-quiet">no key</span>
  return (
    <>
      <button
        type="button"
        className="matrix-value matrix-missing"
        aria-label={`Set ${where}, which is missing`}
        onClick={() => doings.edit(column, name)}
      >
        missing
      </button>
      {isQueued && <span className="matrix-tag">queued</span>}
    </>
  )
}

function Tool({ label, onClick, children }: { label: string; onClick: () => void; children: React.ReactNode }) {
  return (
    <button type="button" className="matrix-tool" aria-label={label} title={label} onClick={onClick}>
      {children}
    </button>
  )
}
