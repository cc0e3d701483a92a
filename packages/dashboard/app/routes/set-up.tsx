import { Button, Stack, Text, TextInput } from '@mantine/core'
import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { api } from '../api.ts'
import { useApiForm, useSubmit } from '../form/use-api-form.ts'
import { useLinkToken } from '../link-token.ts'
import { fetchCached, meQuery } from '../queries.ts'
import { session } from '../session.ts'
import { slugOf } from '../slug.ts'
import { beginStart } from '../start/use-start.ts'
import { Form } from '../ui/form.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { StandalonePage } from '../ui/standalone-page.tsx'

export const Route = createFileRoute('/set-up')({ component: SetUp })

function SetUp() {
  const token = useLinkToken()
  if (token === '')
    return (
      <StandalonePage title="Set this server up">
        <Text size="sm">
          Open the complete link that the server printed to its console. The part after the # is missing here.
        </Text>
      </StandalonePage>
    )
  return <FirstPerson token={token} />
}

function FirstPerson({ token }: { token: string }) {
  const form = useApiForm('signIn', 'setUp', { email: '', name: '', orgName: '', orgSlug: '' }, (values) => ({
    ...values,
    orgSlug: values.orgSlug || slugOf(values.orgName),
  }))
  const navigate = useNavigate()
  const action = useSubmit(form, async (body) => {
    const signedIn = await api.signIn.setUp({ body: { ...body, token } })
    session.begin(signedIn.session)
    const [org] = (await fetchCached(meQuery)).orgs
    if (org) beginStart(org.id)
    await navigate(org ? { to: '/orgs/$org/start', params: { org: org.slug } } : { to: '/' })
  })
  return (
    <StandalonePage title="Set this server up">
      <Text size="sm" c="dimmed">
        You become the first person here and the owner of a new organization. If you already made an organization with
        skerry signup, do not continue here: run skerry invite create with your e-mail and --role admin.
      </Text>
      <Form onSubmit={() => action.run()}>
        <Stack gap="sm">
          <TextInput label="Your e-mail" type="email" autoComplete="email" autoFocus {...form.getInputProps('email')} />
          <TextInput label="Your name" autoComplete="name" {...form.getInputProps('name')} />
          <TextInput label="Organization" autoComplete="organization" {...form.getInputProps('orgName')} />
          <TextInput
            label="Its slug"
            description="Used in addresses and commands. It never changes."
            {...form.getInputProps('orgSlug')}
            value={form.values.orgSlug || slugOf(form.values.orgName)}
          />
          <ProblemAlert error={action.error} />
          <Button type="submit" fullWidth loading={action.pending}>
            Set up
          </Button>
        </Stack>
      </Form>
    </StandalonePage>
  )
}
