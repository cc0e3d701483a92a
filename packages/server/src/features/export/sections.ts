// What an archive holds, as a table: a table of the database that is in no row here is in `withheld`, with the reason.

/** Rows of one kind, of one table. */
export interface Section {
  /** The key in `data`. */
  name: string
  table: string
  /** All that there are, but for `org_id` and those that `withheldColumns` names. */
  columns: string
  order: string
  /** Of `t`, where not all rows of the organization are meant. */
  where?: string
  /** False where its rows are of no use in another server. */
  isRestored?: false
  /** What stands in it, and is said to an operator of a row that is not restored. */
  label?: string
  /** Columns that no archive has and that must not be empty, with the SQL that fills them. */
  filled?: { columns: string; sql: string }
}

/** In the order in which they can be inserted again. Users and the audit trail come from several tables: `queries.ts` has them. */
export const sections: readonly Section[] = [
  {
    name: 'memberships',
    table: 'memberships',
    columns: 'user_id, role, created_at',
    order: 'user_id',
  },
  {
    name: 'invitations',
    table: 'invitations',
    columns: 'id, email, role, invited_by_id, created_at, expires_at',
    order: 'id',
  },
  {
    name: 'machineClients',
    table: 'machine_clients',
    columns: 'id, name, created_at, revoked_at',
    order: 'id',
    isRestored: false,
    label: 'name',
  },
  {
    name: 'applications',
    table: 'applications',
    columns: 'id, name, slug, created_at, updated_at',
    order: 'id',
  },
  {
    name: 'groups',
    table: 'groups',
    columns: 'id, name, slug, created_at, updated_at',
    order: 'id',
  },
  {
    name: 'environments',
    table: 'environments',
    columns: `id, application_id, group_id, parent_environment_id, name, slug, expires_at, required_approvals,
      allow_self_approval, created_at, updated_at`,
    // Branches after what they branch from.
    order: 'parent_environment_id nulls first, id',
  },
  {
    name: 'compositions',
    table: 'compositions',
    columns: 'environment_id, group_id, position',
    order: 'environment_id, group_id',
  },
  {
    name: 'serviceTokens',
    table: 'service_tokens',
    columns: `id, name, role, environment_id, public_key_jwk, created_by_type, created_by_id, created_at, expires_at,
      expires_at_given, revoked_at`,
    order: 'id',
    // No hash of anything has this form: the holder registers it again.
    filled: { columns: 'token_hash', sql: `'unregistered ' || id` },
    // Neither decoys nor tokens that were deleted for good.
    where: 't.deleted_at is null',
  },
  {
    name: 'honeyTokens',
    table: 'honey_tokens',
    columns: `id, token_id, placement, trip_count, last_trip_at, last_trip_ip, last_trip_user_agent, created_at`,
    order: 'id',
    isRestored: false,
    label: 'placement',
  },
  {
    name: 'keyGrants',
    table: 'key_grants',
    columns:
      'id, environment_id, principal_type, principal_id, wrapped_dek, granted_by_type, granted_by_id, created_at',
    order: 'id',
  },
  {
    name: 'secrets',
    table: 'secrets',
    columns: 'id, environment_id, name, current_version, ciphertext, key_since_version, created_at, updated_at',
    order: 'id',
  },
  {
    name: 'secretVersions',
    table: 'secret_versions',
    columns: 'secret_id, version, ciphertext, created_by_type, created_by_id, restored_from_version, created_at',
    order: 'secret_id, version',
  },
  {
    name: 'changeRequests',
    table: 'change_requests',
    columns: `id, environment_id, secret_name, action, ciphertext, restore_version, base_secret_id, base_version, note,
      proposed_by_type, proposed_by_id, required_approvals, allow_self_approval, status, created_at, closed_at, group_id,
      group_size`,
    order: 'id',
  },
  {
    name: 'changeReviews',
    table: 'change_reviews',
    columns: 'id, change_request_id, reviewer_id, decision, comment, created_at',
    order: 'id',
  },
  {
    name: 'kmsKeys',
    table: 'kms_keys',
    columns: `id, name, purpose, spec, application_id, group_id, current_version, disabled_at, deleted_at, created_at,
      updated_at`,
    order: 'id',
  },
  {
    name: 'kmsKeyVersions',
    table: 'kms_key_versions',
    columns: 'key_id, version, public_key_jwk, created_at',
    order: 'key_id, version',
  },
  {
    name: 'kmsGrants',
    table: 'kms_grants',
    columns: 'key_id, version, principal_type, principal_id, wrapped_key, granted_by_type, granted_by_id, created_at',
    order: 'key_id, version, principal_type, principal_id',
  },
  {
    name: 'recoveries',
    table: 'recoveries',
    columns: 'recovery_public_key_jwk, threshold, shares, created_at, rotated_at, last_drill_at',
    order: 'org_id',
  },
  {
    name: 'recoveryCustodians',
    table: 'recovery_custodians',
    columns: 'user_id, share_index, wrapped_share',
    order: 'user_id',
  },
  {
    name: 'recoveryGrants',
    table: 'recovery_grants',
    columns: 'environment_id, wrapped_dek, created_at',
    order: 'environment_id',
  },
  {
    name: 'recoveryRequests',
    table: 'recovery_requests',
    columns: `id, status, drill, target_public_key_jwk, target_type, target_id, reason, threshold, requested_by_type,
      requested_by_id, created_at, expires_at`,
    order: 'id',
  },
  {
    name: 'recoveryContributions',
    table: 'recovery_contributions',
    columns: 'request_id, share_index, user_id, contributed_share, created_at',
    order: 'request_id, share_index',
  },
  {
    name: 'agents',
    table: 'agents',
    columns: `id, name, slug, environment_id, lost_environment_id, loss_recorded, enabled, policy_version,
      last_policy_fetch_at, created_at, updated_at`,
    order: 'id',
  },
  {
    name: 'agentPolicies',
    table: 'agent_policies',
    columns: `agent_id, version, bundle, signed_version, signer_thumbprint, signer_user_id, rolled_back_from, expires_at,
      rules, created_at`,
    order: 'agent_id, version',
  },
  {
    name: 'leaseTargets',
    table: 'lease_targets',
    columns: 'id, name, provider, config, status, last_error, server, notes, created_at, updated_at',
    order: 'id',
    isRestored: false,
    label: 'name',
  },
  {
    name: 'rotationPolicies',
    table: 'rotation_policies',
    columns: `id, environment_id, secret_name, kind, config, interval_seconds, target_id, status, last_run_at, next_run_at,
      last_version, last_error, failure_streak, created_at, updated_at`,
    order: 'id',
    isRestored: false,
    label: 'secretName',
  },
  {
    name: 'syncConnections',
    table: 'sync_connections',
    columns: 'id, name, provider, config, status, last_error, created_at, updated_at',
    order: 'id',
    isRestored: false,
    label: 'name',
  },
  {
    name: 'syncBindings',
    table: 'sync_bindings',
    columns: `id, connection_id, environment_id, destination, name_transform, include, exclude, on_delete, mode, adopt,
      enabled, last_error, created_at, updated_at`,
    order: 'id',
    isRestored: false,
    label: 'id',
  },
  {
    name: 'logSinks',
    table: 'log_sinks',
    columns: 'endpoint, enabled, header_names, created_at, updated_at',
    order: 'org_id',
    isRestored: false,
    label: 'endpoint',
  },
]

