import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { api } from '../api.ts'
import { orgQueries } from '../queries.ts'
import { protectionQuery } from '../secrets/queries.ts'
import type { Environment } from '../secrets/use-columns.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Section } from '../ui/page.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import type { ProtectionSettings } from './protection-dialog.tsx'

// This part of the page is loaded when it first opens.
const ProtectionDialog = lazy(async () => ({ default: (await import('./protection-dialog.tsx')).ProtectionDialog }))

/** Shows whether changes of an environment need approval. */
export function Protection({ environment }: { environment: Environment }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(protectionQuery(org.id, environment.id))
  return (
    <Section title="Protection" description="In a protected environment, changes of secrets wait for approval.">
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

const protectionText = ({ requiredApprovals, allowSelfApproval }: ProtectionSettings) =>
  `Needs ${requiredApprovals === 1 ? 'one approval' : `${requiredApprovals} approvals`}${
    allowSelfApproval ? '. Admins may approve their own changes.' : ', and nobody approves their own changes.'
  }`

const openChangesText = (open: number) =>
  open === 0 ? 'No change waits.' : open === 1 ? 'One change waits.' : `${open} changes wait.`

function State(props: {
  environment: Environment
  protection: ProtectionSettings | null
  open: number
  isAdmin: boolean
}) {
  const { environment, protection, open, isAdmin } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const params = { orgId: org.id, envId: environment.id }
  const stale = [orgQueries(org.id, 'envs', environment.id)]
  const setting = useDialog()
  const ending = useConfirm(() => ({
    title: `Stop protecting ${environment.name}?`,
    text: 'New changes then take effect at once. Changes that already wait still need their approvals.',
    confirm: 'Stop protecting',
    onConfirm: () => api.protection.delete({ params }),
    stale,
  }))
  return (
    <Stack gap="sm">
      <Text size="sm">
        {protection ? protectionText(protection) : 'Not protected: changes take effect at once, without approval.'}{' '}
        {(protection || open > 0) && openChangesText(open)}
      </Text>
      {isAdmin && (
        <Group gap="xs">
          <Button variant="default" size="xs" onClick={() => setting.open()}>
            {protection ? 'Change' : 'Protect'}
          </Button>
          {protection && (
            <Button variant="subtle" color="red" size="xs" onClick={() => ending.open()}>
              Stop protecting
            </Button>
          )}
        </Group>
      )}
      <Suspense>
        {setting.show((onClose) => (
          <ProtectionDialog
            environment={environment}
            before={protection ?? { requiredApprovals: 1, allowSelfApproval: false }}
            onClose={onClose}
            onSave={(body) => api.protection.put({ params, body })}
            stale={stale}
          />
        ))}
      </Suspense>
      {ending.dialog}
    </Stack>
  )
}
