import { Alert, Checkbox, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { type Candidate, useCandidates } from '../envs/candidates.ts'
import { GranteeFields, useGrantee } from '../envs/grantee.tsx'
import { KeyStatus } from '../envs/key-status.tsx'
import { acceptReaders, noteReaders } from '../envs/known-readers.ts'
import { pin, remember, shownNames, useChecked } from '../envs/pins.ts'
import { isFresh, orgQueries } from '../queries.ts'
import { requireListed } from '../trust/checks.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { grantKey, rotateKey } from './make.ts'
import { keyHoldersQuery, type ManagedKey } from './queries.ts'

export type KeyDialogKind = 'grant' | 'rotate' | 'disable' | 'remove'

interface Props {
  managed: ManagedKey
  onClose: () => void
}

export function KeyDialog({ kind, ...props }: Props & { kind: KeyDialogKind }) {
  if (kind === 'grant') return <GrantDialog {...props} />
  if (kind === 'rotate') return <RotateDialog {...props} />
  if (kind === 'disable') return <DisableDialog {...props} />
  return <RemoveDialog {...props} />
}

function GrantDialog({ managed, onClose }: Props) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(keyHoldersQuery(org.id, managed.id))
  const holders = query.data?.grants ?? []
  const current = holders.filter(({ versions }) => versions.includes(managed.currentVersion))
  const grantee = useGrantee(org.id, current)
  const { to, checked, isReady } = grantee
  const grant = async () => {
    if (!to || !checked) return
    await requireListed(org.id, [to])
    pin(to.principalId, checked.fingerprint, shownNames(to))
    await grantKey(org.id, managed, to)
    await noteReaders({ id: managed.id, key: '' }, [to])
    showToast(`${to.label} can use ${managed.name} now.`)
  }
  return (
    <FormDialog
      title={`Grant ${managed.name}`}
      submit="Grant"
      onClose={onClose}
      onSubmit={grant}
      stale={[orgQueries(org.id, 'kms')]}
      disabled={!isReady || !isFresh(query)}
      size="lg"
    >
      <GranteeFields grantee={grantee} />
      <ProblemAlert error={query.error} retry={() => query.refetch()} />
    </FormDialog>
  )
}

/** Chooses who gets the new version, then adds it. A person or token whose public key has changed is left out. */
function RotateDialog({ managed, onClose }: Props) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(keyHoldersQuery(org.id, managed.id))
  const userId = me.user?.id ?? ''
  const held = new Set(query.data?.grants.map(({ principalId }) => principalId))
  const holders = useCandidates(org.id, [{ principalId: userId }]).filter(({ principalId }) => held.has(principalId))
  const checked = useChecked(holders)
  const [out, setOut] = useState<ReadonlySet<string>>(new Set())
  const isChanged = (i: number) => checked?.[i]?.status === 'changed'
  const keeps = ({ principalId }: Candidate, i: number) => !out.has(principalId) && !isChanged(i)
  const rotate = async () => {
    const others = holders.map((one, i) => ({ ...one, fingerprint: checked?.[i]?.fingerprint ?? '' })).filter(keeps)
    const named = others.map((one) => ({ ...one, shownAs: one.label }))
    await acceptReaders({ id: managed.id, key: '' }, `the next version of ${managed.name}`, named)
    remember(others)
    const version = await rotateKey(org.id, { userId }, managed, others)
    showToast(`${managed.name} is at version ${version}.`)
  }
  const toggle = (id: string) => setOut(new Set(out.has(id) ? [...out].filter((one) => one !== id) : [...out, id]))
  return (
    <FormDialog
      title={`Rotate ${managed.name}`}
      submit="Rotate"
      onClose={onClose}
      onSubmit={rotate}
      stale={[orgQueries(org.id, 'kms')]}
      disabled={!isFresh(query) || !checked}
      size="lg"
    >
      <Text size="sm">
        Programs use the new version from now on. Earlier versions still decrypt older data and verify older signatures.
      </Text>
      <Stack gap="xs">
        <Text size="sm" fw={500}>
          The other holders who get the new version
        </Text>
        <ProblemAlert error={query.error} retry={() => query.refetch()} />
        {holders.map((one, i) => (
          <Checkbox
            key={one.principalId}
            checked={keeps(one, i)}
            disabled={isChanged(i)}
            onChange={() => toggle(one.principalId)}
            label={
              <Group gap="xs">
                {one.label}
                <KeyStatus checked={checked?.[i]} isSelf={false} />
              </Group>
            }
            description={<span className="mono">{checked?.[i]?.words}</span>}
          />
        ))}
        {holders.length === 0 && (
          <Text size="sm" c="dimmed">
            Nobody else holds it.
          </Text>
        )}
      </Stack>
    </FormDialog>
  )
}

function DisableDialog({ managed, onClose }: Props) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <ConfirmDelete
      title={`Disable ${managed.name}?`}
      confirm="Disable"
      onClose={onClose}
      onConfirm={() => api.kms.disable({ params: { orgId: org.id, kmsKeyId: managed.id } })}
      stale={[orgQueries(org.id, 'kms')]}
    >
      Until you enable it again, programs can neither encrypt nor decrypt with it. Public keys stay readable, so that
      signatures can be verified.
    </ConfirmDelete>
  )
}

function RemoveDialog({ managed, onClose }: Props) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const navigate = useNavigate()
  const remove = async () => {
    await api.kms.delete({ params: { orgId: org.id, kmsKeyId: managed.id } }, { typed: { managedKey: managed.name } })
    await navigate({ to: '/orgs/$org/kms', params: { org: org.slug } })
  }
  return (
    <ConfirmDelete
      title={`Delete ${managed.name}?`}
      confirm="Delete"
      typed={managed.name}
      onClose={onClose}
      onConfirm={remove}
      stale={[orgQueries(org.id, 'kms')]}
    >
      Afterwards nobody can decrypt the data that this key encrypted, unless somebody kept a copy of the key. If you are
      not sure, disable it instead.
    </ConfirmDelete>
  )
}

/** A note at the top of the page that the key is disabled. */
export function DisabledNote() {
  return (
    <Alert color="red" variant="light" mb="lg" title="This key is disabled">
      The server gives it to nobody. You cannot grant or rotate it.
    </Alert>
  )
}
