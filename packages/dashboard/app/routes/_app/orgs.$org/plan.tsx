import { Alert, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import type { PlanDialogKind } from '../../../plan/dialogs.tsx'
import { Plans } from '../../../plan/plans.tsx'
import { billingQuery } from '../../../plan/queries.ts'
import { Features, UsageList } from '../../../plan/usage.tsx'
import { Page } from '../../../ui/page.tsx'
import { useDialog } from '../../../ui/use-dialog.ts'

// This part of the page is loaded when it first opens.
const PlanDialog = lazy(async () => ({ default: (await import('../../../plan/dialogs.tsx')).PlanDialog }))

export const Route = createFileRoute('/_app/orgs/$org/plan')({
  loader: ({ context: { queryClient, org } }) => void queryClient.prefetchQuery(billingQuery(org.id)),
  component: PlanPage,
})

function PlanPage() {
  const { org } = Route.useRouteContext()
  const query = useQuery(billingQuery(org.id))
  const dialog = useDialog<PlanDialogKind>()
  const billing = query.data
  const isAboveFree = billing?.families.some(({ plan }) => plan.id !== 'free') ?? false
  return (
    <Page
      title="Plan and usage"
      actions={
        org.role !== 'member' && (
          <>
            <Button variant="default" onClick={() => dialog.open('promo')}>
              Redeem a code…
            </Button>
            {isAboveFree && (
              <Button variant="light" color="red" onClick={() => dialog.open('cancel')}>
                Cancel the plan…
              </Button>
            )}
          </>
        )
      }
    >
      {billing && <Plans billing={billing} />}
      {billing && !billing.enforced && (
        <Alert color="gray" variant="light" mb="lg">
          This server enforces no limits: everything is allowed, and the amounts are for information.
        </Alert>
      )}
      <UsageList query={query} />
      {billing && <Features billing={billing} />}
      <Suspense>
        {dialog.show((onClose, kind) => (
          <PlanDialog kind={kind} onClose={onClose} />
        ))}
      </Suspense>
    </Page>
  )
}
