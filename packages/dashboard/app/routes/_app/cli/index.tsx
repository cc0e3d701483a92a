import { Button, Stack, TextInput } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { useApiForm, useSubmit } from '../../../form/use-api-form.ts'
import { Form } from '../../../ui/form.tsx'
import { Page } from '../../../ui/page.tsx'

export const Route = createFileRoute('/_app/cli/')({ component: EnterCode })

function EnterCode() {
  const navigate = Route.useNavigate()
  // The code is typed from the terminal, in upper or lower case.
  const form = useApiForm('cliLogin', 'poll', { code: '' }, ({ code }) => ({ code: code.toUpperCase() }))
  const open = useSubmit(form, ({ code }) => navigate({ to: '/cli/$code', params: { code } }))
  return (
    <Page title="Sign a terminal in" about="Enter the code that skerry login shows." width="text">
      <Form onSubmit={() => open.run()}>
        <Stack maw={280}>
          <TextInput
            label="Code"
            placeholder="WDJB-MJHT"
            autoComplete="off"
            autoFocus
            {...form.getInputProps('code')}
          />
          <Button type="submit">Continue</Button>
        </Stack>
      </Form>
    </Page>
  )
}
