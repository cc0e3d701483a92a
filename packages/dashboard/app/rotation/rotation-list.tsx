import { rotationFacts } from '@skerry/contract/rotation/facts'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { TwoLines } from '../ui/cells.tsx'
import { durationText } from '../ui/durations.ts'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn, type RowAction } from '../ui/list.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import type { OpenRotationDialog } from './dialogs.tsx'
import { type Rotation, rotationsQuery, staleAfterRotation } from './queries.ts'
import { RotationState } from './state.tsx'

// This part of the page is loaded when it first opens.
const RotationDialog = lazy(async () => ({ default: (await import('./dialogs.tsx')).RotationDialog }))

/** Lists the rotations: the secret, the interval and the last run. */
export function RotationList() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(rotationsQuery(org.id))
  const { data: environments } = useQuery(environmentLabelsQuery(org.id))
  const { actions, problem, dialog } = useRotationActions()
  const placeOf = ({ environmentId }: Rotation) =>
    environments?.find(({ id }) => id === environmentId)?.label ?? environmentId
  return (
    <>
      <ProblemAlert error={problem} />
      <List
        label="Rotations"
        query={query}
        rows={(rotations) => rotations}
        columns={columnsOf(placeOf)}
        minWidth={900}
        rowId={({ id }) => id}
        rowName={(rotation) => `${rotation.secretName} in ${placeOf(rotation)}`}
        actions={actions}
        empty={
          <Empty
            title="Nothing is rotated yet"
            command={`skerry rotation create SESSION_SECRET --every 30d --app my-app --env production --org ${org.slug}`}
          >
            Let this server replace a random value, or the password of a database account, at intervals. It needs the
            environment’s key for that.
          </Empty>
        }
      />
      {dialog}
    </>
  )
}

/** Returns the actions of a rotation, their dialog, and the error of the last action. */
export function useRotationActions() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const opened = useDialog<OpenRotationDialog>()
  const setStatus = useAction(
    ({ id: rotationId }: Rotation, status: Rotation['status']) =>
      api.rotation.update({ params: { orgId: org.id, rotationId }, body: { status } }),
    { stale: ({ environmentId }) => staleAfterRotation(org.id, environmentId) },
  )
  const actions = (rotation: Rotation): RowAction[] => {
    const opens = (kind: OpenRotationDialog['kind']) => () => opened.open({ kind, rotation })
    const isPaused = rotation.status === 'paused'
    return [
      { label: 'Rotate now…', onClick: opens('run') },
      { label: 'Change the interval…', onClick: opens('interval') },
      {
        label: isPaused ? 'Resume' : 'Pause',
        disabled: setStatus.pending,
        onClick: () => void setStatus.run(rotation, isPaused ? 'active' : 'paused'),
      },
      { label: 'Stop rotating…', danger: true, onClick: opens('remove') },
    ]
  }
  const dialog = (
    <Suspense>
      {opened.show((onClose, one) => (
        <RotationDialog dialog={one} onClose={onClose} />
      ))}
    </Suspense>
  )
  return { actions, problem: setStatus.error, dialog }
}

const columnsOf = (placeOf: (rotation: Rotation) => string): ListColumn<Rotation>[] => [
  {
    header: 'Secret',
    cell: (rotation) => (
      <TwoLines
        main={<span className="mono">{rotation.secretName}</span>}
        title={rotation.secretName}
        below={placeOf(rotation)}
      />
    ),
    sort: ({ secretName }) => secretName,
    width: '28%',
  },
  {
    header: 'How',
    cell: ({ kind, intervalSeconds }) => (
      <TwoLines main={`every ${durationText(intervalSeconds)}`} below={rotationFacts[kind].label} />
    ),
    sort: ({ intervalSeconds }) => intervalSeconds,
  },
  {
    header: 'Last run',
    cell: ({ lastRunAt, lastVersion }) => (
      <TwoLines main={<RelativeTime at={lastRunAt} />} below={lastVersion === null ? null : `version ${lastVersion}`} />
    ),
    sort: ({ lastRunAt }) => lastRunAt,
    width: 120,
  },
  {
    header: 'Next run',
    cell: ({ nextRunAt }) => (nextRunAt === null ? 'when resumed' : <RelativeTime at={nextRunAt} />),
    sort: ({ nextRunAt }) => nextRunAt,
    width: 120,
  },
  { header: 'State', cell: (rotation) => <RotationState rotation={rotation} />, width: 190 },
]
