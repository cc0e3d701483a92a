import { Badge, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { Suspense } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { useMade } from '../tokens/shown-when-made.tsx'
import { OneLine, TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import type { Dispatched } from './dispatch-dialog.tsx'
import { DispatchDialog, NewTask } from './lazy.ts'
import { type Agent, type AgentTask, policiesQuery, tasksQuery } from './queries.ts'

/** The tasks of the agent, the newest first. */
export function Tasks({ agent }: { agent: Agent }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(tasksQuery(org.id, agent.id))
  const { data: policies } = useQuery(policiesQuery(org.id, agent.id))
  const dispatching = useDialog()
  const made = useMade<Dispatched>()
  const revoke = useAction(({ id }: AgentTask) => api.tasks.revoke({ params: { taskId: id } }), {
    stale: [tasksQuery(org.id, agent.id)],
  })
  return (
    <Section
      title="Tasks"
      description="A task can narrow the policy, but never widen it. Proxies learn within 30 seconds that a task has ended."
      actions={
        <Button
          variant="default"
          disabled={!agent.enabled || agent.policyVersion === 0}
          onClick={() => dispatching.open()}
        >
          Dispatch a task
        </Button>
      }
    >
      <ProblemAlert error={revoke.error} />
      <List
        label="Tasks"
        query={query}
        rows={(tasks) => tasks}
        columns={columns}
        minWidth={720}
        rowId={({ id }) => id}
        rowName={({ label, id }) => label ?? id}
        action={(task) => ({
          label: 'Revoke',
          danger: true,
          disabled: revoke.pending || task.status !== 'active',
          onClick: () => void revoke.run(task),
        })}
        empty={
          <Empty title="No task yet" command={`skerry agent dispatch ${agent.slug} --ttl 15m --org ${org.slug}`} />
        }
      />
      <Suspense>
        {made.isShown ? (
          <NewTask made={made.value} host={policies?.[0]?.rules[0]?.host ?? 'api.example.com'} onClose={made.forget} />
        ) : (
          dispatching.show((onClose) => <DispatchDialog agent={agent} onClose={onClose} onMade={made.show} />)
        )}
      </Suspense>
    </Section>
  )
}

const colors: Record<AgentTask['status'], string> = { active: 'sea', expired: 'gray', revoked: 'red' }

const columns: ListColumn<AgentTask>[] = [
  {
    header: 'Task',
    cell: ({ label, id }) => (
      <TwoLines main={label ?? id} below={label === null ? null : <span className="mono">{id}</span>} />
    ),
  },
  {
    header: 'Secrets',
    cell: ({ scopes }) => (
      <OneLine text={scopes === null ? 'all of the policy' : scopes.length === 0 ? 'none' : scopes.join(', ')} />
    ),
  },
  { header: 'Last seen', cell: ({ lastSeenAt }) => <RelativeTime at={lastSeenAt} />, width: 130 },
  { header: 'Ends', cell: ({ expiresAt }) => <RelativeTime at={expiresAt} />, width: 130 },
  {
    header: 'State',
    cell: ({ status }) => (
      <Badge color={colors[status]} variant="light">
        {status}
      </Badge>
    ),
    width: 110,
  },
]
