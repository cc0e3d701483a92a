/**
 * Everything about wire prefixes, in one place. The server checks only the prefix and the number of segments of an
 * opaque blob. Clients use the whole grammar from here.
 */

/** Opaque blobs: prefix, then `segments` base64url segments, all joined by dots. */
const blobs = {
  wd1: {
    segments: 4,
    what: 'a key, encrypted with the public key of its recipient: ephemeral point, salt, iv, ciphertext',
  },
  sc1: { segments: 2, what: 'the encrypted value of a secret: iv, ciphertext' },
  sd1: { segments: 2, what: 'the encrypted description and tags of a secret: iv, ciphertext' },
  sn1: { segments: 2, what: 'the encrypted former names of a secret: iv, ciphertext' },
  so1: { segments: 2, what: 'an encrypted personal override of a secret: iv, ciphertext' },
  ce1: { segments: 4, what: 'a text, encrypted with a managed key: key id, version, iv, ciphertext' },
  dk1: { segments: 4, what: 'a data key, encrypted with a managed key: key id, version, iv, ciphertext' },
  sg1: { segments: 3, what: 'a signature, made with a managed key: key id, version, signature' },
  pk1: { segments: 4, what: 'a private key, encrypted with a passphrase: parameters, salt, iv, ciphertext' },
  pk2: { segments: 3, what: 'a private key, encrypted with a passkey: salt, iv, ciphertext' },
  pk3: { segments: 3, what: 'a private key, encrypted with the code of a recovery kit: salt, iv, ciphertext' },
} as const

export type BlobPrefix = keyof typeof blobs

/** One row of the blob table. The table has no prototype, so a lookup by a caller's string cannot leave it. */
export interface BlobKind {
  segments: number
  what: string
}

export const blobKinds: Readonly<Record<BlobPrefix, BlobKind>> = Object.assign(Object.create(null), blobs)

/** Builds the regular expression that a blob of this kind matches, for schemas: `wd1.<b64url>.<b64url>...`. */
export function blobPattern(...prefixes: BlobPrefix[]): string {
  const one = (prefix: BlobPrefix) => `${prefix}(?:\\.[A-Za-z0-9_-]+){${blobKinds[prefix].segments}}`
  return `^(?:${prefixes.map(one).join('|')})$`
}

/** Credentials, by the prefix that a bearer starts with. */
export const credentialPrefixes = {
  serviceToken: 'skt_',
  cliSession: 'skc_',
  machineAccess: 'skm_',
  vaultPlatform: 'skv_',
  vaultExecutor: 'skx_',
  vaultClaim: 'vcl_',
} as const

/**
 * The HKDF label that derives the bearer of a service token from its seed. If the label changes, every bearer changes,
 * and the server no longer knows any token.
 */
export const bearerInfo = 'skerry/service-token/bearer/v1'

/** Row ids: prefix and 22 base62 characters. A service token's id is its own public segment. */
export const idPrefixes = {
  organization: 'org_',
  application: 'app_',
  group: 'grp_',
  environment: 'env_',
  secret: 'sec_',
  keyGrant: 'ek_',
  accessRequest: 'acr_',
  offboarding: 'ofb_',
  offboardingRow: 'ofr_',
  override: 'ovr_',
  team: 'tea_',
  user: 'usr_',
  invitation: 'inv_',
  audit: 'aud_',
  serviceToken: 'skt_',
  machineClient: 'm2m_',
  cliSession: 'skc_',
  changeRequest: 'chg_',
  changeGroup: 'cgr_',
  review: 'rev_',
  honeyToken: 'hny_',
  passkey: 'psk_',
  signInPasskey: 'spk_',
  session: 'ses_',
  challenge: 'chl_',
  leaseTarget: 'ltg_',
  lease: 'lse_',
  recoveryRequest: 'rcr_',
  rotation: 'rot_',
  syncConnection: 'syn_',
  syncBinding: 'syb_',
  syncRun: 'syr_',
  provisionerJob: 'pvj_',
  agent: 'agt_',
  agentTask: 'tsk_',
  taskRef: 'skd_',
  kmsKey: 'kms_',
  vaultProject: 'vpj_',
  vaultKey: 'vky_',
  vaultExecutor: 'vex_',
  vaultSession: 'vcs_',
  vaultConnection: 'vcn_',
  vaultWebhook: 'vwh_',
  vaultDelivery: 'vwd_',
} as const

export type IdKind = keyof typeof idPrefixes

/** Characters after the prefix of an id. */
export const idLength = 22

/** The alphabet of ids, in the order that published clients use. */
export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export function idPattern(kind: IdKind): string {
  return `^${idPrefixes[kind]}[0-9A-Za-z]{${idLength}}$`
}

/**
 * Tells whether `wanted` names an object: by its id if `wanted` has the form of an id, else by its name. A hostile
 * server may answer any id. An id that equals the name of another object must not match it.
 *
 * @example isNamed('shop', 'leaseTarget', { id: 'ltg_...', name: 'shop' }) // true
 */
export const isNamed = (wanted: string, kind: IdKind, { id, name }: { id: string; name: string | null }): boolean =>
  new RegExp(idPattern(kind)).test(wanted) ? id === wanted : name === wanted
