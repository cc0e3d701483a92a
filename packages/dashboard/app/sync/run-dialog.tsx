import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { isFresh } from '../queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { PlanView } from './plan-view.tsx'
import { type Binding, planQuery, type Run, staleAfterSync } from './queries.ts'
import { RunResults } from './run-results.tsx'

const titles: Record<Run['status'], string> = {
  running: 'The push goes on',
  succeeded: 'Pushed',
  partial: 'Not every name was pushed',
  failed: 'The push failed',
}

/** Shows what a push would do, then its result. The person may let this push overwrite names that others wrote. */
export function RunDialog({ binding, onClose }: { binding: Binding; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(planQuery(org.id, binding.id, {}))
  const [adopted, setAdopted] = useState<ReadonlySet<string>>(new Set())
  const [run, setRun] = useState<Run | null>(null)
  const toggle = (name: string) => {
    const after = new Set(adopted)
    if (!after.delete(name)) after.add(name)
    setAdopted(after)
  }
  const push = useAction(
    async () => {
      const body = adopted.size === 0 ? {} : { adopt: [...adopted] }
      const answer = await api.sync.run({ params: { orgId: org.id, bindingId: binding.id }, body })
      setRun(answer.run)
    },
    { stale: staleAfterSync(org.id) },
  )
  const title = run === null ? 'Push now' : titles[run.status]
  return (
    <Dialog opened onClose={() => push.pending || onClose()} title={title} size="lg">
      <Stack>
        {run === null ? (
          <Loaded query={query}>
            {({ plan }) => <PlanView plan={plan} adopting={{ names: adopted, onToggle: toggle }} />}
          </Loaded>
        ) : (
          <RunResults run={run} />
        )}
        {run?.status === 'running' && <Text size="sm">The list of runs will show the result.</Text>}
        <ProblemAlert error={push.error} />
        <Group justify="flex-end">
          <Button variant="default" disabled={push.pending} onClick={onClose}>
            {run === null ? 'Cancel' : 'Close'}
          </Button>
          {run === null && (
            <Button loading={push.pending} disabled={!isFresh(query)} onClick={() => void push.run()}>
              Push
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  )
}
