import { Alert, Badge, Button, Group, Paper, Stack, Table, Text } from '@mantine/core'
import type { cliLogin } from '@skerry/contract/cli-login/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAction } from '../../../action.ts'
import { api } from '../../../api.ts'
import { Loaded } from '../../../ui/loaded.tsx'
import { Page } from '../../../ui/page.tsx'
import { ProblemAlert } from '../../../ui/problem.tsx'
import { RelativeTime } from '../../../ui/relative-time.tsx'

const requestQuery = (code: string) =>
  queryOptions({
    queryKey: ['cli-login', code],
    queryFn: ({ signal }) => api.cliLogin.get({ params: { code } }, { signal }),
  })

export const Route = createFileRoute('/_app/cli/$code')({
  loader: ({ context, params }) => void context.queryClient.prefetchQuery(requestQuery(params.code)),
  component: Approval,
})

type Request = Answer<typeof cliLogin.get>['request']

function Approval() {
  const { code } = Route.useParams()
  const query = useQuery(requestQuery(code))
  return (
    <Page
      title="A terminal asks to sign in as you"
      about="Approve it only if you have just run skerry login yourself, and it shows this code."
      width="text"
    >
      <Loaded query={query}>{({ request }) => <Asked request={request} />}</Loaded>
    </Page>
  )
}

function Asked({ request }: { request: Request }) {
  const { me } = Route.useRouteContext()
  const params = { code: request.code }
  const decide = useAction((how: 'approve' | 'deny') => api.cliLogin[how]({ params }), {
    stale: [requestQuery(request.code)],
  })
  const over = outcomes[request.status]
  return (
    <Stack>
      <Paper>
        <Text ta="center" className="mono" fz={28} fw={600} mb="md">
          {request.code}
        </Text>
        <Table withRowBorders={false} verticalSpacing={6} highlightOnHover={false}>
          <Table.Tbody>
            <Fact name="It calls itself" unverified>
              {request.deviceLabel}
            </Fact>
            <Fact name="Program" unverified>
              {request.client ?? 'does not say'}
            </Fact>
            <Fact name="Address">
              <span className="mono">{request.ipAddress ?? 'unknown'}</span>
            </Fact>
            <Fact name="Asked">
              <RelativeTime at={request.createdAt} />
            </Fact>
            <Fact name="It would act as">{me.user?.email ?? me.user?.name}</Fact>
          </Table.Tbody>
        </Table>
      </Paper>
      {over ? (
        <Alert color={over.color} title={over.title}>
          {over.text}
        </Alert>
      ) : (
        <Group justify="flex-end">
          <Button variant="default" disabled={decide.pending} onClick={() => decide.run('deny')}>
            Deny
          </Button>
          <Button loading={decide.pending} onClick={() => decide.run('approve')}>
            Approve
          </Button>
        </Group>
      )}
      <ProblemAlert error={decide.error} />
    </Stack>
  )
}

const outcomes = {
  pending: null,
  approved: {
    color: 'sea',
    title: 'Approved',
    text: 'Go back to the terminal: it is signed in. You can close this page.',
  },
  denied: { color: 'gray', title: 'Denied', text: 'The terminal has not been signed in.' },
  expired: { color: 'gray', title: 'The code has expired', text: 'Run skerry login again for another code.' },
}

function Fact({ name, unverified = false, children }: { name: string; unverified?: boolean; children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th w={150} fw={400} c="dimmed">
        {name}
      </Table.Th>
      <Table.Td>
        <Group gap="xs">
          <span>{children}</span>
          {unverified && (
            <Badge
              color="orange"
              variant="light"
              size="sm"
              title="The terminal sent this text, and could send any other"
            >
              unverified
            </Badge>
          )}
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}
