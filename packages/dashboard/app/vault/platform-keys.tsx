import { Button, Code } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { api } from '../api.ts'
import { orgQueries } from '../queries.ts'
import { credentialColumns } from '../tokens/credential-columns.tsx'
import { ShownWhenMade, useMade } from '../tokens/shown-when-made.tsx'
import { Empty } from '../ui/empty.tsx'
import { List } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { type PlatformKey, type Project, projectQuery } from './queries.ts'

// This part of the page is loaded when it first opens.
const NewKeyDialog = lazy(async () => ({ default: (await import('./new-platform-key.tsx')).NewKeyDialog }))

/** Lists the platform keys, which the product's backend uses. */
export function PlatformKeys({ project }: { project: Project }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(projectQuery(org.id, project.id))
  const creating = useDialog()
  const made = useMade<string>()
  const params = { orgId: org.id, projectId: project.id }
  const revoking = useConfirm(({ id, name }: PlatformKey) => ({
    title: `Revoke ${name}?`,
    text: 'It stops working at once, and for good. Connections stay as they are.',
    confirm: 'Revoke',
    onConfirm: () => api.vaultProjects.revokeKey({ params: { ...params, vaultKeyId: id } }),
    stale: [orgQueries(org.id, 'vault')],
  }))
  return (
    <Section
      title="Platform keys"
      description="With a platform key, the backend of your product makes links and reads which accounts are connected. It never reads a credential."
      actions={<Button onClick={() => creating.open()}>New platform key</Button>}
    >
      <List
        label="Platform keys"
        query={query}
        rows={({ keys }) => keys}
        columns={columns}
        minWidth={620}
        rowId={({ id }) => id}
        rowName={({ name }) => name}
        action={(key) =>
          key.revokedAt === null ? { label: 'Revoke', danger: true, onClick: () => revoking.open(key) } : null
        }
        empty={
          <Empty title="No platform key yet">
            Your backend needs one before it can ask people to connect accounts.
          </Empty>
        }
      />
      <Suspense>
        {creating.show((onClose) => (
          <NewKeyDialog params={params} onClose={onClose} onMade={made.show} />
        ))}
      </Suspense>
      <ShownWhenMade made={made} token={made.value} title="The new platform key" what="key">
        Give it to your backend, for example as <Code>SKERRY_VAULT_KEY</Code>.
      </ShownWhenMade>
      {revoking.dialog}
    </Section>
  )
}

const columns = credentialColumns('Platform key')
