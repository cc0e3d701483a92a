import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: {
    sections: [
      {
        name: 'leaseTargets',
        table: 'lease_targets',
        columns: 'id, name, provider, config, status, last_error, server, notes, created_at, updated_at',
        order: 'id',
        withheld: {
          wrapped_admin_secret: 'a credential that this server can open',
          child_failures: 'counts failures of processes of this server',
        },
        notRestored: { label: 'name', advice: 'Lease targets, whose credentials stayed there; add them again' },
      },
    ],
    withheld: {
      leases: 'accounts on targets, which this server removes',
      provisioner_jobs: 'work under way',
    },
  },
  auditNames: 'select id, name from lease_targets where org_id = $1',
  notices: {
    'lease.orphaned': ({ facts }) => ({ type: 'lease_orphaned', to: { adminsExcept: null }, facts }),
    'lease_target.paused': ({ facts: { target, reason } }) => ({
      type: 'lease_target_paused',
      to: { adminsExcept: null },
      facts: { target, reason },
    }),
  },
  usage: {
    'leases.active': `select count(*) from leases
                       where org_id = $1 and status in ('pending', 'creating', 'active', 'revoking')`,
  },
}
