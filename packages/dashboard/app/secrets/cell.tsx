// biome-ignore-all lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive: see grid.tsx

import { memo, useState } from 'react'
import { OwnMark } from '../overrides/own-overrides.tsx'
import { IconCopy, IconEllipsis, IconEye, IconEyeOff, IconPencil } from '../ui/icons.ts'
import type { CellActions } from './cell-actions.ts'
import { type Column, type Entry, isUnreadable } from './columns.ts'
import { CellEditor } from './editor.tsx'
import { SelectBox } from './select-box.tsx'
import type { RowDrafts } from './use-edits.ts'
import type { RowShown } from './use-revealed.ts'
import { canSelect, type Selection } from './use-selection.ts'
import { rowState, type ValueIds } from './value-ids.ts'

interface RowProps {
  name: string
  columns: Column[]
  /** The one column that is shown, on a phone. The others are still compared. */
  only: Column | null
  valueIds: ValueIds
  /** A text that changes whenever the row looks different. */
  state: string
  shown: RowShown | undefined
  drafts: RowDrafts | undefined
  actions: CellActions
  isSelected: boolean
  /** The environments in which somebody else has just changed the secret. */
  changed: readonly string[] | undefined
  onSelect: Selection['select']
}

/** A row of the matrix. It uses no Mantine components, because scrolling renders hundreds of cells. */
export const Row = memo(function Row(props: RowProps) {
  const { name, columns, only, valueIds, shown, drafts, actions, isSelected, changed, onSelect } = props
  // The tools are rendered only after hover or focus, because most rows are only scrolled past.
  const [touched, setTouched] = useState(false)
  const touch = touched ? {} : { onPointerEnter: () => setTouched(true), onFocus: () => setTouched(true) }
  const state = rowState(name, columns, valueIds)
  const allShown = columns.every(({ entries, environmentId }) => {
    const entry = entries.get(name)
    return !entry || isShown(entry, shown?.[environmentId])
  })
  return (
    <>
      <div role="rowheader" className="matrix-name" {...touch}>
        {canSelect(name, columns) ? (
          <SelectBox
            label={`Select ${name}`}
            isChecked={isSelected}
            onChange={(isOn, isRange) => onSelect(name, isOn, isRange)}
          />
        ) : (
          <span className="matrix-select" />
        )}
        <span className="mono" title={name}>
          {name}
        </span>
        {columns.length > 1 && <RowTag {...state} />}
        {touched && (
          <span className="matrix-tools">
            <Tool
              label={`${allShown ? 'Hide' : 'Reveal'} ${name} everywhere`}
              onClick={() => actions.toggle(columns, name)}
            >
              {allShown ? <IconEyeOff size={15} /> : <IconEye size={15} />}
            </Tool>
          </span>
        )}
      </div>
      {columns.map((column, i) =>
        only !== null && only !== column ? null : (
          <div
            role="cell"
            className="matrix-cell"
            key={column.environmentId}
            data-sealed={(!column.own && !column.loading) || undefined}
            data-queued={column.queued.has(name) || undefined}
            data-changed={changed?.includes(column.environmentId) || undefined}
            data-edited={drafts?.[column.environmentId] !== undefined || undefined}
            {...touch}
          >
            {drafts?.[column.environmentId]?.isInDrawer === false ? (
              <CellEditor column={column} name={name} draft={drafts[column.environmentId]!} actions={actions} />
            ) : (
              <Cell
                column={column}
                name={name}
                letter={columns.length > 1 ? state.letters[i]! : null}
                isProductions={state.letters[i] !== null && state.letters[i] === state.productionLetter}
                valueIds={valueIds}
                shown={shown?.[column.environmentId]}
                isEdited={drafts?.[column.environmentId] !== undefined}
                actions={actions}
                touched={touched}
              />
            )}
          </div>
        ),
      )}
    </>
  )
})

const isShown = (entry: Entry, shown: RowShown[string] | undefined) => shown?.ciphertext === entry.secret.ciphertext

function RowTag({ kind, missing, unreadable, tampered, productionLetter }: ReturnType<typeof rowState>) {
  if (tampered) return <span className="matrix-tag matrix-broken">does not open</span>
  return (
    <>
      {missing > 0 && <span className="matrix-tag matrix-missing">{missing} missing</span>}
      {missing === 0 && kind === 'same' && <span className="matrix-tag">same</span>}
      {missing === 0 && productionLetter !== null && (
        <span className="matrix-tag matrix-warn" title="Another environment has the value of production">
          shared with production
        </span>
      )}
      {unreadable > 0 && (
        <span className="matrix-tag" title="You have no key of these environments, or of a layer below them">
          {unreadable} unreadable
        </span>
      )}
    </>
  )
}

interface CellProps {
  column: Column
  name: string
  letter: string | null
  /** Whether another environment shares this value with production. */
  isProductions: boolean
  valueIds: ValueIds
  shown: RowShown[string] | undefined
  /** The drawer has an edit that is not stored yet. */
  isEdited: boolean
  actions: CellActions
  touched: boolean
}

