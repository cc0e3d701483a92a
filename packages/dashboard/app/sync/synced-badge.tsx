import { Badge, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { IconCloudUpload } from '../ui/icons.ts'
import { type Binding, bindingsQuery } from './queries.ts'

/**
 * A badge for an environment that is synced somewhere. Only owners and admins see it, because others may not list
 * bindings.
 */
export function SyncedBadge({ environmentId, isIcon = false }: { environmentId: string; isIcon?: boolean }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery({ ...bindingsQuery(org.id), enabled: org.role !== 'member' })
  const bound = query.data?.filter((binding) => binding.environmentId === environmentId) ?? []
  if (bound.length === 0) return null
  const isFailing = bound.some(fails)
  const count = bound.length === 1 ? 'one destination' : `${bound.length} destinations`
  const says = `Synced to ${count}${isFailing ? ': the last push has failed' : ''}`
  return (
    <Tooltip label={says} withArrow>
      {isIcon ? (
        <IconCloudUpload
          size={14}
          aria-label={says}
          style={{ flex: 'none' }}
          {...(isFailing ? { color: 'red' } : {})}
        />
      ) : (
        <Badge size="sm" color={isFailing ? 'red' : 'sea'} variant="light" aria-label={says}>
          synced
        </Badge>
      )}
    </Tooltip>
  )
}

const fails = ({ lastRun, lastError }: Binding) => lastError !== null || lastRun?.status === 'partial'
