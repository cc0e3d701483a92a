import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: {
    sections: [
      {
        name: 'agents',
        table: 'agents',
        columns: `id, name, slug, environment_id, lost_environment_id, loss_recorded, enabled, policy_version,
          last_policy_fetch_at, created_by_type, created_by_id, created_at, updated_at`,
        order: 'id',
      },
      {
        name: 'agentPolicies',
        table: 'agent_policies',
        columns: `agent_id, version, bundle, signed_version, signer_thumbprint, signer_user_id, rolled_back_from, expires_at,
          rules, created_at`,
        order: 'agent_id, version',
      },
    ],
    withheld: {},
  },
  auditNames: 'select id, name from agents where org_id = $1',
  usage: { agents: 'select count(*) from agents where org_id = $1' },
}