/** Columns of these tables that no archive holds. */
export const withheldColumns: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  machine_clients: { secret_hash: 'a hash that signs somebody in' },
  service_tokens: {
    token_hash: 'a hash that signs somebody in',
    deleted_at: 'deleted tokens are left out',
  },
  honey_tokens: {
    last_alert_at: 'is about mail that this server sent',
    minute_began_at: 'counts trips of a minute',
    minute_count: 'counts trips of a minute',
    minute_addresses: 'counts trips of a minute',
  },
  lease_targets: {
    wrapped_admin_secret: 'a credential that this server can open',
    child_failures: 'counts failures of processes of this server',
  },
  rotation_policies: { claimed_by: 'is a run under way', claimed_until: 'is a run under way' },
  sync_connections: { wrapped_credential: 'a credential that this server can open' },
  sync_bindings: {
    places: 'follow from destination and provider',
    revision: 'is for a run under way',
    taken_digest: 'is what this server pushed',
    failure_streak: 'is about runs of this server',
    told: 'is about mails of this server',
    next_try_at: 'is about runs of this server',
  },
  log_sinks: {
    sealed_headers: 'credentials that this server can open',
    position: 'is what this server sent',
    rejected: 'is what this server sent',
    tries: 'is what this server sent',
    due_at: 'is what this server sent',
    last_attempt_at: 'is what this server sent',
    last_success_at: 'is what this server sent',
    last_error: 'is what this server sent',
  },
}

const vaultStays = 'belongs to end users, whose executor is registered with this server'

/** Tables of an organization that no archive holds. */
export const withheldTables: Readonly<Record<string, string>> = {
  machine_tokens: 'hashes of credentials of an hour',
  machine_client_uses: 'notes of use',
  service_token_uses: 'notes of use',
  token_exposures: 'notes of mails',
  principals: 'follows from members and tokens, by triggers',
  server_keypairs: 'private halves are sealed under the key of this server',
  cache_invalidations: 'tells other processes of this server what to forget',
  usage_counts: 'counts what this server did',
  leases: 'accounts on targets, which this server removes',
  provisioner_jobs: 'work under way',
  rotation_accounts: 'follow from the policies and their targets',
  rotation_pending: 'a run under way',
  sync_runs: 'a history of this server’s own doings; the audit trail has them',
  sync_ledger: 'digests keyed by this server',
  sync_places: 'runs under way',
  sync_changes: 'runs to come',
  sync_endings: 'audit entries to come',
  agent_tasks: 'credentials of hours, by their hashes',
  agent_activity: 'counts of 90 days; the proxies report anew',
  audit_leaves: 'follow from the entries; of one that is gone, `auditGaps` has the hash',
  audit_archives: '`auditProof` has them',
  audit_trees: 'follow from the leaves; `auditProof` has the checkpoint',
  audit_nodes: 'follow from the leaves',
  org_plans: 'an agreement with the operator of this server',
  plan_overrides: 'an agreement with the operator of this server',
  billing_customers: 'an account at the payment provider of this server',
  promo_redemptions: 'an agreement with the operator of this server',
  vault_projects: vaultStays,
  vault_keys: vaultStays,
  vault_registration_codes: vaultStays,
  vault_executors: vaultStays,
  vault_wrapping_keys: vaultStays,
  vault_uses: vaultStays,
  vault_sessions: vaultStays,
  vault_connections: vaultStays,
  vault_credentials: vaultStays,
  vault_webhooks: vaultStays,
  vault_deliveries: vaultStays,
}
