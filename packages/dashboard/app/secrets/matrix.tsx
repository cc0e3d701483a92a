import './grid.css'
import './cell.css'
import './selection.css'
import './toolbar.css'
import { Button, Stack } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense, useMemo, useRef } from 'react'
import { usePlaintext, useUnlocked } from '../keyring.ts'
import { ChangedNote } from '../live/changed.tsx'
import { unlockPrompt } from '../prompts.ts'
import { queryClient } from '../queries.ts'
import { IconLock } from '../ui/icons.ts'
import { describeProblem } from '../ui/problem.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { BulkBar } from './bulk.tsx'
import { ColumnHead } from './column-head.tsx'
import { type Column, isMissing, isUnreadable, namesOf } from './columns.ts'
import { FileDrop } from './file-drop.tsx'
import type { Filter } from './filters.ts'
import { useFilterCounts, useFiltered, useSearched } from './found-names.ts'
import { Grid } from './grid.tsx'
import type { MatrixDialog } from './matrix-dialog.ts'
import { type MatrixSearch, matrixSearch } from './matrix-search.ts'
import { EnvironmentLinks, NoKey } from './no-key.tsx'
import { useNotNeeded } from './not-needed.ts'
import { secretsText } from './secrets-text.ts'
import { Toolbar } from './toolbar.tsx'
import { UndoNotice } from './undo-notice.tsx'
import { useCellActions } from './use-cell-actions.ts'
import { useSelection } from './use-selection.ts'
import { useValueMatches } from './use-value-matches.ts'
import { useValueIds } from './value-ids.ts'

interface Props {
  orgId: string
  columns: Column[]
  /** Shown when there is no secret yet. */
  empty: ReactNode
  /** Shown beside the search. */
  choices?: ReactNode
}

/** Loaded when first needed, so that the page appears sooner. */
const Dialogs = lazy(async () => ({ default: (await import('./dialogs.tsx')).Dialogs }))

/** The matrix of secrets by environment. Values are masked, compared and edited in place. */
export function Matrix({ orgId, columns: read, empty, choices }: Props) {
  const columns = useNotNeeded(orgId, read)
  // The text of the search may be a value, so locking the keyring clears it.
  const [search, setSearch] = usePlaintext('')
  const { filter, setFilter, dialog } = useAddress(columns)
  const matches = useValueMatches(columns, search)
  const visible = useRef<() => string[]>(() => [])
  const comparison = useValueIds(read, () => visible.current())
  const compared = { columns, ...comparison }
  const all = useMemo(() => namesOf(columns), [columns])
  const searched = useSearched(all, search, matches)
  const names = useFiltered(searched, filter, compared)
  const counts = useFilterCounts(searched, compared)
  const unreadable = useMemo(() => countUnreadable(names, columns), [names, columns])
  const { actions, edits, shown, reveal, hide } = useCellActions(orgId, columns, dialog.open)
  // New secrets get a row as soon as someone types them.
  const rows = useMemo(
    () => [...[...edits.drafts.keys()].filter((name) => !all.includes(name)), ...names],
    [names, all, edits.drafts],
  )
  const selection = useSelection(names, columns)
  const loading = columns.some((column) => column.loading && !column.error)
  const revealAll = (column: Column) =>
    reveal(
      names.flatMap((name) => {
        const entry = column.entries.get(name)
        return entry ? [{ column, entry }] : []
      }),
    )
  return (
    <>
      <Toolbar
        {...{ search, setSearch, filter, setFilter, counts, choices }}
        writable={columns.filter(({ own }) => own)}
        isLoading={loading}
        onAdd={() => dialog.open({ kind: 'add' })}
        onPaste={(column) => dialog.open({ kind: 'paste', column })}
        onDeleted={() => dialog.open({ kind: 'deleted' })}
      />
      <ChangedNote {...{ orgId, columns }} />
      <Locked waiting={edits.waiting} />
      <Failed columns={columns} />
      <UndoNotice columns={columns} />
      <Unsaved count={countUnsaved(edits.drafts)} onRetry={() => retryAll(columns, edits)} />
      {all.length === 0 && rows.length === 0 && !loading ? (
        <NoSecrets {...{ orgId, columns, empty }} />
      ) : (
        <Grid
          {...{ columns, rows, actions, selection, loading }}
          valueIds={comparison.valueIds}
          shown={shown}
          count={countText(names.length, all.length, unreadable)}
          drafts={edits.drafts}
          opened={dialog.secret}
          onVisible={(read) => {
            visible.current = read
          }}
          heads={columns.map((column) => (
            <ColumnHead
              key={column.environmentId}
              column={column}
              missing={countMissing(column, all)}
              onOpenDialog={dialog.open}
              onReveal={() => revealAll(column)}
              onHide={() => hide([column.environmentId], all)}
            />
          ))}
        />
      )}
      <FileDrop {...{ orgId, columns }} />
      {selection.names.length > 0 && <BulkBar {...{ columns, selection }} onOpenDialog={dialog.open} />}
      <Suspense>
        {dialog.show((onClose, opened) => (
          <Dialogs {...{ orgId, columns, edits, actions, onClose }} names={rows} dialog={opened} onOpen={dialog.open} />
        ))}
      </Suspense>
    </>
  )
}

