import { List, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { forgetReader } from '../envs/known-readers.ts'
import { type Member, nameOfMember, typedHolder } from '../people/member.ts'
import { rekeyDueQuery } from '../people/rekey-due.ts'
import { orgQueries } from '../queries.ts'
import { CustodianNote } from '../recovery/custodian-note.tsx'
import { membersQuery } from '../secrets/use-name-of.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { offboardingQueries, type Preview, previewQuery } from './queries.ts'

/** Shows the effects of an offboarding, starts it, and opens its page, which begins to replace keys. */
export function OffboardDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const navigate = useNavigate()
  const query = useQuery(previewQuery(org.id, member.userId))
  const name = nameOfMember(member)
  const open = (id: string) =>
    navigate({
      to: '/orgs/$org/offboardings/$offboarding',
      params: { org: org.slug, offboarding: id },
      search: { rekey: true },
    })
  const start = async () => {
    const running = query.data?.preview.runningId
    if (running) return open(running)
    const { userId } = member
    const input = { params: { orgId: org.id }, body: { userId } }
    const tokens = query.data?.preview.revokes.filter(({ kind }) => kind === 'service_token') ?? []
    const typed = { ...typedHolder(member).typed, endedTokens: tokens.map(({ id }) => id) }
    const { offboarding } = await api.offboardings.start(input, { typed })
    forgetReader(userId)
    await open(offboarding.id)
  }
  return (
    <ConfirmDelete
      title={`Offboard ${name}?`}
      confirm="Start"
      typed={member.email ?? member.userId}
      onClose={onClose}
      onConfirm={start}
      stale={[
        membersQuery(org.id),
        offboardingQueries(org.id),
        orgQueries(org.id, 'recovery'),
        orgQueries(org.id, 'tokens'),
        rekeyDueQuery(org.id),
      ]}
    >
      <Loaded query={query}>{({ preview }) => <Effects preview={preview} name={name} />}</Loaded>
      <CustodianNote userId={member.userId} name={name} />
    </ConfirmDelete>
  )
}

const countOf = (count: number, one: string) => (count === 1 ? `1 ${one}` : `${count} ${one}s`)

function Effects({ preview, name }: { preview: Preview; name: string }) {
  const { environments, revokes } = preview
  const values = environments.reduce((sum, { secrets }) => sum + secrets, 0)
  return (
    <Stack gap="xs">
      <Text size="sm">
        {name} is removed from this organization at once. They could read {countOf(values, 'value')} in{' '}
        {countOf(environments.length, 'environment')}. This browser then re-keys the environments. You must replace the
        values at their source.
      </Text>
      {environments.length > 0 && (
        <Text size="sm" c="dimmed">
          {environments.map(({ label, via }) => (via === 'token' ? `${label} (through a token)` : label)).join(', ')}
        </Text>
      )}
      {revokes.length > 0 && (
        <>
          <Text size="sm">Programs that use these credentials stop at once:</Text>
          <List size="sm">
            {revokes.map(({ kind, id, name: revoked }) => (
              <List.Item key={id}>
                {kindWords[kind]} {revoked}
              </List.Item>
            ))}
          </List>
        </>
      )}
    </Stack>
  )
}

export const kindWords: Readonly<Record<Preview['revokes'][number]['kind'], string>> = {
  service_token: 'Service token',
  machine_client: 'Machine client',
  agent: 'Agent',
  platform_key: 'Platform key',
  lease: 'Lease',
  invitation: 'Invitation of',
}
