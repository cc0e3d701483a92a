import { Button, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { ProblemAlert } from '../ui/problem.tsx'
import type { Billing } from './queries.ts'

type Family = Billing['families'][number]

/** Shows the plan of each product family, and how to pay for a higher one. */
export function Plans({ billing }: { billing: Billing }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { families, manage } = billing
  const isAdmin = org.role !== 'member'
  const leave = useAction(async (family: Family['plan']['family'] | null) => {
    const params = { orgId: org.id }
    const { url } = await (family === null
      ? api.billing.portal({ params })
      : api.billing.checkout({ params, body: { family } }))
    location.assign(url)
  })
  return (
    <Stack mb="xl">
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {families.map((one) => (
          <Paper key={one.plan.family} p="md">
            <Text size="xs" c="dimmed">
              {familyNames[one.plan.family]}
            </Text>
            <Text fw={600}>{one.plan.name}</Text>
            <Text size="sm" c="dimmed">
              {termsOf(one)}
            </Text>
            {isAdmin && manage.checkoutFamilies.includes(one.plan.family) && one.subscription?.status !== 'active' && (
              <Group mt="sm">
                <Button variant="default" size="xs" loading={leave.pending} onClick={() => leave.run(one.plan.family)}>
                  Pay for a higher plan
                </Button>
              </Group>
            )}
          </Paper>
        ))}
      </SimpleGrid>
      <ProblemAlert error={leave.error} />
      {isAdmin && manage.portal && (
        <Group>
          <Button variant="default" loading={leave.pending} onClick={() => leave.run(null)}>
            Invoices and payments
          </Button>
        </Group>
      )}
    </Stack>
  )
}

const familyNames: Record<Family['plan']['family'], string> = { platform: 'Platform', vault: 'Credential vault' }

function termsOf({ plan, subscription, promo }: Family): string {
  const day = (at: string) => new Date(at).toLocaleDateString('en', { dateStyle: 'medium' })
  if (plan.price) {
    const { amount, currency, interval } = plan.price
    const money = new Intl.NumberFormat('en', { style: 'currency', currency }).format(amount / 100)
    const until = subscription?.currentPeriodEnd ? `, paid until ${day(subscription.currentPeriodEnd)}` : ''
    return `${money} a ${interval}${until}`
  }
  if (promo) return `With the code ${promo.code}${promo.endsAt ? `, until ${day(promo.endsAt)}` : ''}`
  return 'Free.'
}
