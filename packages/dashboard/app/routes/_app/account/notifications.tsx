import { Stack, Switch } from '@mantine/core'
import { type NotificationType, notificationTypes } from '@skerry/contract/notifications/types'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { AccountPage } from '../../../account/account-page.tsx'
import { useAction } from '../../../action.ts'
import { api } from '../../../api.ts'
import { queryClient } from '../../../queries.ts'
import { Loaded } from '../../../ui/loaded.tsx'
import { ProblemAlert } from '../../../ui/problem.tsx'

const notificationsQuery = queryOptions({
  queryKey: ['me', 'notifications'],
  queryFn: ({ signal }) => api.notifications.get({}, { signal }),
})

export const Route = createFileRoute('/_app/account/notifications')({
  loader: ({ context }) => void context.queryClient.prefetchQuery(notificationsQuery),
  component: Notifications,
})

const types = Object.entries(notificationTypes) as [NotificationType, { when: string }][]

function Notifications() {
  const query = useQuery(notificationsQuery)
  const change = useAction(async (type: NotificationType, wanted: boolean) => {
    const answer = await api.notifications.put({ body: { prefs: { [type]: wanted } } })
    queryClient.setQueryData(notificationsQuery.queryKey, answer)
  })
  return (
    <AccountPage part="Notifications">
      <Stack>
        <Loaded query={query}>
          {({ prefs }) =>
            types.map(([type, { when }]) => (
              <Switch
                key={type}
                label={`When ${when}`}
                checked={prefs[type]}
                disabled={change.pending}
                onChange={(event) => change.run(type, event.currentTarget.checked)}
              />
            ))
          }
        </Loaded>
        <ProblemAlert error={change.error} />
      </Stack>
    </AccountPage>
  )
}
