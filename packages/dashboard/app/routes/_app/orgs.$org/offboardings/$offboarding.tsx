import { Button, Progress, Text } from '@mantine/core'
import type { Offboarding, OffboardingRow } from '@skerry/sdk/internal/offboarding'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { api } from '../../../../api.ts'
import { nameOfLeaver, offboardingQueries, offboardingQuery, progressOf } from '../../../../offboarding/queries.ts'
import { useRekeying } from '../../../../offboarding/use-rekeying.ts'
import { useNameOf } from '../../../../secrets/use-name-of.ts'
import { CommandLine } from '../../../../ui/command-line.tsx'
import { Loaded } from '../../../../ui/loaded.tsx'
import { Page, Section } from '../../../../ui/page.tsx'
import { RelativeTime } from '../../../../ui/relative-time.tsx'
import { useConfirm } from '../../../../ui/use-confirm.tsx'

// Loaded after the page, which is near the limit of a first load.
const OffboardingSteps = lazy(async () => ({
  default: (await import('../../../../offboarding/offboarding-steps.tsx')).OffboardingSteps,
}))
const CannotUndo = lazy(async () => ({
  default: (await import('../../../../offboarding/cannot-undo.tsx')).CannotUndo,
}))

/** `rekey` begins with the re-keys as soon as the page has loaded. */
const parseSearch = (search: Record<string, unknown>): { rekey?: true } =>
  search.rekey === true || search.rekey === 'true' ? { rekey: true } : {}

export const Route = createFileRoute('/_app/orgs/$org/offboardings/$offboarding')({
  validateSearch: parseSearch,
  loader: ({ context: { queryClient, org }, params }) =>
    void queryClient.prefetchQuery(offboardingQuery(org.id, params.offboarding)),
  component: OffboardingPage,
})

function OffboardingPage() {
  const { org } = Route.useRouteContext()
  const { offboarding } = Route.useParams()
  const query = useQuery({ ...offboardingQuery(org.id, offboarding), refetchInterval: 10_000 })
  return <Loaded query={query}>{(data) => <Leaving key={offboarding} {...data} />}</Loaded>
}

function Leaving({ offboarding, rows }: { offboarding: Offboarding; rows: OffboardingRow[] }) {
  const { org } = Route.useRouteContext()
  const nameOf = useNameOf(org.id)
  const name = nameOfLeaver(offboarding)
  const rekeying = useRekeying()
  useBegin(rows, rekeying.run)
  const { startedById, startedAt, finishedAt } = offboarding
  const done = offboarding.rows - offboarding.open
  return (
    <Page
      title={`Offboard ${name}`}
      crumbs={[{ label: 'Members', link: { to: '/orgs/$org/members', params: { org: org.slug } } }]}
      about={
        <span>
          Started by {nameOf(startedById)} <RelativeTime at={startedAt} />.{' '}
          {finishedAt === null ? (
            'Any admin who holds the keys can continue.'
          ) : (
            <>
              Finished <RelativeTime at={finishedAt} />.
            </>
          )}
        </span>
      }
      actions={<Actions offboarding={offboarding} rows={rows} />}
      width="text"
    >
      <Progress
        value={offboarding.rows === 0 ? 100 : (100 * done) / offboarding.rows}
        aria-label={`${progressOf(offboarding)} done`}
      />
      <Text size="sm" c="dimmed" mt={4}>
        {progressOf(offboarding)} done
      </Text>
      <Suspense>
        <OffboardingSteps offboarding={offboarding} rows={rows} name={name} rekeying={rekeying} />
      </Suspense>
      <Section title="This cannot be undone">
        <Suspense>
          <CannotUndo />
        </Suspense>
      </Section>
      <CommandLine command={`skerry members offboard ${offboarding.email ?? offboarding.userId} --org ${org.slug}`} />
    </Page>
  )
}

/** Begins with the re-keys once, if the address of the page asks for it. */
function useBegin(rows: OffboardingRow[], run: (rows: OffboardingRow[]) => Promise<void>): void {
  const { rekey } = Route.useSearch()
  const navigate = Route.useNavigate()
  const hasBegun = useRef(false)
  useEffect(() => {
    if (!rekey || hasBegun.current) return
    hasBegun.current = true
    void navigate({ search: {}, replace: true })
    void run(rows)
  }, [rekey, rows, run, navigate])
}

function Actions({ offboarding, rows }: { offboarding: Offboarding; rows: OffboardingRow[] }) {
  const { org } = Route.useRouteContext()
  const known = useNameOf(org.id)
  const { id, open, finishedAt } = offboarding
  const report = { offboarding, rows, nameOf: (one: string | null) => (one === null ? '' : known(one)) }
  const save = async (form: 'md' | 'csv') =>
    (await import('../../../../offboarding/save-report.ts')).saveReport(form, report)
  const finishing = useConfirm(() => ({
    title: 'Finish this offboarding?',
    text: open === 0 ? 'All rows are done.' : `${open} rows are open and stay open. The audit log records them.`,
    confirm: 'Finish',
    onConfirm: () =>
      api.offboardings.finish({
        params: { orgId: org.id, offboardingId: id },
        body: open === 0 ? {} : { acceptOpen: true },
      }),
    stale: [offboardingQueries(org.id)],
  }))
  return (
    <>
      <Button variant="default" onClick={() => void save('md')}>
        Report
      </Button>
      <Button variant="default" onClick={() => void save('csv')}>
        CSV
      </Button>
      {finishedAt === null && <Button onClick={() => finishing.open()}>Finish…</Button>}
      {finishing.dialog}
    </>
  )
}
