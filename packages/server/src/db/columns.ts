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

/** Never the hash, which is in the row of the service token. */
export const honeyTokenColumns = `id, token_id, placement, trip_count, last_trip_at, last_trip_ip, last_trip_user_agent,
  created_at`

export const grantColumns = 'id, environment_id, principal_type, principal_id, wrapped_dek, created_at'

/** Of `environments e`: null where it is not protected. */
export const protectionColumn = `case when e.required_approvals is not null then json_build_object(
  'requiredApprovals', e.required_approvals, 'allowSelfApproval', e.allow_self_approval) end as protection`

/**
 * Of `change_requests c left join key_grants k`, the caller's own. Whoever holds no grant may have held one: such a
 * caller still has the key, and must not get what was sealed with it since.
 */
export const changeColumns = `c.id, c.environment_id, c.secret_name, c.action,
  case when k.id is not null then c.ciphertext end as ciphertext, c.restore_version, c.base_version, c.note,
  c.proposed_by_type, c.proposed_by_id, c.required_approvals, c.allow_self_approval, c.status, c.created_at, c.closed_at`
