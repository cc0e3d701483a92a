import { Badge, NativeSelect } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { bindingsQuery, type Run, runsQuery } from './queries.ts'
import { useDescription, usePlaceOf } from './use-binding-names.ts'
import { countsText, destinationText, runColors, triggerWords } from './words.ts'

// Loaded when the first run is opened.
const RunResults = lazy(async () => ({ default: (await import('./run-results.tsx')).RunResults }))

/** The history of pushes, the newest first. */
export function RunList({ bindingId }: { bindingId: string | undefined }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const navigate = useNavigate()
  const query = useInfiniteQuery(runsQuery(org.id, bindingId))
  const bindings = useQuery(bindingsQuery(org.id)).data ?? []
  const placeOf = usePlaceOf(org.id)
  const describe = useDescription(org.id)
  const destinationOf = (run: Run) => {
    const binding = bindings.find(({ id }) => id === run.bindingId)
    return binding ? `${describe(binding)} ${destinationText(binding)}` : 'A removed binding'
  }
  const columns: ListColumn<Run>[] = [
    { header: 'When', cell: ({ startedAt }) => <RelativeTime at={startedAt} />, width: 120 },
    { header: 'Binding', cell: (run) => <TwoLines main={placeOf(run)} below={destinationOf(run)} /> },
    { header: 'Started by', cell: ({ trigger }) => triggerWords[trigger], width: 120 },
    {
      header: 'Result',
      cell: (run) => (
        <TwoLines
          main={
            <Badge color={runColors[run.status]} variant="light">
              {run.status}
            </Badge>
          }
          below={run.error ?? countsText(run)}
        />
      ),
      width: 260,
    },
  ]
  return (
    <>
      <NativeSelect
        label="Binding"
        maw={420}
        mb="md"
        data={[
          { value: '', label: 'Every binding' },
          ...bindings.map((one) => ({ value: one.id, label: `${placeOf(one)} → ${describe(one)}` })),
        ]}
        value={bindingId ?? ''}
        onChange={({ currentTarget: { value } }) =>
          void navigate({
            to: '/orgs/$org/sync/runs',
            params: { org: org.slug },
            search: value === '' ? {} : { binding: value },
          })
        }
      />
      <List
        label="Sync runs"
        query={query}
        rows={({ pages }) => pages.flatMap(({ runs }) => runs)}
        columns={columns}
        minWidth={780}
        rowId={({ id }) => id}
        rowName={placeOf}
        details={(run) => (
          <Suspense>
            <RunResults run={run} />
          </Suspense>
        )}
        empty={
          <Empty title="Nothing was pushed yet" command={`skerry sync runs --org ${org.slug}`}>
            This list shows each push, the names that it wrote, and the reason if it failed. It never shows values.
          </Empty>
        }
      />
    </>
  )
}
