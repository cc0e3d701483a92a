import { Select, TextInput } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { useApiForm } from '../form/use-api-form.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { invitesQuery } from './queries.ts'

interface Invitation {
  email: string
  role: 'member' | 'admin'
}

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const form = useApiForm('invites', 'create', { email: '', role: 'member' } as Invitation)
  return (
    <FormDialog
      title={`Invite someone to ${org.name}`}
      submit="Invite"
      form={form}
      onClose={onClose}
      onSubmit={(body) => api.invites.create({ params: { orgId: org.id }, body })}
      stale={[invitesQuery(org.id)]}
    >
      <TextInput
        label="E-mail"
        description="Anyone who can read the mail of this address, or sign in with it, can accept within 7 days."
        type="email"
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('email')}
      />
      <Select
        label="Role"
        description="Admins also manage members, tokens and changes. Keys are granted separately."
        data={['member', 'admin']}
        allowDeselect={false}
        {...form.getInputProps('role')}
      />
    </FormDialog>
  )
}
