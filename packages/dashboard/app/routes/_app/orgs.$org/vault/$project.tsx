import { Alert, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useAction } from '../../../../action.ts'
import { api } from '../../../../api.ts'
import { orgQueries } from '../../../../queries.ts'
import { ForAdmins } from '../../../../ui/for-admins.tsx'
import { Loaded } from '../../../../ui/loaded.tsx'
import { Page, Section } from '../../../../ui/page.tsx'
import { ProblemAlert } from '../../../../ui/problem.tsx'
import { useDialog } from '../../../../ui/use-dialog.ts'
import { ExecutorSection } from '../../../../vault/executor.tsx'
import { PlatformKeys } from '../../../../vault/platform-keys.tsx'
import { Preview } from '../../../../vault/preview.tsx'
import type { ProjectDialogKind } from '../../../../vault/project-dialogs.tsx'
import { type Executor, type PlatformKey, type Project, projectQuery } from '../../../../vault/queries.ts'

// The steps are needed by new projects only.
const SetUp = lazy(async () => ({ default: (await import('../../../../vault/set-up.tsx')).SetUp }))
// These lists are below the rest, so they may load later.
const Connections = lazy(async () => ({ default: (await import('../../../../vault/connections.tsx')).Connections }))
const Webhooks = lazy(async () => ({ default: (await import('../../../../vault/webhooks.tsx')).Webhooks }))
// This part of the page is loaded when it first opens.
const ProjectDialog = lazy(async () => ({
  default: (await import('../../../../vault/project-dialogs.tsx')).ProjectDialog,
}))

export const Route = createFileRoute('/_app/orgs/$org/vault/$project')({
  loader: ({ context: { queryClient, org }, params: { project } }) => {
    if (org.role !== 'member') void queryClient.prefetchQuery(projectQuery(org.id, project))
  },
  component: ProjectPage,
})

function ProjectPage() {
  const { org } = Route.useRouteContext()
  const { project: id } = Route.useParams()
  const query = useQuery({ ...projectQuery(org.id, id), enabled: org.role !== 'member' })
  if (query.data) return <Found {...query.data} />
  return (
    <Page title="Vault project">
      <ForAdmins>
        <Loaded query={query}>{() => null}</Loaded>
      </ForAdmins>
    </Page>
  )
}

function Found({ project, executor, keys }: { project: Project; executor: Executor | null; keys: PlatformKey[] }) {
  const { org } = Route.useRouteContext()
  const dialog = useDialog<ProjectDialogKind>()
  const isDisabled = project.status === 'disabled'
  const enable = useAction(
    () => api.vaultProjects.update({ params: { orgId: org.id, projectId: project.id }, body: { status: 'active' } }),
    { stale: [orgQueries(org.id, 'vault')] },
  )
  const button = (label: string, kind: ProjectDialogKind) => (
    <Button variant="default" onClick={() => dialog.open(kind)}>
      {label}
    </Button>
  )
  return (
    <Page
      title={project.name}
      part="Vault"
      crumbs={[{ label: 'Vault', link: { to: '/orgs/$org/vault', params: { org: org.slug } } }]}
      actions={
        isDisabled ? (
          <Button variant="default" loading={enable.pending} onClick={() => enable.run()}>
            Enable
          </Button>
        ) : (
          button('Disable…', 'disable')
        )
      }
    >
      <ProblemAlert error={enable.error} />
      {isDisabled && (
        <Alert color="red" variant="light" mb="lg" title="This project is disabled">
          The executor gets no credential, and nobody can connect an account.
        </Alert>
      )}
      <Suspense>
        <SetUp {...{ project, executor, keys }} />
      </Suspense>
      <Section
        title="Connect page"
        description={`The page on which people connect an account. ${originsText(project)}`}
        actions={button('Edit…', 'edit')}
      >
        <Preview display={project.display} />
      </Section>
      <ExecutorSection project={project} executor={executor} />
      <PlatformKeys project={project} />
      <Suspense>
        <Connections project={project} hasExecutor={executor !== null} />
        <Webhooks project={project} />
      </Suspense>
      <Suspense>
        {dialog.show((onClose, kind) => (
          <ProjectDialog kind={kind} project={project} onClose={onClose} />
        ))}
      </Suspense>
    </Page>
  )
}

const originsText = ({ display: { returnOrigins } }: Project) =>
  returnOrigins.length === 0 ? 'It has no return origin yet.' : `People return to ${returnOrigins.join(', ')}.`
