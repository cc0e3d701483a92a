import { auditActions } from '@skerry/contract/actions'
import type { AuditFilter } from './queries.ts'

/** The types of resources that audit entries are about, in alphabetical order. */
export const resourceTypes = [...new Set<string>(Object.values(auditActions).map(({ about }) => about))].sort()

/** Drops an action or a type that does not exist, as in an old bookmark. The server would refuse the whole filter. */
export function withKnownNames({ action, resourceType, ...rest }: AuditFilter): AuditFilter {
  return {
    ...rest,
    ...(action !== undefined && Object.hasOwn(auditActions, action) ? { action } : {}),
    ...(resourceType !== undefined && resourceTypes.includes(resourceType) ? { resourceType } : {}),
  }
}
