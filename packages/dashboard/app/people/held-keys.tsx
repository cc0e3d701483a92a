import { Alert, List, Text } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { forgetReader } from '../envs/known-readers.ts'
import { queryClient } from '../queries.ts'
import { IconRefresh } from '../ui/icons.ts'
import { AnchorLink } from '../ui/links.tsx'
import { environmentLabelsQuery, type Place } from './environment-labels.ts'

/** The environments whose key a member or token holds. Load it before the grants are deleted. */
export const heldKeysQuery = (orgId: string, principalId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'holdings', principalId],
    queryFn: async ({ signal }): Promise<Place[]> => {
      const places = await queryClient.fetchQuery(environmentLabelsQuery(orgId))
      const held = await Promise.all(
        places.map(async ({ id }) => {
          const { grants } = await api.grants.list({ params: { orgId, envId: id } }, { signal })
          return grants.some((grant) => grant.principalId === principalId)
        }),
      )
      return places.filter((_, i) => held[i])
    },
    staleTime: 0,
  })

/** What they can decrypt, before their access ends. */
export function HeldKeys({ principalId }: { principalId: string }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data: places, error } = useQuery(heldKeysQuery(org.id, principalId))
  if (error) return <>The keys that they hold could not be loaded.</>
  if (!places) return <>Looking for the keys that they hold…</>
  if (places.length === 0) return <>They hold the key of no environment.</>
  return <>They hold the key of {places.map(({ label }) => label).join(', ')}.</>
}

export interface Ended {
  who: string
  /** undefined if they could not be loaded. */
  places: Place[] | undefined
}

/** After somebody's access ended: what they may still be able to read, and where to do something about it. */
export function RekeyHint({ ended, onClose }: { ended: Ended | null; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  if (!ended) return null
  const { who, places } = ended
  if (places?.length === 0) return null
  return (
    <Alert
      color="yellow"
      variant="light"
      mb="lg"
      icon={<IconRefresh size={18} />}
      title={`${who} may have kept keys`}
      withCloseButton
      closeButtonLabel="Dismiss"
      onClose={onClose}
    >
      {places ? (
        <>
          <Text size="sm">Give these environments another key, then change the values that must not be known:</Text>
          <List size="sm" mt={4}>
            {places.map(({ id, label }) => (
              <List.Item key={id}>
                <AnchorLink to="/orgs/$org/envs/$env" params={{ org: org.slug, env: id }} size="sm">
                  Re-key {label}
                </AnchorLink>
              </List.Item>
            ))}
          </List>
        </>
      ) : (
        'Which ones is not known: look at the key access of each environment.'
      )}
    </Alert>
  )
}

/** Ends somebody's access, and returns which keys they held. Failing to load those must not stop the removal. */
export async function endAccess(
  orgId: string,
  principal: { id: string; name: string },
  end: () => Promise<unknown>,
): Promise<Ended> {
  const places = await queryClient.fetchQuery(heldKeysQuery(orgId, principal.id)).catch(() => undefined)
  await end()
  forgetReader(principal.id)
  return { who: principal.name, places }
}
