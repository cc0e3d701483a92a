import { Checkbox, Group, Input, Select, Text, Textarea } from '@mantine/core'
import { limits } from '@skerry/contract/limits'
import { SkerryError } from '@skerry/sdk/errors'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { refusedField } from '../form/refused-field.ts'
import { Cancelled } from '../prompts.ts'
import { invalidate } from '../queries.ts'
import { type Owner, ownersQuery } from '../requests/queries.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { describeProblem, ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { addressesIn } from './addresses.ts'
import { EnvironmentGrid } from './environment-grid.tsx'
import { NoMail } from './no-mail.tsx'
import { invitesQuery, type Team, teamsQuery } from './queries.ts'

type Role = 'member' | 'admin'

/** An address whose invitation was refused, with the reason. */
interface Refused {
  email: string
  why: string
}

/**
 * Invites several people at once, and says what they should read: teams and environments. An invitation holds names alone.
 * The keys follow after the words of each person were compared.
 */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [text, setText] = useState('')
  const [role, setRole] = useState<Role>('member')
  const [teamIds, setTeamIds] = useState<string[]>([])
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [refused, setRefused] = useState<readonly Refused[]>([])
  const { valid, invalid } = addressesIn(text)
  const teams = useQuery(teamsQuery(org.id))
  const owners = useQuery(ownersQuery(org.id))
  // A team or an environment that was deleted meanwhile has no tick on the page any more, and is not sent.
  const chosenTeams = teamIds.filter((id) => teams.data?.some((team) => team.id === id) ?? true)
  const chosenEnvs = existingOf(chosen, owners.data)
  const send = async () => {
    const gifts = { teamIds: chosenTeams, environmentIds: [...chosenEnvs] }
    const failed = await inviteAll(org.id, valid, { role, ...nonEmpty(gifts) })
    setRefused(failed)
    const sent = valid.length - failed.length
    if (sent > 0) showToast(sent === 1 ? '1 person was invited.' : `${sent} people were invited.`)
    if (failed.length === 0) return
    setText(failed.map(({ email }) => email).join('\n'))
    await invalidate(invitesQuery(org.id))
    throw new Cancelled()
  }
  const count = valid.length
  return (
    <FormDialog
      title={`Invite people to ${org.name}`}
      submit={count > 1 ? `Send ${count} invitations` : 'Send'}
      onClose={onClose}
      onSubmit={send}
      stale={[invitesQuery(org.id)]}
      disabled={count === 0 || invalid.length > 0 || chosenEnvs.size > limits.plannedGrantsMax}
      size="xl"
    >
      <NoMail />
      <Addresses text={text} onChange={setText} invalid={invalid} refused={refused} />
      <Teams query={teams} chosen={chosenTeams} onChange={setTeamIds} />
      <Environments query={owners} chosen={chosenEnvs} onChange={setChosen} />
      <Select
        label="Role"
        description="Admins also manage members, tokens and changes. A role alone cannot read secrets."
        data={['member', 'admin']}
        allowDeselect={false}
        value={role}
        onChange={(value) => setRole(value as Role)}
      />
    </FormDialog>
  )
}

/** Older servers know no teams and refuse their fields, so empty ones are left out. */
const nonEmpty = <T extends Record<string, readonly string[]>>(fields: T): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, ids]) => ids.length > 0)) as Partial<T>

/** Sends the invitations one after the other. A refused one does not stop the others. */
async function inviteAll(
  orgId: string,
  emails: readonly string[],
  more: { role: Role; teamIds?: string[]; environmentIds?: string[] },
): Promise<Refused[]> {
  const refused: Refused[] = []
  for (const email of emails) {
    try {
      await api.invites.create({ params: { orgId }, body: { email, ...more } })
    } catch (error) {
      if (!(error instanceof SkerryError) || error.code === 'unavailable') throw error
      refused.push({ email, why: refusedField(error)?.message ?? describeProblem(error).title })
    }
  }
  return refused
}

function Addresses(props: {
  text: string
  onChange: (text: string) => void
  invalid: readonly string[]
  refused: readonly Refused[]
}) {
  const { text, onChange, invalid, refused } = props
  // The last word may still be typed.
  const last = text.split(/[\s,;]+/).at(-1)
  const wrong = invalid.filter((word) => word !== last)
  const problem = wrong.length > 0 ? `Not an address: ${wrong.join(', ')}` : null
  return (
    <Textarea
      label="E-mail"
      description="One or several addresses. Anyone who can read the mail of an address, or sign in with it, can accept within 7 days."
      autoComplete="off"
      autosize
      maxRows={6}
      data-autofocus
      value={text}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={
        problem ?? (refused.length > 0 && refused.map(({ email, why }) => <div key={email}>{`${email}: ${why}`}</div>))
      }
    />
  )
}

function Teams(props: { query: UseQueryResult<Team[]>; chosen: string[]; onChange: (chosen: string[]) => void }) {
  const { query, chosen, onChange } = props
  const teams = query.data ?? []
  if (query.data && teams.length === 0) return null
  return (
    <Checkbox.Group label="Teams" value={chosen} onChange={onChange}>
      <ProblemAlert error={query.error} />
      <Group gap="md" mt={4}>
        {teams.map(({ id, name, environments }) => (
          <Checkbox
            key={id}
            value={id}
            label={`${name}, ${environments === 1 ? '1 environment' : `${environments} environments`}`}
          />
        ))}
      </Group>
    </Checkbox.Group>
  )
}

/** Returns those of the chosen environments that still exist. */
function existingOf(chosen: ReadonlySet<string>, owners: readonly Owner[] | undefined): ReadonlySet<string> {
  if (!owners) return chosen
  const ids = new Set(owners.flatMap(({ environments }) => environments.map(({ id }) => id)))
  return new Set([...chosen].filter((id) => ids.has(id)))
}

function Environments(props: {
  query: UseQueryResult<Owner[]>
  chosen: ReadonlySet<string>
  onChange: (chosen: ReadonlySet<string>) => void
}) {
  const { query, chosen, onChange } = props
  return (
    <Input.Wrapper
      label="Should read"
      labelElement="div"
      description="The invitation holds names, and no key. You pass the keys on after comparing their words."
    >
      <Loaded query={query}>
        {(all) => (
          <EnvironmentGrid
            owners={all}
            chosen={chosen}
            onChange={onChange}
            unheldText="You do not hold this key: an admin who does passes it on."
          />
        )}
      </Loaded>
      {chosen.size > limits.plannedGrantsMax && (
        <Text size="sm" c="red">
          At most {limits.plannedGrantsMax} environments. Use a team for more.
        </Text>
      )}
    </Input.Wrapper>
  )
}
