import type { AuditAction } from '../actions.ts'

/**
 * The callers whom a stream tells of a change. Admins hear of every change of their organization, as in the audit log.
 * The person whom a change concerns and its actor hear of it, too.
 *
 * - `members`: every member may read the changed list with the API.
 * - `holders`: only holders of the environment's key may read it.
 * - `admins`: the rule for every action that has no row here.
 * - `nobody`: reads and refusals, which change nothing.
 */
export type Audience = 'members' | 'holders' | 'admins' | 'nobody'

const audiences: Partial<Record<AuditAction, Audience>> = {
  'org.updated': 'members',
  'org.mfa_policy_updated': 'members',
  'member.joined': 'members',
  'member.role_changed': 'members',
  'member.removed': 'members',
  'user.keys_uploaded': 'members',
  'user.keys_replaced': 'members',
  'app.created': 'members',
  'app.updated': 'members',
  'app.deleted': 'members',
  'env.created': 'members',
  'env.updated': 'members',
  'env.deleted': 'members',
  'env.rekeyed': 'members',
  'env.protection_enabled': 'members',
  'env.protection_updated': 'members',
  'env.protection_disabled': 'members',
  'branch.created': 'members',
  'branch.deleted': 'members',
  'branch.expired': 'members',
  'group.created': 'members',
  'group.updated': 'members',
  'group.deleted': 'members',
  'composition.set': 'members',
  'composition.removed': 'members',
  'key.granted': 'members',
  'key.revoked': 'members',
  'key.expired': 'members',
  'team.created': 'members',
  'team.renamed': 'members',
  'team.deleted': 'members',
  'team.member_added': 'members',
  'team.member_removed': 'members',
  'team.environment_added': 'members',
  'team.environment_removed': 'members',
  'secret.written': 'holders',
  'secret.restored': 'holders',
  'secret.renamed': 'holders',
  'secret.deleted': 'holders',
  'secret.undeleted': 'holders',
  'secret.purged': 'holders',
  'secret.described': 'holders',
  'change_request.opened': 'holders',
  'change_request.approved': 'holders',
  'change_request.applied': 'holders',
  'change_request.superseded': 'holders',
  'change_request.rejected': 'holders',
  'change_request.withdrawn': 'holders',
  'org.exported': 'nobody',
  'env.resolve_denied': 'nobody',
  'billing.portal_opened': 'nobody',
  'machine_client.token_issued': 'nobody',
  'vault.credential.release_denied': 'nobody',
}

/**
 * Returns the audience of an action.
 *
 * @example audienceOf('secret.written') // 'holders'
 */
export const audienceOf = (action: AuditAction): Audience => audiences[action] ?? 'admins'
