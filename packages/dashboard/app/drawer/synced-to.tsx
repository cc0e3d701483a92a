import { Text } from '@mantine/core'
import { isIncluded } from '@skerry/contract/sync/names'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import type { Column } from '../secrets/columns.ts'
import { type Binding, bindingsQuery, newestRunQuery, type Run } from '../sync/queries.ts'
import { useDescription } from '../sync/use-binding-names.ts'
import { destinationText } from '../sync/words.ts'

/** The sync destinations of a secret, as a fact. Only admins may list bindings. */
export function SyncedTo({ column, name }: { column: Column; name: string }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return org.role === 'member' ? null : <Destinations orgId={org.id} {...{ column, name }} />
}

function Destinations({ orgId, column, name }: { orgId: string; column: Column; name: string }) {
  const { data: bindings = [] } = useQuery(bindingsQuery(orgId))
  const describe = useDescription(orgId)
  const own = bindings.filter((one) => one.environmentId === column.environmentId && isIncluded(name, one))
  if (own.length === 0) return null
  return (
    <>
      <dt>Synced to</dt>
      <dd>
        {own.map((binding) => (
          <div key={binding.id}>
            {describe(binding)}, <span className="mono">{destinationText(binding)}</span>
            <LastPush {...{ orgId, binding, name }} />
          </div>
        ))}
      </dd>
    </>
  )
}

/** Says why the secret may not be there, or may be another value there. */
function LastPush({ orgId, binding, name }: { orgId: string; binding: Binding; name: string }) {
  const { lastRun, lastError, enabled, mode, nameTransform } = binding
  const { data: run } = useQuery({ ...newestRunQuery(orgId, binding.id), enabled: lastRun !== null })
  const reason = run && reasonIn(run, nameTransform, name)
  if (reason !== undefined) return <Text c="red">{reason}</Text>
  if (lastError !== null) return <Text c="red">The last push failed: {lastError}</Text>
  if (lastRun === null) return <Text c="dimmed">Not pushed yet</Text>
  if (!enabled) return <Text c="dimmed">Paused</Text>
  return mode === 'manual' ? <Text c="dimmed">Pushed only on request</Text> : null
}

/** Why the newest run did not write the secret. A run has the names of the destination, which may be spelled otherwise. */
function reasonIn({ skipped, failures }: Run, { prefix = '', suffix = '' }: Binding['nameTransform'], name: string) {
  const there = spelling(prefix + name + suffix)
  return [...failures, ...skipped].find((one) => spelling(one.name) === there)?.reason
}

const spelling = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '-')
