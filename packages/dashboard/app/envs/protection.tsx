import { Button, Checkbox, Group, NumberInput, Stack, Text } from '@mantine/core'
import { limits } from '@skerry/contract/limits'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { useApiForm } from '../form/use-api-form.ts'
import { outdated } from '../queries.ts'
import { protectionQuery } from '../secrets/queries.ts'
import type { Environment } from '../secrets/use-columns.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Section } from '../ui/page.tsx'

interface Settings {
  requiredApprovals: number
  allowSelfApproval: boolean
}

/** Whether changes of an environment wait for approval. */
export function Protection({ environment }: { environment: Environment }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(protectionQuery(org.id, environment.id))
  return (
    <Section
      title="Protection"
      description="In a protected environment, changes of secrets wait until others approve them."
    >
      <Loaded query={query}>
        {({ protection, openChangeRequests }) => (
          <State
            environment={environment}
            protection={protection}
            open={openChangeRequests}
            isAdmin={org.role !== 'member'}
          />
        )}
      </Loaded>
    </Section>
  )
}

const sayProtection = ({ requiredApprovals, allowSelfApproval }: Settings) =>
  `Needs ${requiredApprovals === 1 ? 'one approval' : `${requiredApprovals} approvals`}; ${
    allowSelfApproval ? 'one’s own counts' : 'one’s own does not count'
  }.`

const sayOpen = (open: number) =>
  open === 0 ? 'No change waits.' : open === 1 ? 'One change waits.' : `${open} changes wait.`

function State(props: { environment: Environment; protection: Settings | null; open: number; isAdmin: boolean }) {
  const { environment, protection, open, isAdmin } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [asking, setAsking] = useState<'set' | 'end' | null>(null)
  const params = { orgId: org.id, envId: environment.id }
  const reload = () => outdated({ queryKey: ['orgs', org.id, 'envs', environment.id] })
  return (
    <Stack gap="sm">
      <Text size="sm">
        {protection ? sayProtection(protection) : 'Not protected: whoever holds the key changes secrets at once.'}{' '}
        {(protection || open > 0) && sayOpen(open)}
      </Text>
      {isAdmin && (
        <Group gap="xs">
          <Button variant="default" size="xs" onClick={() => setAsking('set')}>
            {protection ? 'Change' : 'Protect'}
          </Button>
          {protection && (
            <Button variant="subtle" color="red" size="xs" onClick={() => setAsking('end')}>
              Stop protecting
            </Button>
          )}
        </Group>
      )}
      {asking === 'set' && (
        <SettingsDialog
          name={environment.name}
          before={protection ?? { requiredApprovals: 1, allowSelfApproval: false }}
          onClose={() => setAsking(null)}
          onSave={async (body) => {
            await api.protection.put({ params, body })
            await reload()
          }}
        />
      )}
      <ConfirmDelete
        title={`Stop protecting ${environment.name}?`}
        confirm="Stop protecting"
        opened={asking === 'end'}
        onClose={() => setAsking(null)}
        onConfirm={async () => {
          await api.protection.delete({ params })
          await reload()
        }}
      >
        Changes are stored at once from then on. What waits already keeps waiting for its approvals.
      </ConfirmDelete>
    </Stack>
  )
}

function SettingsDialog(props: {
  name: string
  before: Settings
  onSave: (settings: Settings) => Promise<unknown>
  onClose: () => void
}) {
  const { name, before, onSave, onClose } = props
  const form = useApiForm('protection', 'put', { ...before })
  return (
    <FormDialog title={`Protect ${name}`} submit="Save" form={form} opened onClose={onClose} onSubmit={onSave}>
      <NumberInput
        label="Approvals that a change needs"
        min={1}
        max={limits.requiredApprovalsMax}
        allowDecimal={false}
        clampBehavior="strict"
        data-autofocus
        {...form.getInputProps('requiredApprovals')}
      />
      <Checkbox
        label="One’s own approval counts"
        description="Only of owners and admins: they alone approve."
        {...form.getInputProps('allowSelfApproval', { type: 'checkbox' })}
      />
    </FormDialog>
  )
}
