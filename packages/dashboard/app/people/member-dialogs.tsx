import { Radio, Stack } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { Fingerprint } from '../envs/fingerprint.tsx'
import { type Checked, checkedKeys, pin } from '../envs/pins.ts'
import { useApiForm } from '../form/use-api-form.ts'
import { useOutlivingLeases } from '../leases/outliving.tsx'
import { orgQueries, queryClient } from '../queries.ts'
import { CustodianNote, OwnShareNote } from '../recovery/custodian-note.tsx'
import { useReloadMe } from '../reload-me.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { HeldKeys } from './held-keys.tsx'
import { type Member, nameOfMember, type OpenDialog } from './member.ts'
import { endAccess, rekeyDueQuery } from './rekey-due.ts'

const roles = [
  { role: 'owner', means: 'Everything, and who else is an owner.' },
  { role: 'admin', means: 'Members, tokens, applications, approvals and the audit log.' },
  { role: 'member', means: 'The secrets whose keys they are granted.' },
] as const

interface OnMember {
  member: Member
  onClose: () => void
}

function RoleDialog({ member, onClose }: OnMember) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const reloadMe = useReloadMe()
  const form = useApiForm('members', 'update', { role: member.role })
  const change = async (body: { role: Member['role'] }) => {
    const params = { orgId: org.id, userId: member.userId }
    await api.members.update({ params, body })
    if (member.userId === me.user?.id) await reloadMe()
  }
  return (
    <FormDialog
      title={`Role of ${nameOfMember(member)}`}
      submit="Change the role"
      form={form}
      onClose={onClose}
      onSubmit={change}
      stale={[membersQuery(org.id)]}
      disabled={!form.isDirty()}
    >
      <Radio.Group
        label="Role"
        description="No role decrypts values: that takes a key."
        {...form.getInputProps('role')}
      >
        <Stack gap="xs" mt="xs">
          {roles.map(({ role, means }) => (
            <Radio
              key={role}
              value={role}
              label={role}
              description={means}
              disabled={role === 'owner' && org.role !== 'owner'}
            />
          ))}
        </Stack>
      </Radio.Group>
    </FormDialog>
  )
}

/** Asks the person to compare the member's key from the server with the member. */
function CompareDialog({ member, checked, onClose }: OnMember & { checked: Checked }) {
  const [compared, setCompared] = useState(false)
  const remember = async () => pin(member.userId, checked.fingerprint)
  return (
    <FormDialog
      title={`Key of ${nameOfMember(member)}`}
      submit="Remember this key"
      onClose={onClose}
      onSubmit={remember}
      stale={[checkedKeys]}
      disabled={!compared}
      size="lg"
    >
      <Fingerprint holder={nameOfMember(member)} checked={checked} compared={compared} onCompared={setCompared} />
    </FormDialog>
  )
}

function RemoveDialog({ member, onClose }: OnMember) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const leases = useOutlivingLeases(member.userId)
  const remove = async () => {
    const params = { orgId: org.id, userId: member.userId }
    const who = { id: member.userId, name: nameOfMember(member) }
    await endAccess(who, () => api.members.remove({ params }))
    await leases.end()
  }
  return (
    <ConfirmDelete
      title={`Remove ${nameOfMember(member)}?`}
      confirm="Remove"
      typed={member.email ?? member.userId}
      onClose={onClose}
      onConfirm={remove}
      stale={[membersQuery(org.id), orgQueries(org.id, 'recovery'), rekeyDueQuery(org.id), ...leases.stale]}
    >
      Their next request loses access to this organization and every key grant. <HeldKeys principalId={member.userId} />{' '}
      They may have kept what they have read: re-key those environments afterwards. The notice that follows also lists
      environments whose present key they lost before.
      <CustodianNote userId={member.userId} name={nameOfMember(member)} />
      {leases.field}
    </ConfirmDelete>
  )
}

function LeaveDialog({ onClose }: { onClose: () => void }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const reloadMe = useReloadMe()
  const leave = async () => {
    await api.members.remove({ params: { orgId: org.id, userId: me.user?.id ?? '' } })
    queryClient.removeQueries({ queryKey: ['orgs', org.id] })
    onClose()
    await reloadMe()
  }
  return (
    <ConfirmDelete title={`Leave ${org.name}?`} confirm="Leave" typed={org.slug} onClose={onClose} onConfirm={leave}>
      You lose the keys that you were granted here, and come back only by an invitation. Somebody else must hold the
      keys of what you leave behind, or nobody can read it any more.
      <OwnShareNote />
    </ConfirmDelete>
  )
}

/** Renders the open dialog of a member. */
export function MemberDialog({ dialog, onClose }: { dialog: OpenDialog; onClose: () => void }) {
  const { kind, member, checked } = dialog
  if (kind === 'role') return <RoleDialog member={member} onClose={onClose} />
  if (kind === 'remove') return <RemoveDialog member={member} onClose={onClose} />
  if (kind === 'leave') return <LeaveDialog onClose={onClose} />
  return checked ? <CompareDialog member={member} checked={checked} onClose={onClose} /> : null
}
