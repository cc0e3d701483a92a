import { MultiSelect, Radio, Select, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { useApiForm } from '../form/use-api-form.ts'
import { keyring } from '../keyring.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { type Agent, policiesQuery, tasksQuery } from './queries.ts'

/** The token of a new task. It exists only in this page, until the dialog closes. */
export interface Dispatched {
  token: string
  header: string
}

const lifetimes = [
  { value: '900', label: '15 minutes' },
  { value: '3600', label: 'An hour' },
  { value: '14400', label: '4 hours' },
  { value: '43200', label: '12 hours' },
]

interface Values {
  label: string
  extent: 'policy' | 'some'
  scopes: string[]
  ttl: string
}

const initialValues: Values = { label: '', extent: 'some', scopes: [], ttl: '900' }

/** Creates a task for one run. The task may use the chosen secrets, as far as the policy permits them. */
export function DispatchDialog(props: { agent: Agent; onClose: () => void; onMade: (made: Dispatched) => void }) {
  const { agent, onClose, onMade } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data: policies } = useQuery(policiesQuery(org.id, agent.id))
  const permitted = [...new Set(policies?.[0]?.rules.flatMap(({ allow }) => allow))].sort()
  const form = useApiForm('tasks', 'dispatch', initialValues, ({ label, ...values }) => ({ ...values, label }))
  const dispatch = async ({ label, extent, scopes, ttl }: Values) => {
    const { token, taskRef, tokenHash } = await keyring.callLocked('newTaskToken', {})
    const { header } = await api.tasks.dispatch({
      params: { agentRef: agent.id },
      body: {
        ...{ taskRef, tokenHash, ttlSeconds: Number(ttl) },
        ...(extent === 'policy' ? {} : { scopes }),
        ...(label === '' ? {} : { label }),
      },
    })
    onMade({ token, header })
  }
  return (
    <FormDialog
      title={`Give ${agent.name} a task`}
      submit="Dispatch"
      form={form}
      onClose={onClose}
      onSubmit={dispatch}
      stale={[tasksQuery(org.id, agent.id)]}
      disabled={policies === undefined}
    >
      <TextInput
        label="Purpose"
        description="Shown beside the task. The server can read this."
        placeholder="nightly build"
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('label')}
      />
      <Radio.Group label="Secrets" {...form.getInputProps('extent')}>
        <Stack gap="xs" mt={6}>
          <Radio value="some" label="Only those that I choose" />
          <Radio value="policy" label="All that the policy permits" />
        </Stack>
      </Radio.Group>
      {form.values.extent === 'some' && (
        <MultiSelect
          label="Secrets of this task"
          description="Without any, the agent can only send requests that need no secret."
          placeholder={form.values.scopes.length === 0 ? 'None' : ''}
          searchable
          nothingFoundMessage="The policy permits no such secret"
          data={permitted}
          {...form.getInputProps('scopes')}
        />
      )}
      <Select label="Ends after" data={lifetimes} allowDeselect={false} {...form.getInputProps('ttl')} />
    </FormDialog>
  )
}
