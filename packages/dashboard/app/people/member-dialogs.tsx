import { Radio, Stack } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { Fingerprint } from '../envs/fingerprint.tsx'
import { pinAnew } from '../envs/listed-pins.ts'
import { type Checked, checkedKeys, shownNames } from '../envs/pins.ts'
import { useApiForm } from '../form/use-api-form.ts'
import { useOutlivingLeases } from '../leases/outliving.tsx'
import { OffboardDialog } from '../offboarding/offboard-dialog.tsx'
import { PassOnDialog } from '../passing/pass-on-dialog.tsx'
import { orgQueries, queryClient } from '../queries.ts'
import { CustodianNote, OwnShareNote } from '../recovery/custodian-note.tsx'
import { useReloadMe } from '../reload-me.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { HeldKeys } from './held-keys.tsx'
import { type Member, nameOfMember, type OpenDialog, typedHolder } from './member.ts'
import { endAccess, rekeyDueQuery } from './rekey-due.ts'

const roles = [
  { role: 'owner', means: 'Can do everything, and can make other members owners.' },
  { role: 'admin', means: 'Manages members, tokens and applications, approves changes, and reads the audit log.' },
  { role: 'member', means: 'Reads and changes the secrets of environments whose keys they hold.' },
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
    await api.members.update({ params, body }, typedHolder(member))
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
        description="A role alone cannot read secrets. Members also need the key of each environment."
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
  const remember = async () => pinAnew(member.userId, checked.fingerprint, shownNames(member))
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
    await endAccess(who, () => api.members.remove({ params }, typedHolder(member)))
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
      They lose access to this organization and all its keys at once. <HeldKeys principalId={member.userId} /> They may
      have kept keys and values: re-key those environments afterwards. The page Members then lists them, together with
      environments whose current key this member lost earlier.
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
      You lose all keys that you hold here, and can return only by invitation. If nobody else holds the key of an
      environment, nobody can read its secrets any more.
      <OwnShareNote />
    </ConfirmDelete>
  )
}

/** Renders the open dialog of a member. */
export function MemberDialog({ dialog, onClose }: { dialog: OpenDialog; onClose: () => void }) {
  const { kind, member, checked } = dialog
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  if (kind === 'pass-on') return <PassOnDialog orgId={org.id} userId={member.userId} onClose={onClose} />
  if (kind === 'role') return <RoleDialog member={member} onClose={onClose} />
  if (kind === 'offboard') return <OffboardDialog member={member} onClose={onClose} />
  if (kind === 'remove') return <RemoveDialog member={member} onClose={onClose} />
  if (kind === 'leave') return <LeaveDialog onClose={onClose} />
  return checked ? <CompareDialog member={member} checked={checked} onClose={onClose} /> : null
}
