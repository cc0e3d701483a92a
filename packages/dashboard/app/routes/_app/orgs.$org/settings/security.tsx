import { Paper, Stack, Switch } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { useAction } from '../../../../action.ts'
import { api } from '../../../../api.ts'
import { queryClient } from '../../../../queries.ts'
import { SettingsPage } from '../../../../settings/settings-page.tsx'
import { Loaded } from '../../../../ui/loaded.tsx'
import { Section } from '../../../../ui/page.tsx'
import { ProblemAlert } from '../../../../ui/problem.tsx'

const mfaPolicyQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'mfa-policy'],
    queryFn: ({ signal }) => api.mfaPolicy.get({ params: { orgId } }, { signal }),
  })

export const Route = createFileRoute('/_app/orgs/$org/settings/security')({
  loader: ({ context: { queryClient, org } }) =>
    org.role === 'member' ? undefined : void queryClient.prefetchQuery(mfaPolicyQuery(org.id)),
  component: Security,
})

function Security() {
  return (
    <SettingsPage part="Security">
      <SecondFactor />
    </SettingsPage>
  )
}

function SecondFactor() {
  const { org } = Route.useRouteContext()
  const query = useQuery(mfaPolicyQuery(org.id))
  const change = useAction(async (required: boolean) => {
    const policy = await api.mfaPolicy.update({ params: { orgId: org.id }, body: { required } })
    queryClient.setQueryData(mfaPolicyQuery(org.id).queryKey, policy)
  })
  return (
    <Section title="Second factor" description="An authenticator app or a passkey, in addition to signing in.">
      <Loaded query={query}>
        {({ required, configured }) => (
          <Paper>
            <Stack>
              <Switch
                label="Every member needs a second factor"
                description={
                  configured
                    ? 'Members who have not entered one are kept out of this organization until they do. Service tokens are not affected.'
                    : 'This server cannot sign people in, so nobody could enter a second factor.'
                }
                checked={required}
                disabled={change.pending || (!configured && !required)}
                onChange={(event) => change.run(event.currentTarget.checked)}
              />
              <ProblemAlert error={change.error} />
            </Stack>
          </Paper>
        )}
      </Loaded>
    </Section>
  )
}
