import { Select, TextInput } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { outdated } from '../queries.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { invitesQuery } from './queries.ts'

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<'member' | 'admin'>('member')
  const invite = async () => {
    await api.invites.create({ params: { orgId: org.id }, body: { email: email.trim(), role } })
    await outdated(invitesQuery(org.id))
  }
  return (
    <FormDialog
      title={`Invite someone to ${org.name}`}
      submit="Invite"
      opened
      onClose={onClose}
      onSubmit={invite}
      disabled={email.trim() === ''}
    >
      <TextInput
        label="E-mail"
        description="The first sign-in with this address accepts, within seven days."
        type="email"
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
      <Select
        label="Role"
        description="An admin also decides about members, tokens and changes. Keys are granted apart from it."
        data={['member', 'admin']}
        allowDeselect={false}
        value={role}
        onChange={(value) => setRole(value === 'admin' ? 'admin' : 'member')}
      />
    </FormDialog>
  )
}
