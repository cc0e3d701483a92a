import { Alert, List, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { IconRefresh } from '../ui/icons.ts'
import { AnchorLink } from '../ui/links.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { dismissRemovals, rekeyDueQuery, useDismissed } from './rekey-due.ts'

/**
 * Lists for admins the environments whose key a former holder may have kept. It stays until they are re-keyed or the
 * notice is dismissed.
 */
export function RekeyList() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data, error } = useQuery(rekeyDueQuery(org.id))
  const dismissed = useDismissed()
  const due = (data ?? []).filter(({ entryIds }) => entryIds.some((id) => !dismissed.has(id)))
  if (error) return <ProblemAlert error={error} />
  if (due.length === 0) return null
  return (
    <Alert
      color="yellow"
      variant="light"
      mb="lg"
      icon={<IconRefresh size={18} />}
      title="Former holders may have kept keys"
      withCloseButton
      closeButtonLabel="Dismiss"
      onClose={() => dismissRemovals(due.flatMap(({ entryIds }) => entryIds))}
    >
      <Text size="sm">Re-key these environments, then change the values that former holders must not know:</Text>
      <List size="sm" mt={4}>
        {due.map(({ environmentId, label, who }) => (
          <List.Item key={environmentId}>
            <AnchorLink to="/orgs/$org/envs/$env" params={{ org: org.slug, env: environmentId }} size="sm">
              Re-key {label}
            </AnchorLink>{' '}
            <Text span size="sm" c="dimmed">
              {who.join(', ')} had the key
            </Text>
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