function Cell({ column, name, letter, isProductions, valueIds, shown, isEdited, actions, touched }: CellProps) {
  const entry = column.entries.get(name)
  const where = `${name} in ${column.name}`
  const isQueued = column.queued.has(name)
  if (!entry) return <Missing {...{ column, name, where, isQueued, isEdited, actions, touched }} />
  const broken = valueIds.of(entry.layer, entry.secret) === -1 || (isShown(entry, shown) && 'problem' in shown!)
  return (
    <>
      {broken ? (
        <button
          type="button"
          className="matrix-value matrix-broken"
          onClick={() => actions.open(column, name)}
          title={brokenMeans}
        >
          does not open
        </button>
      ) : (
        <Value entry={entry} where={where} shown={shown} onClick={() => actions.toggle([column], name)} />
      )}
      {isEdited && <span className="matrix-tag">edited</span>}
      {isQueued && <span className="matrix-tag">queued</span>}
      <OwnMark column={column} name={name} />
      {!entry.own && (
        <span className="matrix-tag" title={`from ${entry.layer.label}`}>
          ↳ {entry.layer.label}
        </span>
      )}
      {!entry.isCertain && (
        <span className="matrix-tag" title="A layer that you cannot read may override it">
          may be overridden
        </span>
      )}
      {letter && (
        <span
          className="matrix-letter"
          data-letter={letter}
          data-production={isProductions || undefined}
          title={letterMeans(letter, isProductions)}
        >
          {letter}
        </span>
      )}
      {touched && (
        <span className="matrix-tools">
          {!broken && (
            <Tool label={`Copy ${where}`} onClick={() => actions.copy(column, name)}>
              <IconCopy size={15} />
            </Tool>
          )}
          {column.own && (
            <Tool label={`${entry.own ? 'Edit' : 'Override'} ${where}`} onClick={() => actions.edit(column, name)}>
              <IconPencil size={15} />
            </Tool>
          )}
          <DetailsTool {...{ column, name, where, actions }} />
        </span>
      )}
    </>
  )
}

function letterMeans(letter: string, isProductions: boolean): string {
  if (letter === '=') return 'All environments have this value'
  if (isProductions) return 'Production and another environment have this value'
  return 'Environments with the same letter have the same value'
}

const brokenMeans =
  'It was altered, moved here from another secret, or encrypted with another key. Do not trust it. Restore an earlier version, or set a new value.'

function Value(props: { entry: Entry; where: string; shown: RowShown[string] | undefined; onClick: () => void }) {
  const { entry, where, shown, onClick } = props
  const value = isShown(entry, shown) && shown && 'value' in shown ? firstLines(shown.value) : null
  // The label replaces the button's content for screen readers, so it also contains a revealed value.
  return (
    <button
      type="button"
      className={`matrix-value mono ${value === null ? 'matrix-masked' : 'matrix-shown'}`}
      aria-label={value === null ? `Reveal ${where}` : `Hide ${where}: ${value === '' ? 'empty' : firstLines(value)}`}
      aria-pressed={value !== null}
      onClick={onClick}
    >
      {value === null ? '••••••' : value === '' ? <span className="matrix-quiet">empty</span> : value}
    </button>
  )
}

/**
 * Returns the first line of a value, cut after 400 characters. A cell shows one line. The drawer shows the whole value.
 */
function firstLines(value: string): string {
  const end = value.indexOf('\n')
  const line = end < 0 ? value : `${value.slice(0, end)} ↵`
  return line.length > 400 ? `${line.slice(0, 400)}…` : line
}

function Missing(
  props: Pick<CellProps, 'column' | 'name' | 'isEdited' | 'actions' | 'touched'> & { where: string; isQueued: boolean },
) {
  const { column, name, where, isQueued, isEdited, actions, touched } = props
  if (column.loading) return <span className="matrix-value matrix-quiet">{column.error ? 'not loaded' : '…'}</span>
  if (!column.own) return <span className="matrix-value matrix-quiet">no key</span>
  const from = column.unreadable.join(', ')
  const isHidden = isUnreadable(column, name)
  const isNotNeeded = !isHidden && column.notNeeded.has(name)
  const says = isHidden ? 'unreadable' : isNotNeeded ? 'not needed' : 'missing'
  return (
    <>
      <button
        type="button"
        className={`matrix-value ${says === 'missing' ? 'matrix-missing' : 'matrix-quiet'}`}
        aria-label={isHidden ? `Set ${where}: unreadable, may come from ${from}` : `Set ${where}, which is ${says}`}
        title={isHidden ? `It may come from ${from}, which you cannot read` : undefined}
        onClick={() => actions.edit(column, name)}
      >
        {says}
      </button>
      <OwnMark column={column} name={name} />
      {isEdited && <span className="matrix-tag">edited</span>}
      {isQueued && <span className="matrix-tag">queued</span>}
      {touched && (
        <span className="matrix-tools">
          <DetailsTool {...{ column, name, where, actions }} />
        </span>
      )}
    </>
  )
}

function DetailsTool({
  column,
  name,
  where,
  actions,
}: Pick<CellProps, 'column' | 'name' | 'actions'> & { where: string }) {
  return (
    <Tool label={`Details of ${where}`} onClick={() => actions.open(column, name)}>
      <IconEllipsis size={15} />
    </Tool>
  )
}

function Tool({ label, onClick, children }: { label: string; onClick: () => void; children: React.ReactNode }) {
  return (
    <button type="button" className="matrix-tool" aria-label={label} title={label} onClick={onClick}>
      {children}
    </button>
  )
}
