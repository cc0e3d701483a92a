import { Alert, Checkbox, Group, List, Stack, Text } from '@mantine/core'
import { isReader } from '@skerry/contract/grants/readers'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { rekeyDueQuery } from '../people/rekey-due.ts'
import { isFresh, orgQueries } from '../queries.ts'
import { granteesQuery, protectionQuery } from '../secrets/queries.ts'
import type { Environment } from '../secrets/use-columns.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { type Grantee, nameOfReader } from './grantees.ts'
import { KeyStatus } from './key-status.tsx'
import { type Checked, remember, useChecked } from './pins.ts'
import { replaceKey } from './replace-key.ts'

/** Chooses who keeps access, then re-keys the environment. */
export function RekeyDialog({ environment, onClose }: { environment: Environment; onClose: () => void }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery({ ...granteesQuery(org.id, environment.id), staleTime: 0 })
  const grantees = query.data?.grantees ?? []
  const guard = useQuery({ ...protectionQuery(org.id, environment.id), staleTime: 0 })
  const isProtected = guard.data !== undefined && guard.data.protection !== null
  const checked = useChecked(grantees)
  const [out, setOut] = useState<ReadonlySet<string>>(new Set())
  const [understood, setUnderstood] = useState(false)
  const nameOf = useNameOf(org.id)
  const isChanged = (i: number) => grantees[i]?.principalId !== me.user?.id && checked?.[i]?.status === 'changed'
  const keeps = (one: Grantee, i: number) => !out.has(one.principalId) && !isChanged(i)
  const rekey = async () => {
    const others = grantees
      .map((one, i) => ({ ...one, fingerprint: checked?.[i]?.fingerprint ?? '', shownAs: nameOfReader(one, nameOf) }))
      .filter((one, i) => keeps(one, i) && one.principalId !== me.user?.id)
    const dropReaders = grantees.filter((one, i) => !keeps(one, i)).filter(isReader)
    await replaceKey(org.id, environment, me.user?.id ?? '', others, dropReaders)
    remember(others)
    const who = others.length === 0 ? 'Only you keep' : `You and ${others.length} more keep`
    showToast(`${environment.name} has a new key. ${who} access.`)
  }
  const toggle = (id: string) => {
    const after = new Set(out)
    if (!after.delete(id)) after.add(id)
    setOut(after)
  }
  return (
    <FormDialog
      title={`Re-key ${environment.name}`}
      submit="Re-key"
      size="lg"
      onClose={onClose}
      onSubmit={rekey}
      stale={[orgQueries(org.id, 'envs', environment.id), rekeyDueQuery(org.id)]}
      disabled={!isFresh(query) || !isFresh(guard) || isProtected || !checked || !understood}
    >
      {isProtected && (
        <Alert color="red" variant="light" title="This environment is protected">
          A new key would bypass the approvals. First stop protecting the environment, on the tab Protection. All admins
          are told.
        </Alert>
      )}
      <ProblemAlert error={guard.error} retry={() => guard.refetch()} />
      <CannotUndo environment={environment} />
      <Stack gap="xs">
        <Text size="sm" fw={500}>
          Who keeps access
        </Text>
        <ProblemAlert error={query.error} retry={() => query.refetch()} />
        {grantees.map((one, i) => (
          <Keeper
            key={one.principalId}
            {...{ one, orgId: org.id }}
            isSelf={one.principalId === me.user?.id}
            isChanged={isChanged(i)}
            keeps={keeps(one, i)}
            checked={checked?.[i]}
            onToggle={() => toggle(one.principalId)}
          />
        ))}
      </Stack>
      <Checkbox
        label="I understand what this cannot undo"
        checked={understood}
        onChange={(event) => setUnderstood(event.currentTarget.checked)}
      />
    </FormDialog>
  )
}

function CannotUndo({ environment }: { environment: Environment }) {
  return (
    <Alert color="orange" variant="light" title="What this cannot undo">
      <List size="sm" spacing={4}>
        <List.Item>
          People who had the key may have kept the values. Change important values where they are used.
        </List.Item>
        <List.Item>Machines with an offline copy of the values go on using it for a while.</List.Item>
        <List.Item>
          Earlier versions stay encrypted with the old key. Nobody can read or restore them afterwards.
        </List.Item>
        <List.Item>Changes that wait for approval are closed. Propose them again if you still want them.</List.Item>
        {environment.applicationId !== null && environment.parentEnvironmentId === null && (
          <List.Item>Branches have their own keys. Re-key them separately.</List.Item>
        )}
        <List.Item>
          Everyone whom you leave out below loses access. Programs that use a token that you leave out no longer start.
        </List.Item>
      </List>
    </Alert>
  )
}

function Keeper(props: {
  one: Grantee
  orgId: string
  isSelf: boolean
  isChanged: boolean
  keeps: boolean
  checked: Checked | undefined
  onToggle: () => void
}) {
  const { one, orgId, isSelf, isChanged, keeps, checked, onToggle } = props
  const nameOf = useNameOf(orgId)
  return (
    <Checkbox
      checked={keeps}
      disabled={isSelf || isChanged}
      onChange={onToggle}
      label={
        <Group gap="xs">
          {nameOfReader(one, nameOf)}
          <KeyStatus checked={checked} isSelf={isSelf} />
        </Group>
      }
      description={<span className="mono">{checked?.words}</span>}
    />
  )
}
