import type { Descriptor } from '../descriptor.ts'
import { jobs } from './jobs.ts'
import { routes } from './routes.ts'

export const feature: Descriptor = {
  routes,
  jobs,
  archive: {
    sections: [],
    withheld: {
      audit_leaves: 'follow from the entries; of one that is gone, `auditGaps` has the hash',
      audit_archives: '`auditProof` has them',
      audit_trees: 'follow from the leaves; `auditProof` has the checkpoint',
      audit_nodes: 'follow from the leaves',
    },
  },
}
