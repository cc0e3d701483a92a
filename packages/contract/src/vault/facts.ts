/** The methods by which a product's users connect an account, each with the slots that store its credentials. */
export const vaultMethods = {
  api_key: ['api_key'],
  oauth2: ['oauth2'],
  browser: ['login', 'session'],
} as const

export type VaultMethod = keyof typeof vaultMethods

/**
 * Every slot, and the program that encrypts it. That is the `browser` in which a person types it on the Connect page,
 * or the `executor`, which receives it from the provider.
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

/** The reasons for which an executor asks for a connection to be repaired. */
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

/** The events that a project's webhooks report. */
export const vaultEventTypes = ['connection.ready', 'connection.reauth_required', 'connection.revoked'] as const
export const vaultWebhookStatuses = ['active', 'disabled'] as const
export const vaultDeliveryStatuses = ['pending', 'delivered', 'dead'] as const

/** Identifies one revision of a credential. */
export interface VaultPlace {
  projectId: string
  connectionId: string
  providerId: string
  slot: VaultSlot
  revision: number
}

/**
 * Builds the text that a slot's ciphertext is bound to, as additional authenticated data of AES-256-GCM, in UTF-8. The
 * ciphertext is valid for this connection, provider, slot and revision only.
 *
 * @example vaultAad({ projectId: 'vpj_1', connectionId: 'vcn_1', providerId: 'acme', slot: 'api_key', revision: 1 })
 */
export const vaultAad = ({ projectId, connectionId, providerId, slot, revision }: VaultPlace): string =>
  `vault/${projectId}/${connectionId}/${providerId}/${slot}/${revision}`

/**
 * Builds the text that an executor signs with its wrapping key (ECDSA P-256 with SHA-256), when it registers again
 * while it is active. The signature shows that it has the private half. The code makes the text valid once.
 *
 * @example vaultRegistrationText('vrc_...', 'https://executor.example.com')
 */
export const vaultRegistrationText = (code: string, origin: string): string =>
  `skerry/vault-registration/v1\n${code}\n${origin}`
