import type { UseQueryResult } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { Empty } from '../ui/empty.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Page } from '../ui/page.tsx'
import type { Column } from './columns.ts'
import type { EnvironmentOwner } from './new-environment.tsx'
import type { EnvironmentWithAccess } from './use-columns.ts'
import { useNewEnvironment } from './use-new-environment.tsx'

// Loaded while the secrets load, so that the page appears sooner.
const Matrix = lazy(async () => ({ default: (await import('./matrix.tsx')).Matrix }))

/**
 * The page of an application or a group. It shows the environments with their secrets, or how to create the first
 * environment.
 */
export function EnvironmentsPage<T extends { environments: EnvironmentWithAccess[] }>(props: {
  title: string
  /** The page that lists all applications or all groups. */
  list: { label: string; to: '/orgs/$org/apps' | '/orgs/$org/groups' }
  tabs?: ReactNode
  query: UseQueryResult<T>
  /** Explains environments on the empty page, with the command that creates one. */
  about: string
  command: string
  owner: EnvironmentOwner
  children: (environments: EnvironmentWithAccess[]) => ReactNode
}) {
  const { title, list, tabs, query, about, command, owner, children } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { button, dialog } = useNewEnvironment(owner)
  return (
    <Page
      title={title}
      width="flush"
      crumbs={[{ label: list.label, link: { to: list.to, params: { org: org.slug } } }]}
      actions={query.data?.environments.length ? <div className="desk-only">{button}</div> : null}
      tabs={tabs}
    >
      <Loaded query={query}>
        {({ environments }) =>
          environments.length === 0 ? (
            <Empty title="No environment yet" action={button} command={button && command}>
              {about} {!button && 'Ask an admin of the organization to create the first one.'}
            </Empty>
          ) : (
            children(environments)
          )
        }
      </Loaded>
      {dialog}
    </Page>
  )
}

/** The matrix of secrets. `command` is the CLI command that stores one. */
export function Secrets({ columns, command, choices }: { columns: Column[]; command: string; choices?: ReactNode }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <Suspense>
      <Matrix
        orgId={org.id}
        columns={columns}
        choices={choices}
        empty={
          <Empty title="No secret yet" command={command}>
            Add one, or drop a .env or JSON file on this page.
          </Empty>
        }
      />
    </Suspense>
  )
}
