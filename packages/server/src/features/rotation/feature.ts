import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { deleteOrphanedPolicies } from './orphaned-policies.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: {
    sections: [
      {
        name: 'rotationPolicies',
        table: 'rotation_policies',
        columns: `id, environment_id, secret_name, kind, config, interval_seconds, target_id, status, last_run_at,
          next_run_at, last_version, last_error, failure_streak, created_at, updated_at`,
        order: 'id',
        withheld: { claimed_by: 'is a run under way', claimed_until: 'is a run under way' },
        notRestored: { label: 'secretName', advice: 'Rotations, whose rotator stayed there; set them up again' },
      },
    ],
    withheld: {
      rotation_accounts: 'follow from the policies and their targets',
      rotation_pending: 'a run under way',
    },
  },
  auditNames: 'select id, secret_name from rotation_policies where org_id = $1',
  notices: {
    'rotation.failed': ({ facts: { environment, secretName } }) => ({
      type: 'rotation_failed',
      to: { adminsExcept: null },
      facts: { environment, secretName },
    }),
  },
  usage: { 'rotation.policies': 'select count(*) from rotation_policies where org_id = $1' },
  environmentsEnded: deleteOrphanedPolicies,
}
