import type { LiveChange } from '@skerry/sdk/live'
import { queryClient, type Stale } from '../queries.ts'

type Parts = readonly string[]

/** The ends of the query keys, after the organization, that a change of a resource makes stale. */
const partsOf: Record<string, (change: LiveChange) => readonly Parts[]> = {
  secret: (change) => [['deleted-secrets'], ...inEnvironment(change)],
  change_request: (change) => [['changes'], ...inEnvironment(change)],
  environment: (change) => [
    ['apps'],
    ['groups'],
    ['owners'],
    ['places'],
    ['own-holdings'],
    ['teams'],
    ['access-requests'],
    ['missing-grants'],
    ...inEnvironment(change),
  ],
  application: () => [['apps'], ['owners'], ['places'], ['teams']],
  group: () => [['groups'], ['owners'], ['places'], ['envs'], ['teams']],
  key_grant: (change) => [
    ['apps'],
    ['groups'],
    ['owners'],
    ['own-holdings'],
    ['holdings'],
    ['access'],
    ['access-requests'],
    ['teams'],
    ['missing-grants'],
    ...inEnvironment(change),
  ],
  access_request: () => [['access-requests'], ['missing-grants']],
  team: () => [['teams'], ['rekey-due'], ['missing-grants']],
  user: () => [['members'], ['owners'], ['invites'], ['teams'], ['access-requests'], ['missing-grants']],
  invitation: () => [['invites']],
  planned_grant: () => [['invites']],
  service_token: () => [['tokens']],
  machine_client: () => [['clients']],
  honey_token: () => [['honey-tokens']],
  kms_key: () => [['kms']],
  lease: () => [['leases']],
  lease_target: () => [['leases']],
  rotation: () => [['rotation']],
  sync_connection: () => [['sync']],
  sync_binding: () => [['sync']],
  sync_run: () => [['sync']],
  agent: () => [['agents']],
  agent_task: () => [['agents']],
  billing: () => [['billing']],
  log_sink: () => [['log-sink']],
  recovery: () => [['recovery']],
  recovery_request: () => [['recovery']],
  organization: () => [['mfa-policy']],
  offboarding: () => [['offboardings'], ['rekey-due']],
}

function inEnvironment({ environmentId }: LiveChange): readonly Parts[] {
  return environmentId === undefined ? [['envs']] : [['envs', environmentId], ['below'], ['rekey-due']]
}

/** Returns the queries that a change makes stale. Vault resources have many types, and one key. Each change adds an audit entry. */
export function staleBy(orgId: string, change: LiveChange): Stale[] {
  const parts = change.resourceType.startsWith('vault_') ? [['vault']] : (partsOf[change.resourceType]?.(change) ?? [])
  return [...parts, ['new-entries']].map((part) => ({ queryKey: ['orgs', orgId, ...part] }))
}

/**
 * Reloads queries that were answered before an event came. The page has already reloaded what it changed itself, and
 * drops no input: a reload replaces only the server’s answers.
 */
export function reload(stale: readonly Stale[], receivedAtMs: number): void {
  for (const { queryKey } of stale) {
    const isOlder = ({ state }: { state: { dataUpdatedAt: number } }) => state.dataUpdatedAt <= receivedAtMs
    queryClient.removeQueries({ queryKey, type: 'inactive', fetchStatus: 'idle', predicate: isOlder })
    void queryClient.invalidateQueries({ queryKey, predicate: isOlder })
  }
}
