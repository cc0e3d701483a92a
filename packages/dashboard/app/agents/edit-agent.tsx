import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { NameField } from '../form/name-field.tsx'
import { useApiForm } from '../form/use-api-form.ts'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { type Agent, agentsQuery } from './queries.ts'

interface Values {
  name: string
  environmentId: string | null
}

/** Edits an agent's name and the environment whose tokens may fetch its policy. */
export function EditAgent({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { name, environmentId } = agent
  const form = useApiForm('agents', 'update', { name, environmentId } as Values)
  const { data: places } = useQuery(environmentLabelsQuery(org.id))
  const save = (body: Values) => api.agents.update({ params: { orgId: org.id, agentId: agent.id }, body })
  return (
    <FormDialog
      title={`Edit ${agent.name}`}
      submit="Save"
      form={form}
      onClose={onClose}
      onSubmit={save}
      stale={[agentsQuery(org.id)]}
      disabled={places === undefined}
    >
      <NameField description="The slug stays as it is." {...form.getInputProps('name')} />
      <Select
        label="Bound to"
        description="Only tokens of this environment get its policy."
        placeholder="No environment"
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Bind it to no environment' }}
        nothingFoundMessage="No environment by that name"
        data={(places ?? []).map(({ id, label }) => ({ value: id, label }))}
        {...form.getInputProps('environmentId')}
      />
    </FormDialog>
  )
}
