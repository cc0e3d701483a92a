import { Alert, Button } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { IconCheck, IconTriangleAlert } from '../ui/icons.ts'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'

type Outcome = Awaited<ReturnType<typeof api.logSink.test>>

/** Sends a test record at once. The result stays visible while the page is open. */
export function TestRecord() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const test = useAction(async () => {
    setOutcome(null)
    setOutcome(await api.logSink.test({ params: { orgId: org.id } }))
  })
  return (
    <Section
      title="Test"
      description="Sends one sample record at once, even while the sink is disabled. The audit log records the test."
      actions={
        <Button variant="default" loading={test.pending} onClick={() => test.run()}>
          Send a test record
        </Button>
      }
    >
      <div role="status">{outcome && <Told outcome={outcome} />}</div>
      <ProblemAlert error={test.error} />
    </Section>
  )
}

function Told({ outcome: { ok, status, error } }: { outcome: Outcome }) {
  if (ok)
    return (
      <Alert color="sea" variant="light" icon={<IconCheck size={18} />} title="The collector accepted the record">
        It answered {status}. Look for <span className="mono">log_sink.tested</span> there.
      </Alert>
    )
  return (
    <Alert
      color="red"
      variant="light"
      icon={<IconTriangleAlert size={18} />}
      title="The collector did not accept the record"
    >
      {error}
    </Alert>
  )
}
