import type { AuditAction, auditActions } from './audit-actions.ts'

type About = (typeof auditActions)[AuditAction]['about']

/** The groups in which a timeline counts audit entries, in the order in which they are shown. */
export const auditGroups = [
  'secrets',
  'environments',
  'access',
  'people',
  'automation',
  'vault',
  'organization',
] as const

export type AuditGroup = (typeof auditGroups)[number]

/** The group of an entry, by the type of the resource that it is about. */
export const auditGroupOf: Readonly<Record<About, AuditGroup>> = {
  secret: 'secrets',
  change_request: 'secrets',
  application: 'environments',
  group: 'environments',
  environment: 'environments',
  key_grant: 'access',
  service_token: 'access',
  machine_client: 'access',
  honey_token: 'access',
  kms_key: 'access',
  recovery: 'access',
  recovery_request: 'access',
  invitation: 'people',
  user: 'people',
  passkey: 'people',
  sign_in_passkey: 'people',
  session: 'people',
  cli_session: 'people',
  lease_target: 'automation',
  lease: 'automation',
  rotation: 'automation',
  sync_connection: 'automation',
  sync_binding: 'automation',
  sync_run: 'automation',
  agent: 'automation',
  agent_task: 'automation',
  vault_project: 'vault',
  vault_key: 'vault',
  vault_executor: 'vault',
  vault_session: 'vault',
  vault_connection: 'vault',
  vault_webhook: 'vault',
  vault_user: 'vault',
  organization: 'organization',
  billing: 'organization',
  log_sink: 'organization',
}
