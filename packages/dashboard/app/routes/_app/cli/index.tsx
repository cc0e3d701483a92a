import { Button, Stack, TextInput } from '@mantine/core'
import { createFileRoute } from '@tanstack/react-router'
import { useState } from 'react'
import { Form } from '../../../ui/form.tsx'
import { Page } from '../../../ui/page.tsx'

export const Route = createFileRoute('/_app/cli/')({ component: EnterCode })

function EnterCode() {
  const navigate = Route.useNavigate()
  const [code, setCode] = useState('')
  return (
    <Page title="Sign a terminal in" description="Enter the code that skerry login shows." width="text">
      <Form onSubmit={() => void navigate({ to: '/cli/$code', params: { code: code.trim().toUpperCase() } })}>
        <Stack maw={280}>
          <TextInput
            label="Code"
            placeholder="WDJB-MJHT"
            value={code}
            onChange={(event) => setCode(event.currentTarget.value)}
            autoComplete="off"
            autoFocus
            required
            withAsterisk={false}
          />
          <Button type="submit">Continue</Button>
        </Stack>
      </Form>
    </Page>
  )
}
