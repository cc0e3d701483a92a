import { Button, Stack, Text, TextInput } from '@mantine/core'
import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { useLinkToken } from '../link-token.ts'
import { session } from '../session.ts'
import { slugOf } from '../slug.ts'
import { Entrance } from '../ui/entrance.tsx'
import { Form } from '../ui/form.tsx'
import { ProblemAlert } from '../ui/problem.tsx'

export const Route = createFileRoute('/set-up')({ component: SetUp })

function SetUp() {
  const token = useLinkToken()
  if (token === '')
    return (
      <Entrance title="Set this server up">
        <Text size="sm">
          Open the whole link that the server wrote to its console. What comes after the # is missing here.
        </Text>
      </Entrance>
    )
  return <FirstPerson token={token} />
}

function FirstPerson({ token }: { token: string }) {
  const [fields, setFields] = useState({ email: '', name: '', orgName: '', orgSlug: '' })
  const navigate = useNavigate()
  const field = (name: keyof typeof fields) => ({
    required: true,
    withAsterisk: false,
    value: fields[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      setFields({ ...fields, [name]: event.currentTarget.value }),
  })
  const orgSlug = fields.orgSlug || slugOf(fields.orgName)
  const action = useAction(async () => {
    const signedIn = await api.signIn.setUp({ body: { ...fields, orgSlug, token } })
    session.begin(signedIn.session)
    await navigate({ to: '/account/keyring' })
  })
  return (
    <Entrance title="Set this server up">
      <Text size="sm" c="dimmed">
        You become the first person here and the owner of the first organization.
      </Text>
      <Form onSubmit={() => action.run()}>
        <Stack gap="sm">
          <TextInput label="Your e-mail" type="email" autoComplete="email" autoFocus {...field('email')} />
          <TextInput label="Your name" autoComplete="name" {...field('name')} />
          <TextInput label="Organization" autoComplete="organization" {...field('orgName')} />
          <TextInput
            label="Its slug"
            description="In addresses and commands. It never changes."
            {...field('orgSlug')}
            value={orgSlug}
          />
          <ProblemAlert error={action.error} />
          <Button type="submit" fullWidth loading={action.pending}>
            Begin
          </Button>
        </Stack>
      </Form>
    </Entrance>
  )
}
