import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { api } from '../api.ts'
import type { Environment } from '../secrets/use-columns.ts'
import { NameAndId } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { timeColumn } from '../ui/relative-time.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { branchesQuery, branchLists } from './branch-queries.ts'
import { useParent } from './use-parent.ts'

// This part of the page is loaded when it first opens.
const ForkDialog = lazy(async () => ({ default: (await import('./fork-dialog.tsx')).ForkDialog }))

/** The branches of an environment: short-lived copies that store only what differs. */
export function Branches({ environment, holdsKey }: { environment: Environment; holdsKey: boolean }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(branchesQuery(org.id, environment.id))
  const parent = useParent(environment)
  const forking = useDialog()
  const ending = useConfirm(({ id, slug }: Environment) => ({
    title: `Delete ${slug}?`,
    text: `The values that it overrides are deleted with their history. ${environment.name} stays as it is.`,
    confirm: 'Delete',
    onConfirm: () =>
      api.envs.delete({ params: { orgId: org.id, envId: id } }, { typed: { environment: `${parent?.label}@${slug}` } }),
    stale: branchLists(org.id, environment),
  }))
  const mayDelete = parent !== undefined && (holdsKey || org.role !== 'member')
  const deleteAction = (branch: Environment) => ({
    label: 'Delete',
    danger: true,
    onClick: () => ending.open(branch),
  })
  const forkButton = holdsKey && (
    <Button variant="default" onClick={() => forking.open()}>
      Fork a branch
    </Button>
  )
  return (
    <Section
      title="Branches"
      description="A branch holds only the values that differ from this environment, for example for a pull request. It can expire by itself."
      actions={query.data?.branches.length ? forkButton : null}
    >
      <List
        label="Branches"
        query={query}
        rows={({ branches }) => branches}
        columns={columnsOf(org.slug)}
        minWidth={600}
        rowId={({ id }) => id}
        rowName={({ slug }) => slug}
        {...(mayDelete ? { action: deleteAction } : {})}
        empty={
          <Empty
            title="No branch"
            action={forkButton}
            command={holdsKey && `skerry branch create pr-1 --env ${environment.slug}`}
          />
        }
      />
      <Suspense>
        {forking.show((onClose) => (
          <ForkDialog environment={environment} onClose={onClose} />
        ))}
      </Suspense>
      {ending.dialog}
    </Section>
  )
}

const columnsOf = (org: string): ListColumn<Environment>[] => [
  {
    header: 'Branch',
    cell: ({ id, name, slug }) => (
      <NameAndId
        name={name}
        id={slug}
        link={
          <AnchorLink to="/orgs/$org/envs/$env" params={{ org, env: id }} size="sm" fw={500}>
            {name}
          </AnchorLink>
        }
      />
    ),
    sort: ({ name }) => name,
  },
  timeColumn('Forked', 'createdAt', 140),
  timeColumn('Expires', 'expiresAt', 140),
]
