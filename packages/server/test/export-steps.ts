import { exporting } from '@skerry/contract/export/endpoints'
import { known, only, type Step, step, token } from './step.ts'
import type { Tenant } from './tenant.ts'

/** The step that exports the organization with its admin token. */
export const exportSteps = (ids: Record<string, string>, tenant: Tenant): Step[] => [
  step(
    exporting.create,
    'org.exported',
    { as: tenant.admin.as, who: token(tenant.admin) },
    { params: only(ids, {}), resource: known(ids, 'orgId'), body: () => ({ auditLimit: 10 }) },
  ),
]
