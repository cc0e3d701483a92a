import type { TSchema } from 'typebox'
import { AccessRequest } from '../access-requests/schemas.ts'
import { Agent, AgentPolicy, AgentRule, NamedAgent } from '../agents/schemas.ts'
import { Application } from '../apps/schemas.ts'
import { AuditEntry } from '../audit/schemas.ts'
import { BillingView, PlanView, Promo, Subscription } from '../billing/schemas.ts'
import { ChangeRequest, SecretChangeRequest } from '../changes/schemas.ts'
import { Directory, EntryProof, Signed } from '../directory/schemas.ts'
import { Branch, BranchGrant, CreateEnvironment, Environment, EnvironmentWithAccess } from '../envs/schemas.ts'
import { KeyGrant } from '../grants/schemas.ts'
import { Composition, Group } from '../groups/schemas.ts'
import { HoneyToken } from '../honey-tokens/schemas.ts'
import { KmsKey, NewKmsGrant } from '../kms/schemas.ts'
import { Lease, LeaseTarget } from '../leases/schemas.ts'
import { LogSink } from '../log-sink/schemas.ts'
import { MachineClient } from '../machine-clients/schemas.ts'
import { KeyHolder, KeyHolding, User } from '../me/schemas.ts'
import { Invite, Member } from '../members/schemas.ts'
import { Prefs } from '../notifications/schemas.ts'
import { OAuthErrorBody } from '../oauth/schemas.ts'
import { Offboarding, OffboardingPreview, OffboardingRevoked, OffboardingRow } from '../offboardings/schemas.ts'
import { Organization } from '../orgs/schemas.ts'
import { Override } from '../overrides/schemas.ts'
import { Passkey } from '../passkeys/schemas.ts'
import { CustodianShare, KeyAndShares, Recovery, RecoveryCoverage, RecoveryRequest } from '../recovery/schemas.ts'
import { ProposedRekey, Rekey, RekeyDetails, RekeyGrant } from '../rekey/schemas.ts'
import { Layer, Scope } from '../resolve/schemas.ts'
import { Rotation } from '../rotation/schemas.ts'
import * as shared from '../schema.ts'
import { EnteredFactor } from '../second-factor/schemas.ts'
import { SecretDetails } from '../secret-details/schemas.ts'
import { DeletedSecret, Secret } from '../secrets/schemas.ts'
import { StartedSession, WebAuthnResponse } from '../sign-in/schemas.ts'
import { SignInPasskey } from '../sign-in-passkeys/schemas.ts'
import { NameTransform, SyncBinding, SyncConnection, SyncLastRun, SyncRun } from '../sync/schemas.ts'
import { AgentTask } from '../tasks/schemas.ts'
import { LostKeys, Team } from '../teams/schemas.ts'
import { ServiceToken } from '../tokens/schemas.ts'
import {
  NewVaultDisplay,
  VaultCapture,
  VaultCaptured,
  VaultCatalog,
  VaultConnection,
  VaultConnectionPage,
  VaultConnectView,
  VaultDisplay,
  VaultErased,
  VaultErasedCounts,
  VaultExecutor,
  VaultKey,
  VaultManageView,
  VaultProject,
  VaultProvider,
  WrappingKey,
} from '../vault/schemas.ts'
import { NewVaultWebhook, VaultDelivery, VaultWebhook, VaultWebhookTested } from '../vault/webhooks.ts'

/** A JSON Schema of the 2020-12 dialect, as OpenAPI 3.1 takes it. */
export type JsonSchema = { [keyword: string]: unknown }

