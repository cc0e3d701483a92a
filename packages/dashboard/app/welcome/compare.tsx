import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { wordsQuery } from '../account/words.ts'
import { Words } from '../envs/fingerprint.tsx'
import { AskForm } from '../requests/ask.tsx'
import { RequestedEnvironments } from '../requests/environments.tsx'
import { openRequestsQuery } from '../requests/queries.ts'
import { CommandLine } from '../ui/command-line.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'

/** Shows the words of the person's key, and asks for environments. */
export function Compare({ publicKeyJwk }: { publicKeyJwk: string }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data: words = '' } = useQuery(wordsQuery(publicKeyJwk))
  return (
    <Stack>
      <Words words={words} label="Your 12 words" />
      {org.role === 'owner' ? (
        <>
          <Text size="sm">
            Your command line made this organization and holds its keys. Share them with this keyring, and compare the
            words that the command shows. This page then goes on by itself.
          </Text>
          <CommandLine command={`skerry grant ${me.user?.email} --all --profile ${org.slug}`} />
        </>
      ) : (
        <Text size="sm">
          An admin compares these words with you, over the phone or in person, and passes the keys on. This page then
          goes on by itself.
        </Text>
      )}
      <OwnRequests />
      <h3 className="start-part">Ask for access</h3>
      <AskForm orgId={org.id} />
    </Stack>
  )
}

/** The open requests of this person. */
function OwnRequests() {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const requests = useQuery({ ...openRequestsQuery(org.id), refetchInterval: 5000 })
  return (
    <Loaded query={requests}>
      {({ requests: open }) => {
        const own = open.filter(({ userId }) => userId === me.user?.id)
        if (own.length === 0) return null
        return (
          <div>
            <h3 className="start-part">Your requests</h3>
            {own.map(({ id, createdAt, environments }) => (
              <div key={id}>
                <RequestedEnvironments orgId={org.id} environments={environments} />
                <Text size="sm" c="dimmed" mt={4}>
                  You asked <RelativeTime at={createdAt} />. The admins were told.
                </Text>
              </div>
            ))}
          </div>
        )
      }}
    </Loaded>
  )
}
