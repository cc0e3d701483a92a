import { Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { Suspense } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { NameAndId, OneLine } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { List, type ListColumn, type RowAction } from '../ui/list.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { timeColumn } from '../ui/relative-time.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { EditAgent } from './lazy.ts'
import { type Agent, agentsQuery } from './queries.ts'

/** Lists the agents of an organization, with the version of each one's policy. */
export function AgentList() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(agentsQuery(org.id))
  const stale = [agentsQuery(org.id)]
  const editing = useDialog<Agent>()
  const removing = useConfirm(({ id, name }: Agent) => ({
    title: `Remove ${name}?`,
    text: 'This also removes its policy, tasks and activity. A proxy that already has the policy uses it until it expires.',
    confirm: 'Remove',
    onConfirm: () => api.agents.delete({ params: { orgId: org.id, agentId: id } }),
    stale,
  }))
  const setEnabled = useAction(
    ({ id, enabled }: Agent) =>
      api.agents.update({ params: { orgId: org.id, agentId: id }, body: { enabled: !enabled } }),
    { stale },
  )
  const actions = (agent: Agent): RowAction[] => [
    { label: 'Edit…', onClick: () => editing.open(agent) },
    {
      label: agent.enabled ? 'Disable' : 'Enable',
      disabled: setEnabled.pending,
      onClick: () => void setEnabled.run(agent),
    },
    { label: 'Remove…', danger: true, onClick: () => removing.open(agent) },
  ]
  return (
    <>
      <ProblemAlert error={setEnabled.error} />
      <List
        label="Agents"
        query={query}
        rows={(agents) => agents}
        columns={columnsOf(org.slug)}
        minWidth={720}
        rowId={({ id }) => id}
        rowName={({ name }) => name}
        actions={actions}
        empty={
          <Empty title="No agent yet" command={`skerry agent create builder --org ${org.slug}`}>
            An agent uses credentials through a proxy and never holds them. You sign a policy that says which requests
            it may send.
          </Empty>
        }
      />
      <Suspense>
        {editing.show((onClose, agent) => (
          <EditAgent agent={agent} onClose={onClose} />
        ))}
      </Suspense>
      {removing.dialog}
    </>
  )
}

const columnsOf = (org: string): ListColumn<Agent>[] => [
  {
    header: 'Agent',
    cell: ({ name, slug }) => (
      <NameAndId
        name={name}
        id={slug}
        link={
          <AnchorLink to="/orgs/$org/agents/$agent" params={{ org, agent: slug }} size="sm" fw={500}>
            {name}
          </AnchorLink>
        }
      />
    ),
    sort: ({ name }) => name,
  },
  {
    header: 'Policy',
    cell: ({ policyVersion }) => <OneLine text={policyVersion === 0 ? 'none' : `version ${policyVersion}`} />,
    sort: ({ policyVersion }) => policyVersion,
    width: 130,
  },
  timeColumn('Last fetched', 'lastPolicyFetchAt', 150),
  {
    header: 'State',
    cell: ({ enabled }) => (
      <Badge color={enabled ? 'sea' : 'gray'} variant="light">
        {enabled ? 'enabled' : 'disabled'}
      </Badge>
    ),
    sort: ({ enabled }) => Number(enabled),
    width: 120,
  },
]