/** Schemas that the OpenAPI document shows once, under these names. */
export const namedSchemas: Readonly<Record<string, TSchema>> = {
  AccessRequest,
  LostKeys,
  Team,
  Agent,
  AgentPolicy,
  AgentRule,
  AgentTask,
  Application,
  AuditEntry,
  BillingView,
  Branch,
  BranchGrant,
  ChangeRequest,
  Ciphertext: shared.Ciphertext,
  Composition,
  CreateEnvironment,
  DeletedSecret,
  DirectoryDocuments: Signed,
  DirectoryProof: EntryProof,
  SignedDirectory: Directory,
  DisplayName: shared.DisplayName,
  Email: shared.Email,
  Environment,
  EnvironmentWithAccess,
  ErrorBody: shared.ErrorBody,
  ExpectedVersion: shared.ExpectedVersion,
  Group,
  HoneyToken,
  EnteredFactor,
  Instant: shared.Instant,
  GivenInstant: shared.GivenInstant,
  Invite,
  KeyGrant,
  KeyHolder,
  KeyHolding,
  KmsKey,
  Layer,
  Lease,
  LeaseTarget,
  LogSink,
  MachineClient,
  Member,
  NewKmsGrant,
  NewVaultWebhook,
  NamedAgent,
  NotificationPrefs: Prefs,
  OAuthErrorBody,
  Ok: shared.Ok,
  Offboarding,
  OffboardingPreview,
  OffboardingRevoked,
  OffboardingRow,
  Organization,
  Override,
  Passkey,
  Plan: PlanView,
  Promo,
  Subscription,
  PrincipalType: shared.PrincipalType,
  PublicKeyJwk: shared.PublicKeyJwk,
  Recovery,
  RecoveryCoverage,
  RecoveryKeyAndShares: KeyAndShares,
  RecoveryRequest,
  RecoveryShare: CustodianShare,
  Role: shared.Role,
  ProposedRekey,
  Rekey,
  RekeyDetails,
  RekeyGrant,
  Rotation,
  Scope,
  Secret,
  SecretDetails,
  SecretName: shared.SecretName,
  SecretChangeRequest,
  ServiceToken,
  SignInPasskey,
  Slug: shared.Slug,
  StartedSession,
  SyncBinding,
  SyncConnection,
  SyncLastRun,
  SyncNameTransform: NameTransform,
  SyncRun,
  User,
  VaultCapture,
  VaultCaptured,
  VaultErased,
  VaultErasedCounts,
  VaultCatalog,
  VaultConnectView,
  VaultConnection,
  VaultConnectionPage,
  VaultDelivery,
  VaultDisplay,
  VaultExecutor,
  VaultKey,
  VaultManageView,
  VaultNewDisplay: NewVaultDisplay,
  VaultProject,
  VaultWebhook,
  VaultWebhookTested,
  VaultProvider,
  VaultWrappingKey: WrappingKey,
  Version: shared.Version,
  WebAuthnResponse,
  WrappedKey: shared.WrappedKey,
}

/**
 * Schemas are compared by content, because an optional property contains a copy of its schema, which is another object.
 */
const names = new Map(Object.entries(namedSchemas).map(([name, schema]) => [JSON.stringify(schema), name]))

/**
 * Returns the name of a schema in the OpenAPI document.
 *
 * @example nameOf(Application) // 'Application'
 */
export function nameOf(schema: unknown): string | undefined {
  return names.get(JSON.stringify(schema))
}

/**
 * Returns a reference to a schema that has a name, or the schema itself with references inside.
 *
 * @example referTo(Application) // { $ref: '#/components/schemas/Application' }
 */
export function referTo(schema: unknown): JsonSchema {
  const name = nameOf(schema)
  return name ? { $ref: `#/components/schemas/${name}` } : spellOut(schema)
}

/** Keywords that hold a schema, a list of schemas, or schemas by name. */
const inside: Record<string, (value: unknown) => unknown> = {
  items: referTo,
  additionalProperties: (value) => (typeof value === 'object' ? referTo(value) : value),
  anyOf: (value) => (value as unknown[]).map(referTo),
  properties: referToEach,
  patternProperties: referToEach,
}

function referToEach(properties: unknown): JsonSchema {
  return Object.fromEntries(Object.entries(properties as JsonSchema).map(([name, schema]) => [name, referTo(schema)]))
}

/**
 * Writes a schema as plain JSON, with references in place of the named schemas inside. Alternatives of fixed strings
 * become an `enum`, which generators of clients turn into a type.
 *
 * @example spellOut(shared.Role) // { type: 'string', enum: ['owner', 'admin', 'member'] }
 */
export function spellOut(schema: unknown): JsonSchema {
  const { anyOf, ...rest } = schema as JsonSchema
  const literals = (anyOf as JsonSchema[] | undefined)?.map(({ const: value }) => value)
  if (literals?.every((value) => typeof value === 'string')) return { type: 'string', enum: literals, ...rest }
  if (Array.isArray(anyOf) && anyOf.length === 1) return { ...referTo(anyOf[0]), ...rest }
  return Object.fromEntries(
    Object.entries(schema as JsonSchema).map(([keyword, value]) => [keyword, inside[keyword]?.(value) ?? value]),
  )
}