/** Replaces the table. Without a key it is unknown whether there are secrets. */
function NoSecrets({ orgId, columns, empty }: Pick<Props, 'orgId' | 'columns' | 'empty'>) {
  if (columns.some(({ own }) => own))
    return (
      <Stack>
        {empty}
        <EnvironmentLinks columns={columns} />
      </Stack>
    )
  return columns.every(({ error }) => !error) ? <NoKey orgId={orgId} columns={columns} /> : null
}

/** The filter and the open drawer are in the address, so that a link leads to them. Other dialogs are not. */
function useAddress(columns: Column[]) {
  const { show, secret, in: place }: MatrixSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const other = useDialog<MatrixDialog>()
  const go = (change: MatrixSearch, replace: boolean) =>
    void navigate({ to: '.', search: (before: object) => matrixSearch({ ...before, ...change }), replace })
  const column = secret === undefined ? undefined : columnOf(columns, secret, place)
  const close = () => go({ secret: undefined, in: undefined }, true)
  return {
    filter: (show ?? 'all') as Filter,
    setFilter: (filter: Filter) => go({ show: filter === 'all' ? undefined : filter }, true),
    dialog: {
      secret,
      open: (dialog: MatrixDialog) => {
        if (dialog.kind === 'secret') return go({ secret: dialog.name, in: dialog.column.slug }, secret !== undefined)
        // The drawer would show a name that is gone.
        if (dialog.kind === 'rename') close()
        other.open(dialog)
      },
      /** Another dialog is above the drawer. */
      show: (render: (onClose: () => void, dialog: MatrixDialog) => ReactNode) => (
        <>
          {column && render(close, { kind: 'secret', column, name: secret as string })}
          {other.show(render)}
        </>
      ),
    },
  }
}

/**
 * Returns the column of the address, or else the first column that has the secret. The column of the address counts even
 * while it loads.
 */
const columnOf = (columns: Column[], secret: string, slug: string | undefined) =>
  columns.find((column) => column.slug === slug) ?? columns.find(({ entries }) => entries.has(secret))

const countMissing = (column: Column, names: string[]): number => names.filter((name) => isMissing(column, name)).length

const countUnreadable = (names: string[], columns: Column[]): number =>
  columns.reduce((sum, column) => sum + names.filter((name) => isUnreadable(column, name)).length, 0)

function countText(found: number, all: number, unreadable: number): string {
  const secrets = `${found === all ? '' : `${found} of `}${secretsText(all)}`
  return unreadable === 0 ? secrets : `${secrets}, ${unreadable} ${unreadable === 1 ? 'cell' : 'cells'} unreadable`
}

type Edits = ReturnType<typeof useCellActions>['edits']

const countUnsaved = (drafts: Edits['drafts']) =>
  [...drafts.values()].flatMap((row) => Object.values(row)).filter(({ error }) => error).length

function retryAll(columns: Column[], { drafts, save }: Edits) {
  for (const [name, row] of drafts)
    for (const column of columns) if (row[column.environmentId]?.error) void save(column, name)
}

function Locked({ waiting }: { waiting: number }) {
  const unlocked = useUnlocked()
  if (unlocked) return null
  return (
    <div className="banner" role="alert">
      <IconLock size={16} aria-hidden />
      <span>
        The keyring is locked. Values cannot be shown or compared.
        {waiting > 0 &&
          ` ${waiting === 1 ? 'One change is' : `${waiting} changes are`} not saved. This tab keeps ${waiting === 1 ? 'it' : 'them'} encrypted until you unlock the keyring.`}
      </span>
      <Button variant="default" flex="none" onClick={() => unlockPrompt.ask().catch(() => {})}>
        Unlock
      </Button>
    </div>
  )
}

/** Names the columns that could not be loaded. The matrix still shows the others. */
function Failed({ columns }: { columns: Column[] }) {
  const failed = columns.filter(({ loading, error }) => loading && error)
  const [first] = failed
  if (!first) return null
  const { title, advice } = describeProblem(first.error)
  return (
    <div className="banner" data-tone="danger" role="alert">
      <span>
        Not all secrets of {failed.map(({ name }) => name).join(', ')} could be loaded. {title}. {advice}
      </span>
      <Button variant="default" flex="none" onClick={askAgain}>
        Try again
      </Button>
    </div>
  )
}

const askAgain = () => void queryClient.refetchQueries({ predicate: ({ state }) => state.status === 'error' })

function Unsaved({ count, onRetry }: { count: number; onRetry: () => void }) {
  if (count === 0) return null
  return (
    <div className="banner" data-tone="warn" role="status">
      <span>
        {count === 1 ? 'One change is' : `${count} changes are`} not saved. This page keeps{' '}
        {count === 1 ? 'it' : 'them'} until you save.
      </span>
      <Button variant="default" onClick={onRetry}>
        Save again
      </Button>
    </div>
  )
}
