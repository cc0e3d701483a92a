// What each row shows, written once for every query that answers with it.

/** Of applications and groups, which own environments. */
export const ownerColumns = 'id, org_id, name, slug, created_at, updated_at'
export const inviteColumns = 'id, email, role, invited_by_id, created_at, expires_at'

/** Of `environments e`. */
export const environmentColumns = `e.id, e.application_id, e.group_id, e.parent_environment_id, e.name, e.slug,
  e.expires_at, e.created_at, e.updated_at`

/** Of `service_tokens t left join service_token_uses u`. Never the hash. */
export const tokenColumns = `t.id, t.org_id, t.role, t.environment_id, t.name, t.public_key_jwk, t.expires_at,
  u.last_used_at, t.revoked_at, t.created_at`

export const grantColumns = 'id, environment_id, principal_type, principal_id, wrapped_dek, created_at'
