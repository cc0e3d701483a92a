import { Alert, Badge, Button, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { invalidate, orgQueries } from '../queries.ts'
import { ShownWhenMade, useMade } from '../tokens/shown-when-made.tsx'
import { Empty } from '../ui/empty.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import type { Executor, Project } from './queries.ts'

/** Shows the executor, the program that can decrypt what people enter, and how to register it. */
export function ExecutorSection({ project, executor }: { project: Project; executor: Executor | null }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const code = useMade<string>()
  const params = { orgId: org.id, projectId: project.id }
  const stale = orgQueries(org.id, 'vault')
  const disabling = useConfirm(({ origin }: Executor) => ({
    title: 'Disable the executor?',
    text: `The server refuses ${origin} from now on, and it cannot be enabled again. Nobody can read a credential until an executor that has its keys is registered.`,
    confirm: 'Disable',
    onConfirm: () => api.vaultProjects.disableExecutor({ params }),
    stale: [stale],
  }))
  const mint = useAction(async () => code.show((await api.vaultProjects.createRegistrationCode({ params })).code))
  const done = () => {
    code.forget()
    void invalidate(stale)
  }
  return (
    <Section
      title="Executor"
      description="It runs in your network, and is the only program that can open credentials."
      actions={
        executor && (
          <Button variant="default" onClick={() => disabling.open(executor)}>
            Disable the executor…
          </Button>
        )
      }
    >
      <ProblemAlert error={mint.error} />
      {executor ? (
        <ExecutorCard executor={executor} />
      ) : (
        <Empty
          title="No executor is registered"
          action={
            <Button loading={mint.pending} onClick={() => mint.run()}>
              Register an executor
            </Button>
          }
        >
          Until then, your backend can make no link, and earlier links show that accounts cannot be connected. You get a
          command to run on the machine of the executor. It works once, within ten minutes.
        </Empty>
      )}
      <ShownWhenMade
        title="Register the executor"
        what="command"
        made={code}
        token={code.value && `skerry-executor register --server ${location.origin} --code ${code.value}`}
        onClose={done}
      >
        Run it on the machine of the executor within ten minutes, beside its vault.config.ts. The code works once.
      </ShownWhenMade>
      {disabling.dialog}
    </Section>
  )
}

/** A running executor asks the server for work once a minute. */
const silentAfterMs = 5 * 60_000

const isSilent = ({ status, lastSeenAt, createdAt }: Executor) =>
  status === 'active' && Date.now() - Date.parse(lastSeenAt ?? createdAt) > silentAfterMs

function ExecutorCard({ executor }: { executor: Executor }) {
  const { origin, sdkVersion, lastSeenAt, createdAt, keys, catalog, status } = executor
  return (
    <Paper p="md">
      {isSilent(executor) && (
        <Alert color="yellow" title="The executor does not report" mb="md">
          It should report every minute, but has not reported for more than 5 minutes. Until it does, nobody can connect
          an account, and your product can use none. Check its process and its connection to this server.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Fact name="Origin">
          <Group gap="xs">
            <span className="mono">{origin}</span>
            <Badge color={status === 'active' ? 'sea' : 'red'} variant="light">
              {status}
            </Badge>
          </Group>
        </Fact>
        <Fact name="Last seen">
          <RelativeTime at={lastSeenAt} />
        </Fact>
        <Fact name="Registered">
          <RelativeTime at={createdAt} />, as {sdkVersion}
        </Fact>
        <Fact name="Providers">
          {catalog.providers.map(({ displayName }) => displayName).join(', ') || 'none in its catalog'}
        </Fact>
        <Fact name="Keys">
          {keys.map(({ thumbprint, current }) => (
            <div key={thumbprint}>
              <span className="mono">{thumbprint}</span> {current ? '(current)' : '(earlier)'}
            </div>
          ))}
        </Fact>
      </SimpleGrid>
    </Paper>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Stack gap={2}>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </Stack>
  )
}
