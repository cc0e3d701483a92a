import { Box, Paper, Stack, Text, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { Loaded } from '../ui/loaded.tsx'
import { PlanView } from './plan-view.tsx'
import { type PlanSettings, planQuery } from './queries.ts'

/** The destination is asked only after a pause in typing, not at each key press. */
const typingMs = 400

/** Loads what a push would do with the typed settings. `settings` is null until they are complete. */
export function useLivePlan(bindingId: string, settings: PlanSettings | null) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [typed] = useDebouncedValue(JSON.stringify(settings), typingMs)
  const isCurrent = typed === JSON.stringify(settings)
  const query = useQuery({
    ...planQuery(org.id, bindingId, JSON.parse(typed) ?? {}),
    enabled: typed !== 'null',
    placeholderData: keepPreviousData,
  })
  const isFresh = isCurrent && settings !== null && !query.isFetching
  return {
    query,
    /** True if the plan matches the current form. */
    isFresh,
    deletes: isFresh ? (query.data?.plan.delete ?? []) : [],
  }
}

export function LivePlan({ plan: { query, isFresh } }: { plan: ReturnType<typeof useLivePlan> }) {
  return (
    <Paper p="md" component="section" aria-label="What a push does" aria-busy={!isFresh}>
      <Stack gap="sm">
        <Title order={3} size="h5">
          What a push does
        </Title>
        {query.isPending && query.fetchStatus === 'idle' ? (
          <Text size="sm" c="dimmed">
            Fill in the destination first.
          </Text>
        ) : (
          <Box opacity={isFresh ? 1 : 0.6}>
            <Loaded query={query}>{({ plan }) => <PlanView plan={plan} />}</Loaded>
          </Box>
        )}
      </Stack>
    </Paper>
  )
}
