import { Type } from 'typebox'
import { Thumbprint } from '../agents/schemas.ts'
import { limits } from '../limits.ts'
import { displayNamePattern } from '../patterns.ts'
import {
  Ciphertext,
  DisplayName,
  FreeText,
  Id,
  Instant,
  NextCursor,
  Nullable,
  PageOf,
  Strict,
  Version,
  WrappedKey,
} from '../schema.ts'
import {
  vaultConnectionStatuses,
  vaultExecutorStatuses,
  vaultMethods,
  vaultProjectStatuses,
  vaultReauthReasons,
  vaultRevokers,
  vaultSessionStatuses,
  vaultSlots,
} from './facts.ts'

// The shapes that several surfaces of the credential vault share.

export const oneOf = <const T extends readonly string[]>(values: T) =>
  Type.Unsafe<T[number]>(Type.Union(values.map((value) => Type.Literal(value))))

const namesOf = <K extends string>(table: Readonly<Record<K, unknown>>) => Object.keys(table) as K[]

export const Method = oneOf(namesOf(vaultMethods))
export const Slot = oneOf(namesOf(vaultSlots))

const urlPattern = '^[\\u0021-\\u005b\\u005d-\\u007e]+$'

/** The server checks how it begins: `https:`, or for development `http:` on the loopback interface. */
export const Url = (description: string) =>
  Type.String({ minLength: 1, maxLength: limits.urlCharacters, pattern: urlPattern, description })

/** The product's own id for a person, opaque to the vault. */
export const UserRef = Type.String({
  minLength: 1,
  maxLength: limits.vaultUserRefCharacters,
  pattern: displayNamePattern,
  description: 'The id that your product uses for this user. Do not use an e-mail address',
})

/** How a project appears on the Connect page. */
export const NewVaultDisplay = Strict({
  name: { ...DisplayName, description: 'The name that the Connect page shows' },
  logoUrl: Type.Optional(
    Type.String({
      maxLength: limits.vaultLogoCharacters,
      pattern: '^(?:https://|data:image/(?:png|jpeg|webp);base64,)[\\u0021-\\u005b\\u005d-\\u007e]+$',
      description: 'An `https` URL, or a data URL of a PNG, JPEG or WebP image',
    }),
  ),
  accent: Type.Optional(Type.String({ pattern: '^#[0-9a-fA-F]{6}$', description: 'A color, such as `#3366cc`' })),
  returnOrigins: Type.Optional(
    Type.Array(Url('Origin to which people may return'), {
      maxItems: limits.vaultReturnOriginsMax,
      description: 'Origins to which people may return from the Connect page',
    }),
  ),
})

export const VaultDisplay = Strict({
  name: Type.String(),
  logoUrl: Nullable(Type.String()),
  accent: Nullable(Type.String()),
  returnOrigins: Type.Array(Type.String()),
})

export const VaultProject = Strict({
  id: Id('vaultProject'),
  name: Type.String(),
  display: VaultDisplay,
  status: oneOf(vaultProjectStatuses),
  createdAt: Instant,
  updatedAt: Instant,
})

export const VaultKey = Strict({
  id: Id('vaultKey'),
  projectId: Id('vaultProject'),
  name: Type.String(),
  createdById: Id('user'),
  createdAt: Instant,
  lastUsedAt: Nullable(Instant),
  revokedAt: Nullable(Instant),
})

export const ProviderId = Type.String({
  pattern: '^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$',
  description:
    'Id of a provider in the catalog: lowercase letters, digits, inner hyphens and underscores, at most 64 characters',
})

export const VaultProvider = Strict({
  id: ProviderId,
  displayName: DisplayName,
  method: { ...Method, description: 'How a person connects an account of this provider' },
  slots: Type.Array(Slot, { minItems: 1, maxItems: 2, description: 'The kinds of credentials of a connection' }),
  consentSummary: { ...FreeText, description: 'The text to which the person agrees' },
  consentVersion: Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Version number of `consentSummary`. Raise it when the text changes',
  }),
  scopes: Type.Optional(
    Type.Array(DisplayName, {
      maxItems: limits.vaultScopesMax,
      description: 'The permissions for which the executor asks the provider',
    }),
  ),
  keyLabel: Type.Optional({ ...DisplayName, description: 'Label of the field for the API key. Default: API key' }),
  helpUrl: Type.Optional(Url('An `https` URL of a page that explains where the person finds the API key')),
  loginUrl: Type.Optional(Url('The `https` URL of the provider’s sign-in page')),
})

/**
 * The providers that people can connect, as far as the vault shows them. Only the executor knows where credentials go.
 */
export const VaultCatalog = Strict({
  providers: Type.Array(VaultProvider, { maxItems: limits.vaultProvidersMax }),
})

/** An executor's public key, to which credentials are wrapped. */
export const WrappingKey = Strict({
  jwk: Type.Object(
    {},
    { additionalProperties: true, maxProperties: 12, description: 'JWK of a P-256 public key, as an object' },
  ),
  thumbprint: Thumbprint,
})

export const SdkVersion = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: displayNamePattern,
  description: 'Name and version of the executor’s program, such as `skerry-executor/1.0.0`',
})

