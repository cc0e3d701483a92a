import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { missingOfQuery } from '../passing/queries.ts'
import { nameOfMember } from '../people/member.ts'
import { teamsQuery } from '../people/queries.ts'
import { RequestedEnvironments } from '../requests/environments.tsx'
import { membersQuery } from '../secrets/use-name-of.ts'
import { CommandLine } from '../ui/command-line.tsx'
import { Loaded } from '../ui/loaded.tsx'

/**
 * The environments that open once an admin has compared the person's words: those of the invitation and of teams. Shown from
 * the first step on, so that the page is never empty.
 */
export function OpensLater() {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const missing = useQuery(missingOfQuery(org.id, me.principal.id))
  const teams = useQuery(teamsQuery(org.id)).data ?? []
  return (
    <Loaded query={missing}>
      {(due) => {
        const ofTeams = new Set(due.flatMap(({ teamIds }) => teamIds))
        const names = teams.flatMap(({ id, name }) => (ofTeams.has(id) ? [name] : []))
        return (
          <section aria-label="What opens later" className="opens-later">
            <h2>What opens later</h2>
            {due.length === 0 ? (
              <NothingPlanned />
            ) : (
              <>
                <RequestedEnvironments orgId={org.id} environments={due} />
                <Text size="sm" c="dimmed" mt={4}>
                  {names.length > 0 && `Through ${new Intl.ListFormat('en').format(names)}. `}
                  These open as soon as your words are compared.
                </Text>
              </>
            )}
            <WhoKnows />
          </section>
        )
      }}
    </Loaded>
  )
}

/** The first owner has nobody to ask: the command that signed the organization up has its keys. */
function NothingPlanned() {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const members = useQuery(membersQuery(org.id)).data?.members ?? []
  if (org.role !== 'owner' || members.length !== 1)
    return (
      <Text size="sm" c="dimmed">
        Nobody has said yet what you should read. Ask for it.
      </Text>
    )
  return (
    <>
      <Text size="sm" c="dimmed">
        The machine that ran “skerry signup” has the keys. Make your keyring, and then run this command there:
      </Text>
      <CommandLine command={`skerry grant ${me.user?.email ?? me.principal.id} --all --profile ${org.slug}`} />
    </>
  )
}

/** The admins, who see that this person waits. */
function WhoKnows() {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const members = useQuery(membersQuery(org.id)).data?.members ?? []
  const admins = members.filter(({ userId, role }) => role !== 'member' && userId !== me.principal.id)
  if (admins.length === 0) return null
  const shown = admins.slice(0, 4).map(nameOfMember)
  const more = admins.length - shown.length
  const names = new Intl.ListFormat('en').format(more > 0 ? [...shown, `${more} other admins`] : shown)
  const hasKeyring = Boolean(me.user?.publicKeyJwk)
  return (
    <Text size="sm" c="dimmed">
      {hasKeyring ? `${names} can see that you are ready.` : `${names} will see when your keyring is ready.`}
    </Text>
  )
}
