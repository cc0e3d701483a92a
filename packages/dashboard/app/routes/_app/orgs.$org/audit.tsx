import { Button, Menu } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { csvOf, jsonOf } from '../../../audit/export.ts'
import { withKnownNames } from '../../../audit/known-names.ts'
import { auditQuery, type Entry, filterOf } from '../../../audit/queries.ts'
import { RekeyNotice } from '../../../people/rekey-notice.tsx'
import { Empty } from '../../../ui/empty.tsx'
import { ForAdmins } from '../../../ui/for-admins.tsx'
import { IconDownload } from '../../../ui/icons.ts'
import { MenuItems } from '../../../ui/menu-items.tsx'
import { Page } from '../../../ui/page.tsx'
import { saveText } from '../../../ui/save-text.ts'

// These load separately, so that the list appears sooner.
const Entries = lazy(async () => ({ default: (await import('../../../audit/entries.tsx')).Entries }))
const Filters = lazy(async () => ({ default: (await import('../../../audit/filters.tsx')).Filters }))
const Proof = lazy(async () => ({ default: (await import('../../../audit/proof.tsx')).Proof }))
const Timeline = lazy(async () => ({ default: (await import('../../../audit/timeline.tsx')).Timeline }))

export const Route = createFileRoute('/_app/orgs/$org/audit')({
  validateSearch: filterOf,
  loaderDeps: ({ search }) => search,
  loader: ({ context: { queryClient, org }, deps }) => {
    // The page drops unknown names of actions and types. The table of known names loads with the page, so a filter by
    // name waits for it.
    const isByName = deps.action !== undefined || deps.resourceType !== undefined
    if (org.role !== 'member' && !isByName) void queryClient.prefetchInfiniteQuery(auditQuery(org.id, deps))
  },
  component: AuditLog,
})

function AuditLog() {
  const { org } = Route.useRouteContext()
  const filter = withKnownNames(Route.useSearch())
  const navigate = Route.useNavigate()
  const query = useInfiniteQuery({ ...auditQuery(org.id, filter), enabled: org.role !== 'member' })
  const entries = query.data?.pages.flatMap((page) => page.entries) ?? []
  const isFiltered = Object.keys(filter).length > 0
  return (
    <Page
      title="Audit log"
      about="The log has no values, because the server never has them."
      actions={entries.length > 0 && <Export entries={entries} />}
    >
      <ForAdmins>
        <RekeyNotice />
        <Suspense fallback={<div style={{ height: 71 }} />}>
          <Filters filter={filter} onChange={(search) => navigate({ search, replace: true })} />
        </Suspense>
        <Suspense fallback={<div style={{ height: 154 }} />}>
          <Timeline filter={filter} />
        </Suspense>
        <Suspense fallback={<div style={{ height: 44 }} />}>
          <Proof />
        </Suspense>
        <Suspense>
          <Entries
            filter={filter}
            empty={
              <Empty title={isFiltered ? 'No matching entry' : 'Nothing yet'} command={commandOf(org.slug, filter)}>
                {isFiltered ? 'Widen the filter above.' : 'Every change in this organization is recorded here.'}
              </Empty>
            }
          />
        </Suspense>
      </ForAdmins>
    </Page>
  )
}

function commandOf(slug: string, { action }: { action?: string }): string {
  return `skerry audit ${action === undefined ? '' : `--action ${action} `}--org ${slug}`
}

function Export({ entries }: { entries: Entry[] }) {
  const { org } = Route.useRouteContext()
  const name = `audit-${org.slug}-${new Date().toISOString().slice(0, 10)}`
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} />}>
          Export what is shown
        </Button>
      </Menu.Target>
      <MenuItems>
        <Menu.Item onClick={() => saveText(`${name}.json`, 'application/json', jsonOf(entries))}>JSON</Menu.Item>
        <Menu.Item onClick={() => saveText(`${name}.csv`, 'text/csv', csvOf(entries))}>CSV</Menu.Item>
      </MenuItems>
    </Menu>
  )
}
