import { Checkbox, Stack, TextInput } from '@mantine/core'
import type { Body } from '@skerry/contract/endpoint'
import { vaultEventTypes } from '@skerry/contract/vault/facts'
import type { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { type ApiForm, useApiForm } from '../form/use-api-form.ts'
import { orgQueries } from '../queries.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import type { Project, Webhook } from './queries.ts'

type Values = Body<typeof vaultWebhooks.create>
type Changes = Body<typeof vaultWebhooks.update>
type EventType = (typeof vaultEventTypes)[number]

const meanings: Record<EventType, string> = {
  'connection.ready': 'An account is connected, repaired, or works again.',
  'connection.reauth_required': 'The person must repair the connection.',
  'connection.revoked': 'Somebody revoked a connection.',
}

const initialValues: Values = { url: '', events: [...vaultEventTypes], description: '' }

/** An empty text means no description. */
const prepare = ({ description, ...values }: Values): Values => (description ? { ...values, description } : values)
const prepareChanges = ({ description, ...values }: Changes): Changes => ({
  ...values,
  description: description || null,
})

export function NewWebhookDialog(props: { project: Project; onClose: () => void; onMade: (secret: string) => void }) {
  const { project, onClose, onMade } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const form = useApiForm('vaultWebhooks', 'create', initialValues, prepare)
  const create = async (body: Values) => {
    const { secret } = await api.vaultWebhooks.create({ params: { orgId: org.id, projectId: project.id }, body })
    onMade(secret)
  }
  return (
    <FormDialog
      title="New webhook"
      submit="Create"
      form={form}
      onClose={onClose}
      onSubmit={create}
      stale={[orgQueries(org.id, 'vault')]}
    >
      <WebhookFields form={form} />
    </FormDialog>
  )
}

export function EditWebhookDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { id, projectId, url, events, description } = webhook
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const values: Changes = { url, events, description: description ?? '' }
  const form = useApiForm('vaultWebhooks', 'update', values, prepareChanges)
  const update = (body: Changes) =>
    api.vaultWebhooks.update({ params: { orgId: org.id, projectId, vaultWebhookId: id }, body })
  return (
    <FormDialog
      title={`Edit the webhook to ${url}`}
      submit="Save"
      form={form}
      onClose={onClose}
      onSubmit={update}
      stale={[orgQueries(org.id, 'vault')]}
    >
      <WebhookFields form={form} />
    </FormDialog>
  )
}

function WebhookFields<V extends Changes>({ form }: { form: ApiForm<V> }) {
  return (
    <>
      <TextInput
        label="Address"
        description="An https address of your backend that this server can reach."
        placeholder="https://api.example.com/hooks"
        classNames={{ input: 'mono' }}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('url')}
      />
      <TextInput
        label="Description"
        description="Optional. It tells people what the webhook is for."
        autoComplete="off"
        {...form.getInputProps('description')}
      />
      <Checkbox.Group label="Events" {...form.getInputProps('events')}>
        <Stack gap="xs" mt="xs">
          {vaultEventTypes.map((type) => (
            <Checkbox key={type} value={type} label={type} description={meanings[type]} />
          ))}
        </Stack>
      </Checkbox.Group>
    </>
  )
}
