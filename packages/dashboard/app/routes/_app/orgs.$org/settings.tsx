import { Button, Group, Paper, Stack, Switch, Text, TextInput } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { useAction } from '../../../action.ts'
import { api } from '../../../api.ts'
import { useApiForm, useSubmit } from '../../../form/use-api-form.ts'
import { queryClient } from '../../../queries.ts'
import { useReloadMe } from '../../../reload-me.ts'
import { CommandLine } from '../../../ui/command-line.tsx'
import { Copy } from '../../../ui/copy.tsx'
import { ForAdmins } from '../../../ui/for-admins.tsx'
import { Form } from '../../../ui/form.tsx'
import { Loaded } from '../../../ui/loaded.tsx'
import { Page, Section } from '../../../ui/page.tsx'
import { ProblemAlert } from '../../../ui/problem.tsx'

const mfaPolicyQuery = (orgId: string) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'mfa-policy'],
    queryFn: ({ signal }) => api.mfaPolicy.get({ params: { orgId } }, { signal }),
  })

export const Route = createFileRoute('/_app/orgs/$org/settings')({
  loader: ({ context: { queryClient, org } }) =>
    org.role === 'member' ? undefined : void queryClient.prefetchQuery(mfaPolicyQuery(org.id)),
  component: Settings,
})

function Settings() {
  const { org } = Route.useRouteContext()
  return (
    <Page title="Settings" description={`Of ${org.name} as a whole.`} width="text">
      <ForAdmins>
        <Name key={org.id} />
        <SecondFactor />
      </ForAdmins>
    </Page>
  )
}

function Name() {
  const { org } = Route.useRouteContext()
  const reloadMe = useReloadMe()
  const form = useApiForm('orgs', 'update', { name: org.name })
  const rename = useSubmit(form, async (body) => {
    await api.orgs.update({ params: { orgId: org.id }, body })
    form.resetDirty()
    await reloadMe()
  })
  return (
    <Section title="Name">
      <Paper>
        <Form onSubmit={() => rename.run()}>
          <Stack>
            <Group align="flex-start" wrap="nowrap">
              <TextInput label="Name of the organization" flex={1} autoComplete="off" {...form.getInputProps('name')} />
              <Button type="submit" mt={24} loading={rename.pending} disabled={!form.isDirty()}>
                Rename
              </Button>
            </Group>
            <ProblemAlert error={rename.error} />
            <Group gap={4}>
              <Text size="sm" c="dimmed">
                The slug stays <span className="mono">{org.slug}</span>; the id is{' '}
                <span className="mono">{org.id}</span>
              </Text>
              <Copy text={org.id} label="Copy the id" />
            </Group>
            <CommandLine command={`skerry org rename "New name" --org ${org.slug}`} />
          </Stack>
        </Form>
      </Paper>
    </Section>
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
    <Section title="Second factor" description="An authenticator app or a passkey, beside what one signs in with.">
      <Loaded query={query}>
        {({ required, configured }) => (
          <Paper>
            <Stack>
              <Switch
                label="Every member needs a second factor"
                description={
                  configured
                    ? 'Whoever has entered none is kept out of this organization until they do. Service tokens are not asked.'
                    : 'This server has no way to sign people in, so none could enter a second factor.'
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
