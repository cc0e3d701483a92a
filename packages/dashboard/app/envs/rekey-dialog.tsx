import { Alert, Checkbox, Group, List, Stack, Text, Textarea } from '@mantine/core'
import { isReader } from '@skerry/contract/grants/readers'
import { limits } from '@skerry/contract/limits'
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
import { proposeKey, replaceKey } from './replace-key.ts'

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
  const [why, setWhy] = useState('')
  const nameOf = useNameOf(org.id)
  const isChanged = (i: number) => grantees[i]?.principalId !== me.user?.id && checked?.[i]?.status === 'changed'
  const keeps = (one: Grantee, i: number) => !out.has(one.principalId) && !isChanged(i)
  const rekey = async () => {
    const others = grantees
      .map((one, i) => ({ ...one, fingerprint: checked?.[i]?.fingerprint ?? '', shownAs: nameOfReader(one, nameOf) }))
      .filter((one, i) => keeps(one, i) && one.principalId !== me.user?.id)
    const dropReaders = grantees.filter((one, i) => !keeps(one, i)).filter(isReader)
    const newKey = { orgId: org.id, environment, ownId: me.user?.id ?? '', others, dropped: dropReaders }
    await (isProtected ? proposeKey(newKey, why) : replaceKey(newKey))
    remember(others)
    if (isProtected) return showToast(`The new key of ${environment.name} waits for approval.`)
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
      submit={isProtected ? 'Propose the new key' : 'Re-key'}
      size="lg"
      onClose={onClose}
      onSubmit={rekey}
      stale={[orgQueries(org.id, 'envs', environment.id), orgQueries(org.id, 'changes'), rekeyDueQuery(org.id)]}
      disabled={!isFresh(query) || !isFresh(guard) || !checked || !understood}
    >
      {isProtected && <Approval why={why} onWhy={setWhy} />}
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

/** Says that the new key waits for approval, and asks why it is needed. */
function Approval({ why, onWhy }: { why: string; onWhy: (why: string) => void }) {
  return (
    <>
      <Alert color="blue" variant="light" title="This environment is protected">
        The new key waits for approval as a change, and admins are told. If a value or a reader changes before that,
        propose it again.
      </Alert>
      <Textarea
        label="Why"
        description="For the people who approve. The server can read it: write no values."
        maxLength={limits.noteCharacters}
        autosize
        minRows={2}
        maxRows={8}
        value={why}
        onChange={(event) => onWhy(event.currentTarget.value)}
      />
    </>
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
