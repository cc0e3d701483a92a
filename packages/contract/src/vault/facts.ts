/** What a product's users can connect: for each method the slots that its credentials are kept in. */
export const vaultMethods = {
  api_key: ['api_key'],
  oauth2: ['oauth2'],
  browser: ['login', 'session'],
} as const

export type VaultMethod = keyof typeof vaultMethods

/**
 * Every slot, and who encrypts it: `browser`, where a person types it in on the Connect page, or `executor`, which receives
 * it from the provider.
 */
export const vaultSlots = {
  api_key: 'browser',
  login: 'browser',
  oauth2: 'executor',
  session: 'executor',
} as const satisfies Record<string, 'browser' | 'executor'>

export type VaultSlot = keyof typeof vaultSlots

export const vaultProjectStatuses = ['active', 'disabled'] as const
export const vaultExecutorStatuses = ['active', 'disabled'] as const
export const vaultSessionPurposes = ['connect', 'reconnect', 'manage'] as const
export const vaultSessionStatuses = ['pending', 'completed', 'expired', 'cancelled'] as const
export const vaultConnectionStatuses = ['active', 'reauth_required', 'revoked'] as const

/** Why an executor asks for a connection to be repaired. */
export const vaultReauthReasons = [
  'provider_rejected_credential',
  'refresh_rejected',
  'refresh_outcome_unknown',
  'refresh_write_failed',
  'refresh_token_expired',
  'refresh_token_missing',
  'session_signed_out',
  'reauth_requested',
] as const

export const vaultRevokers = ['platform', 'end_user', 'org_admin', 'system'] as const

/** What the webhooks of a project tell of. */
export const vaultEventTypes = ['connection.ready', 'connection.reauth_required', 'connection.revoked'] as const
export const vaultWebhookStatuses = ['active', 'disabled'] as const
export const vaultDeliveryStatuses = ['pending', 'delivered', 'dead'] as const

/** Which credential something is. */
export interface VaultPlace {
  projectId: string
  connectionId: string
  providerId: string
  slot: VaultSlot
  revision: number
}

/**
 * What a slot's ciphertext is bound to, as additional authenticated data of AES-256-GCM, in UTF-8. It is a credential of
 * this connection, provider and revision, and of no other.
 *
 * @example vaultAad({ projectId: 'vpj_1', connectionId: 'vcn_1', providerId: 'acme', slot: 'api_key', revision: 1 })
 */
export const vaultAad = ({ projectId, connectionId, providerId, slot, revision }: VaultPlace): string =>
  `vault/${projectId}/${connectionId}/${providerId}/${slot}/${revision}`

/**
 * What an executor signs with its wrapping key (ECDSA P-256 with SHA-256) to show that it has the private half, when it
 * registers again while it is active. The code makes the text good once.
 *
 * @example vaultRegistrationText('vrc_...', 'https://executor.example.com')
 */
export const vaultRegistrationText = (code: string, origin: string): string =>
  `skerry/vault-registration/v1\n${code}\n${origin}`