export const VaultExecutor = Strict({
  id: Id('vaultExecutor'),
  projectId: Id('vaultProject'),
  origin: Type.String(),
  catalog: VaultCatalog,
  keys: Type.Array(Strict({ thumbprint: Thumbprint, current: Type.Boolean(), createdAt: Instant })),
  sdkVersion: Type.String(),
  status: oneOf(vaultExecutorStatuses),
  lastSeenAt: Nullable(Instant),
  createdAt: Instant,
})

export const VaultConnection = Strict({
  id: Id('vaultConnection'),
  projectId: Id('vaultProject'),
  userRef: Type.String(),
  providerId: Type.String(),
  providerName: Type.String(),
  method: Method,
  accountLabel: Nullable(Type.String()),
  status: oneOf(vaultConnectionStatuses),
  statusReason: Nullable(oneOf(vaultReauthReasons)),
  slots: Type.Array(Strict({ slot: Slot, revision: Version, updatedAt: Instant })),
  consentedAt: Instant,
  consentVersion: Version,
  /** Kept for published clients, which read it. Only a revocation ends a connection. */
  expiresAt: Nullable(Instant),
  revokedAt: Nullable(Instant),
  revokedBy: Nullable(oneOf(vaultRevokers)),
  lastUsedAt: Nullable(Instant),
  createdAt: Instant,
  updatedAt: Instant,
})

export const ConnectionsQuery = Strict({
  ...PageOf(limits.vaultConnectionsDefault).properties,
  userRef: Type.Optional(UserRef),
  status: Type.Optional({ ...oneOf(vaultConnectionStatuses), description: 'Only connections with this status' }),
})

export const VaultConnectionPage = Strict({ connections: Type.Array(VaultConnection), nextCursor: NextCursor })

/** A credential as stored: `sc1.` under its own key, and that key `wd1.` to a key of the executor. */
const sealed = {
  ciphertext: Type.String({ ...Ciphertext, description: 'The credential, encrypted with its own key' }),
  wrappedDek: Type.String({ ...WrappedKey, description: 'The key of the credential, encrypted with the wrapping key' }),
  keyThumbprint: Type.String({ ...Thumbprint, description: 'RFC 7638 thumbprint of the executor’s wrapping key' }),
}

/** The next revision of a credential; `expectedRevision` is the one that it replaces. */
export const VaultWriteBack = Strict({
  expectedRevision: Type.Integer({
    minimum: 0,
    maximum: 2_147_483_646,
    description:
      'The revision that the caller read. If it is not the current revision, the answer is 409. 0: there is no revision yet',
  }),
  ...sealed,
})

/** The credentials of one capture, for `submit` and `complete`. */
export const VaultCapture = Strict({
  slots: Type.Array(
    Strict({
      slot: { ...Slot, description: 'The kind of credential' },
      revision: {
        ...Version,
        description: 'The number of the new revision, as `slots` of the connect session shows it',
      },
      ...sealed,
    }),
    { minItems: 1, maxItems: 2, description: 'The credentials of the connection' },
  ),
  accountLabel: Type.Optional({
    ...DisplayName,
    description: 'The e-mail address, user name or name of the account',
  }),
})

/** A `VaultCapture`, with the executor's digest of the provider's account. */
export const VaultExecutorCapture = Strict({
  ...VaultCapture.properties,
  accountDigest: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_-]{43}$',
      description:
        'SHA-256, in base64url, of the account’s id at the provider and the connection’s id. If a person repairs a connection with another account, the answer is 409, unless the link was made with `allowAccountChange`',
    }),
  ),
})

export const VaultCredential = Strict({
  projectId: Id('vaultProject'),
  connectionId: Id('vaultConnection'),
  providerId: Type.String(),
  slot: Slot,
  revision: Version,
  ...sealed,
})

/** The facts about its session that the Connect page needs. */
export const VaultConnectView = Strict({
  id: Id('vaultSession'),
  projectId: Id('vaultProject'),
  connectionId: Id('vaultConnection'),
  purpose: oneOf(['connect', 'reconnect']),
  status: oneOf(vaultSessionStatuses),
  display: VaultDisplay,
  provider: VaultProvider,
  method: Method,
  slots: Type.Array(Strict({ slot: Slot, revision: Version }), {
    description: 'The slots for credentials, each with the number of its next revision',
  }),
  keys: Type.Array(WrappingKey, { description: 'Valid keys of the executor, the current key first' }),
  consentedAt: Nullable(Instant),
  executorOrigin: Nullable(Type.String()),
  returnUrl: Nullable(Type.String()),
  expiresAt: Instant,
})

/** The view of a person who manages their connections. */
export const VaultManageView = Strict({
  id: Id('vaultSession'),
  projectId: Id('vaultProject'),
  purpose: Type.Literal('manage'),
  status: oneOf(vaultSessionStatuses),
  display: VaultDisplay,
  connections: Type.Array(VaultConnection),
  returnUrl: Nullable(Type.String()),
  expiresAt: Instant,
})

export const VaultErasedCounts = Strict({
  connections: Type.Integer(),
  sessions: Type.Integer(),
  deliveries: Type.Integer(),
})

/** The counts of an erasure, and the digest that names the person in the audit log from then on. */
export const VaultErased = Strict({
  userDigest: Type.String({ description: 'base64url SHA-256' }),
  erased: VaultErasedCounts,
})

export const VaultCaptured = Strict({ connectionId: Id('vaultConnection'), returnUrl: Nullable(Type.String()) })
