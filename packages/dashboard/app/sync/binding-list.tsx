import { Badge, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn, type RowAction } from '../ui/list.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import type { OpenBindingDialog } from './binding-dialogs.tsx'
import { type Binding, bindingsQuery, staleAfterSync } from './queries.ts'
import { useDescription, usePlaceOf } from './use-binding-names.ts'
import { destinationText, runColors } from './words.ts'

// This part of the page is loaded when it first opens.
const BindingDialog = lazy(async () => ({ default: (await import('./binding-dialogs.tsx')).BindingDialog }))

/**
 * Lists the bindings: which environment is pushed where, and the last result. `environmentIds` limits the list to these
 * environments.
 */
export function BindingList({ environmentIds }: { environmentIds?: readonly string[] }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(bindingsQuery(org.id))
  const placeOf = usePlaceOf(org.id)
  const describe = useDescription(org.id)
  const dialog = useDialog<OpenBindingDialog>()
  const { actions, problem } = useBindingActions(dialog.open, placeOf)
  const columns: ListColumn<Binding>[] = [
    {
      header: 'Environment',
      cell: (binding) => <TwoLines main={placeOf(binding)} below={filterText(binding)} />,
      sort: placeOf,
      width: '30%',
    },
    {
      header: 'Destination',
      cell: (binding) => <TwoLines main={describe(binding)} below={destinationText(binding)} />,
      sort: describe,
    },
    { header: 'Last push', cell: ({ lastRun }) => <RelativeTime at={lastRun?.startedAt ?? null} />, width: 120 },
    { header: 'State', cell: (binding) => <BindingState binding={binding} />, width: 230 },
  ]
  return (
    <>
      <ProblemAlert error={problem} />
      <List
        label="Sync bindings"
        query={query}
        rows={(bindings) => bindings.filter(({ environmentId }) => environmentIds?.includes(environmentId) ?? true)}
        columns={columns}
        minWidth={860}
        rowId={({ id }) => id}
        rowName={placeOf}
        actions={actions}
        empty={
          <Empty
            title="No environment is synced yet"
            command={`skerry sync bind my-connection --app my-app --env production --org ${org.slug}`}
          >
            Connect a destination, then bind an environment to it. You see the effect of a push before anything is
            written.
          </Empty>
        }
      />
      <Suspense>
        {dialog.show((onClose, opened) => (
          <BindingDialog dialog={opened} onClose={onClose} />
        ))}
      </Suspense>
    </>
  )
}

function useBindingActions(openDialog: (dialog: OpenBindingDialog) => void, placeOf: (binding: Binding) => string) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const navigate = useNavigate()
  const setEnabled = useAction(
    ({ id: bindingId }: Binding, enabled: boolean) =>
      api.sync.updateBinding({ params: { orgId: org.id, bindingId }, body: { enabled } }),
    { stale: staleAfterSync(org.id) },
  )
  const actions = (binding: Binding): RowAction[] => {
    const { id, enabled, missingEnvironmentIds } = binding
    const opens = (kind: OpenBindingDialog['kind']) => () => openDialog({ kind, binding, name: placeOf(binding) })
    return [
      { label: 'Push now…', onClick: opens('run') },
      ...(missingEnvironmentIds.length > 0 ? [{ label: 'Give the missing keys…', onClick: opens('keys') }] : []),
      { label: 'Edit…', onClick: opens('edit') },
      {
        label: 'Runs',
        onClick: () =>
          void navigate({ to: '/orgs/$org/sync/runs', params: { org: org.slug }, search: { binding: id } }),
      },
      {
        label: enabled ? 'Pause' : 'Resume',
        disabled: setEnabled.pending,
        onClick: () => void setEnabled.run(binding, !enabled),
      },
      { label: 'Stop pushing…', danger: true, onClick: opens('remove') },
    ]
  }
  return { actions, problem: setEnabled.error }
}

function filterText({ include, exclude, nameTransform: { prefix, suffix, case: letters } }: Binding): string {
  const only = include.length > 0 ? [`only ${include.join(', ')}`] : ['all names']
  const without = exclude.length > 0 ? [`without ${exclude.join(', ')}`] : []
  const named = prefix !== undefined || suffix !== undefined ? [`as ${prefix ?? ''}NAME${suffix ?? ''}`] : []
  return [...only, ...without, ...named, ...(letters === undefined ? [] : [`in ${letters} case`])].join(', ')
}

/** Shows whether the binding pushes automatically, and why the last push failed or was partial. */
function BindingState({ binding }: { binding: Binding }) {
  const { enabled, mode, lastRun, missingEnvironmentIds } = binding
  const problem = missingEnvironmentIds.length > 0 ? 'The connection lacks the key of a group.' : binding.lastError
  const says = lastRun === null ? 'not pushed yet' : lastRun.status
  return (
    <>
      <Badge color={lastRun === null ? 'gray' : runColors[lastRun.status]} variant="light">
        {says}
      </Badge>{' '}
      {(!enabled || mode === 'manual') && (
        <Badge color="gray" variant="outline">
          {enabled ? 'by hand' : 'paused'}
        </Badge>
      )}
      {problem !== null && (
        <Text size="xs" c="red" lineClamp={3} title={problem} style={{ wordBreak: 'break-word' }}>
          {problem}
        </Text>
      )}
    </>
  )
}
