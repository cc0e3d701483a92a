import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: {
    sections: [
      {
        name: 'syncConnections',
        table: 'sync_connections',
        columns: 'id, name, provider, config, status, last_error, created_at, updated_at',
        order: 'id',
        withheld: { wrapped_credential: 'a credential that this server can open' },
        notRestored: { label: 'name', advice: 'Sync connections, whose credentials stayed there; connect again' },
      },
      {
        name: 'syncBindings',
        table: 'sync_bindings',
        columns: `id, connection_id, environment_id, destination, name_transform, include, exclude, on_delete, mode, adopt,
          enabled, last_error, created_at, updated_at`,
        order: 'id',
        withheld: {
          places: 'follow from destination and provider',
          revision: 'is for a run under way',
          taken_digest: 'is what this server pushed',
          failure_streak: 'is about runs of this server',
          told: 'is about mails of this server',
          next_try_at: 'is about runs of this server',
          asked_until: 'is about runs of this server',
        },
        notRestored: { label: 'id', advice: 'Sync bindings, which go with their connections; bind again' },
      },
    ],
    withheld: {
      sync_runs: 'a history of this server’s own doings; the audit log has them',
      sync_ledger: 'digests keyed by this server',
      sync_places: 'runs under way',
      sync_changes: 'runs to come',
      sync_endings: 'audit entries to come',
    },
  },
  auditNames: 'select id, name from sync_connections where org_id = $1',
  notices: {
    'sync.failed': ({ facts: { connection, cause } }) => ({
      type: 'sync_failed',
      to: { adminsExcept: null },
      facts: { connection, cause },
    }),
  },
  usage: { 'sync.connections': 'select count(*) from sync_connections where org_id = $1' },
}
