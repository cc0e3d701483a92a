import type { PolicyRule } from '@skerry/contract/agents/policy-body'
import { decide, type Operation } from '@skerry/crypto/policy-decide'
import { isAmbiguousPath } from '@skerry/crypto/policy-path-form'

/**
 * Whether rules that restrict, such as those of approvals, apply to a request. A path that an upstream could read as
 * another one counts as a match. `decide` says that such a path matches nothing, which is safe only for rules that
 * permit.
 */
export const mayMatch = (rules: readonly PolicyRule[], operation: Operation): boolean => {
  const asked = isAmbiguousPath(operation.path.split('?', 1)[0]!)
    ? rules.map((rule) => ({ ...rule, paths: [] }))
    : rules
  return decide(asked, operation).decision === 'allow'
}
