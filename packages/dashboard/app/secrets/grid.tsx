// biome-ignore-all lint/a11y/useSemanticElements lint/a11y/useFocusableInteractive lint/a11y/noNoninteractiveTabindex: rows of a table cannot be taken out of its flow
import { useMediaQuery } from '@mantine/hooks'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { useChangedCells } from '../live/changed.tsx'
import { hueOf } from '../look/environments.ts'
import { moveByArrow } from './arrow-keys.ts'
import { Row } from './cell.tsx'
import type { Column } from './columns.ts'
import { EnvironmentTabs } from './environment-tabs.tsx'
import { SelectBox } from './select-box.tsx'
import type { useCellActions } from './use-cell-actions.ts'
import type { Selection } from './use-selection.ts'
import { stateKey } from './value-ids.ts'

/** Row heights in pixels, with the line below a row. `--row` has the same values. */
const rowHeights = { desk: 28, phone: 44 }

/** The table of rows and columns. Only the rows in sight are rendered. */
export function Grid(props: {
  columns: Column[]
  rows: string[]
  valueIds: Parameters<typeof Row>[0]['valueIds']
  shown: ReturnType<typeof useCellActions>['shown']
  drafts: ReturnType<typeof useCellActions>['edits']['drafts']
  actions: Parameters<typeof Row>[0]['actions']
  selection: Selection
  loading: boolean
  /** How many secrets are shown. */
  count: string
  /** The name of the secret in the drawer. */
  opened: string | undefined
  /** Rendered by the parent, so that scrolling does not render them again. */
  heads: ReactNode[]
  onVisible: (read: () => string[]) => void
}) {
  const { columns, rows, valueIds, shown, drafts, actions, selection, loading, count, opened, heads, onVisible } = props
  const changed = useChangedCells(columns)
  const scroller = useRef<HTMLDivElement>(null)
  const { rowHeight, only, choose } = useLayout(columns)
  const width = only ? 1 : columns.length
  const virtual = useRowsInSight({ rows, rowHeight, edited: [...drafts.keys()].join(), scroller })
  const items = virtual.getVirtualItems()
  onVisible(() => items.map(({ index }) => rows[index] as string))
  const gridTemplateColumns = `var(--matrix-name) repeat(${width}, minmax(var(--matrix-column), 1fr))`
  const minWidth = `calc(var(--matrix-name) + ${width} * var(--matrix-column))`
  return (
    <>
      {only && <EnvironmentTabs {...{ columns, only }} onChoose={({ environmentId }) => choose(environmentId)} />}
      <div
        ref={scroller}
        className="matrix"
        role="table"
        aria-label="Secrets"
        aria-busy={loading}
        aria-rowcount={rows.length + 1}
        tabIndex={0}
        onKeyDown={moveByArrow}
      >
        <Head {...{ columns, heads, only, selection, count }} style={{ gridTemplateColumns, minWidth }} />
        <div role="rowgroup" className="matrix-body" style={{ height: virtual.getTotalSize(), minWidth }}>
          {items.map(({ index, start, key }) => {
            const name = rows[index] as string
            return (
              <div
                key={key}
                ref={drafts.has(name) ? virtual.measureElement : null}
                data-index={index}
                role="row"
                aria-rowindex={index + 2}
                className="matrix-row"
                data-opened={name === opened || undefined}
                style={{ gridTemplateColumns, transform: `translateY(${start}px)` }}
              >
                <Row
                  {...{ name, columns, only, valueIds, actions }}
                  state={stateKey(name, columns, valueIds)}
                  shown={shown.get(name)}
                  drafts={drafts.get(name)}
                  isSelected={selection.has(name)}
                  changed={changed.get(name)}
                  onSelect={selection.select}
                />
              </div>
            )
          })}
        </div>
        {rows.length === 0 && <p className="matrix-none">{loading ? 'Loading…' : 'Nothing matches.'}</p>}
      </div>
    </>
  )
}

function useRowsInSight(given: {
  rows: string[]
  rowHeight: number
  /** The names of the rows with an editor. All other rows have the same height. */
  edited: string
  scroller: RefObject<HTMLDivElement | null>
}) {
  const { rows, rowHeight, edited, scroller } = given
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rows[index] as string,
    overscan: 6,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured anew when an edit begins or ends
  useLayoutEffect(() => virtual.measure(), [edited, rowHeight])
  return virtual
}

/** A phone shows one environment at a time, in higher rows. The marks still compare all environments. */
function useLayout(columns: Column[]) {
  const isPhone = useMediaQuery('(max-width: 760px)') ?? false
  const [chosen, choose] = useState(columns[0]?.environmentId)
  const only = columns.find(({ environmentId }) => environmentId === chosen) ?? columns[0] ?? null
  return {
    rowHeight: isPhone ? rowHeights.phone : rowHeights.desk,
    only: isPhone && columns.length > 1 ? only : null,
    choose,
  }
}

interface HeadProps {
  columns: Column[]
  /** The one column that is shown, on a phone. */
  only: Column | null
  heads: ReactNode[]
  selection: Selection
  count: string
  style: CSSProperties
}

function Head({ columns, only, heads, selection, count, style }: HeadProps) {
  return (
    <div role="rowgroup" style={{ display: 'contents' }}>
      <div role="row" className="matrix-head" style={style} aria-rowindex={1}>
        <div role="columnheader">
          <SelectBox
            label="Select all secrets that are shown"
            isChecked={selection.state === 'all'}
            isMixed={selection.state === 'some'}
            onChange={selection.selectAll}
          />
          <span className="matrix-count" role="status" title={count}>
            {count}
          </span>
        </div>
        {columns.map((column, i) =>
          only !== null && only !== column ? null : (
            <div
              role="columnheader"
              key={column.environmentId}
              data-hue={column.isBranch ? undefined : hueOf(column.slug)}
            >
              {heads[i]}
            </div>
          ),
        )}
      </div>
    </div>
  )
}
