import { Badge, Box, Button, Code, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { orgQueries } from '../queries.ts'
import { ShownWhenMade, useMade } from '../tokens/shown-when-made.tsx'
import { TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn, type RowAction } from '../ui/list.tsx'
import { NoServerKey } from '../ui/no-server-key.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { timeColumn } from '../ui/relative-time.tsx'
import { showErrorToast, showToast } from '../ui/toast.ts'
import { useConfirm } from '../ui/use-confirm.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { type Project, type Webhook, webhooksQuery } from './queries.ts'

// Each one is loaded when it first opens.
const Deliveries = lazy(async () => ({ default: (await import('./deliveries.tsx')).Deliveries }))
const NewWebhookDialog = lazy(async () => ({ default: (await import('./webhook-dialogs.tsx')).NewWebhookDialog }))
const EditWebhookDialog = lazy(async () => ({ default: (await import('./webhook-dialogs.tsx')).EditWebhookDialog }))

/** The webhooks through which the server tells the product about changes of connections. */
export function Webhooks({ project }: { project: Project }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(webhooksQuery(org.id, project.id))
  const creating = useDialog()
  const editing = useDialog<Webhook>()
  const secret = useMade<string>()
  const { test, setStatus, removing } = useWebhookActions(org.id)
  const actions = (webhook: Webhook): RowAction[] => [
    { label: 'Send a test', disabled: test.pending, onClick: () => void test.run(webhook) },
    { label: 'Edit…', onClick: () => editing.open(webhook) },
    {
      label: webhook.status === 'active' ? 'Pause' : 'Enable',
      disabled: setStatus.pending,
      onClick: () => void setStatus.run(webhook),
    },
    { label: 'Delete…', danger: true, onClick: () => removing.open(webhook) },
  ]
  return (
    <Section
      title="Webhooks"
      description="Addresses of your backend that are told when an account is connected, needs needs repair or is revoked."
      actions={
        <Button disabled={query.data?.available === false} onClick={() => creating.open()}>
          New webhook
        </Button>
      }
    >
      {query.data?.available === false && (
        <Box mb="sm">
          <NoServerKey />
        </Box>
      )}
      <ProblemAlert error={test.error ?? setStatus.error} />
      <List
        label="Webhooks"
        query={query}
        rows={({ endpoints }) => endpoints}
        columns={columns}
        minWidth={760}
        rowId={({ id }) => id}
        rowName={({ url }) => url}
        actions={actions}
        details={(webhook) => (
          <Suspense>
            <Deliveries webhook={webhook} />
          </Suspense>
        )}
        empty={
          <Empty
            title="No webhook yet"
            command={`skerry vault webhook create https://api.example.com/hooks --project ${project.id} --org ${org.slug}`}
          />
        }
      />
      <Suspense>
        {creating.show((onClose) => (
          <NewWebhookDialog project={project} onClose={onClose} onMade={secret.show} />
        ))}
        {editing.show((onClose, webhook) => (
          <EditWebhookDialog webhook={webhook} onClose={onClose} />
        ))}
      </Suspense>
      <ShownWhenMade made={secret} token={secret.value} title="The signing secret" what="secret">
        Your backend needs it to check that a delivery comes from this server. Use <Code>verifyWebhook</Code> of{' '}
        <Code>@skerry/sdk/vault</Code>.
      </ShownWhenMade>
      {removing.dialog}
    </Section>
  )
}

function useWebhookActions(orgId: string) {
  const after = { stale: [orgQueries(orgId, 'vault')] }
  const paramsOf = ({ projectId, id }: Webhook) => ({ orgId, projectId, vaultWebhookId: id })
  const test = useAction(async (webhook: Webhook) => {
    const { delivered, status, error } = await api.vaultWebhooks.test({ params: paramsOf(webhook) })
    if (delivered) showToast(`The receiver accepted the test with status ${status}.`)
    else showErrorToast('The receiver did not accept the test', error ?? '')
  }, after)
  const setStatus = useAction((webhook: Webhook) => {
    const status = webhook.status === 'active' ? 'disabled' : 'active'
    return api.vaultWebhooks.update({ params: paramsOf(webhook), body: { status } })
  }, after)
  const removing = useConfirm((webhook: Webhook) => ({
    title: `Delete the webhook to ${webhook.url}?`,
    text: 'What still waits to be sent to it is deleted, too.',
    confirm: 'Delete',
    onConfirm: () => api.vaultWebhooks.delete({ params: paramsOf(webhook) }),
    ...after,
  }))
  return { test, setStatus, removing }
}

const columns: ListColumn<Webhook>[] = [
  {
    header: 'Address',
    cell: ({ url, description, events }) => <TwoLines main={url} below={description ?? events.join(', ')} />,
    sort: ({ url }) => url,
    width: '48%',
  },
  timeColumn('Last delivery', 'lastDeliveryAt', 150),
  { header: 'State', cell: (webhook) => <State webhook={webhook} />, sort: ({ status }) => status },
]

function State({ webhook: { status, lastError, failureCount } }: { webhook: Webhook }) {
  const isFailing = failureCount > 0
  return (
    <>
      <Badge color={status === 'disabled' ? 'gray' : isFailing ? 'red' : 'sea'} variant="light">
        {status === 'disabled' ? 'paused' : isFailing ? 'failing' : 'active'}
      </Badge>
      {lastError && (
        <Text size="xs" c="red" lineClamp={2} title={lastError}>
          {lastError}
        </Text>
      )}
    </>
  )
}
