import type { Descriptor } from '../descriptor.ts'
import { jobs as connectJobs } from './connect/jobs.ts'
import { routes as connect } from './connect/routes.ts'
import { routes as executor } from './executor/routes.ts'
import { routes as platform } from './platform/routes.ts'
import { routes as projects } from './projects/routes.ts'
import { routes as users } from './users/routes.ts'
import { subscribers, jobs as webhookJobs } from './webhooks/jobs.ts'
import { routes as webhooks } from './webhooks/routes.ts'

const ofEndUsers = 'belongs to end users, whose executor is registered with this server'

export const feature: Descriptor = {
  routes: [...projects, ...users, ...webhooks, ...platform, ...connect, ...executor],
  jobs: [...connectJobs, ...webhookJobs],
  subscribers,
  archive: {
    sections: [],
    withheld: {
      vault_projects: ofEndUsers,
      vault_keys: ofEndUsers,
      vault_registration_codes: ofEndUsers,
      vault_executors: ofEndUsers,
      vault_wrapping_keys: ofEndUsers,
      vault_uses: ofEndUsers,
      vault_sessions: ofEndUsers,
      vault_connections: ofEndUsers,
      vault_credentials: ofEndUsers,
      vault_webhooks: ofEndUsers,
      vault_deliveries: ofEndUsers,
    },
  },
  notices: {
    'vault.webhook.disabled': ({ facts: { host, error } }) => ({
      type: 'vault_webhook_disabled',
      to: { adminsExcept: null },
      facts: { host, error },
    }),
  },
  usage: {
    'vault.projects': 'select count(*) from vault_projects where org_id = $1',
    // A usable link already counts as a connection, so that the quota cannot run out for a person who follows it.
    'vault.connections.max': `select (select count(*) from vault_connections where org_id = $1 and status <> 'revoked')
                                   + (select count(*) from vault_sessions where org_id = $1 and status = 'pending'
                                         and purpose = 'connect' and expires_at > $2)`,
  },
}
