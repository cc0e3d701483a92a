import { hostPattern, injectableNamePattern, methodPattern } from '../agents/policy-body.ts'
import { Thumbprint } from '../agents/schemas.ts'
import { Hash } from '../audit-proof/schemas.ts'
import { DirectoryHash, EntryKey, HeadText, ReaderPart, RootText } from '../directory/schemas.ts'
import { BranchManifest } from '../envs/schemas.ts'
import { HexDigest, SignatureValue } from '../export/schemas.ts'
import type { Schema } from '../fields.ts'
import { limits } from '../limits.ts'
import { CredentialId, PrfInput } from '../passkeys/schemas.ts'
import { type BlobPrefix, blobKinds, idPattern, idPrefixes } from '../prefixes.ts'
import * as shared from '../schema.ts'
import { RecoveryCode } from '../second-factor/schemas.ts'
import { KeepFor } from '../secrets/schemas.ts'
import { ProviderId } from '../vault/schemas.ts'
import { blobsOf, patternOf } from './reference-words.ts'

// Example answers for documents. They are valid for their schemas, and contain no real key or secret.

const publicId = 'h7Kq2ZpV0sXc9LwT4bNyRd'

const instant = '2026-10-04T12:00:00.000Z'

const id = (kind: keyof typeof idPrefixes) => idPrefixes[kind] + publicId

/** An example blob, too short to be mistaken for a whole one. */
const blob = (prefix: BlobPrefix) =>
  [prefix, ...['BPx3', 'kQ9z', '1mVd', 'Zr8w'].slice(0, blobKinds[prefix].segments)].join('.')

const byPattern = new Map<string, string>([
  ...Object.keys(idPrefixes).map((kind): [string, string] => {
    const known = kind as keyof typeof idPrefixes
    return [idPattern(known), id(known)]
  }),
  [patternOf(shared.Instant), instant],
  [patternOf(shared.GivenInstant), instant],
  [patternOf(shared.SecretName), 'DATABASE_URL'],
  [injectableNamePattern, 'DATABASE_URL'],
  [hostPattern, 'api.example.com'],
  [methodPattern, 'GET'],
  [patternOf(shared.CliLoginCode), 'WDJB-MJHT'],
  [patternOf(CredentialId), 'q1xZt8'],
  [patternOf(PrfInput), 'h7Kq2ZpV0sXc9LwT4bNyRd'],
  [patternOf(RecoveryCode), '4XK7P-M2QRA'],
  [patternOf(HexDigest), '9f86d081884c7d65'.repeat(4)],
  [patternOf(SignatureValue), publicId.repeat(4).slice(0, 86)],
  [patternOf(Hash), `${`${publicId}${publicId}`.slice(0, 43)}=`],
  [patternOf(ProviderId), 'mail'],
  [patternOf(KeepFor), '30d'],
  [patternOf(RootText), `or1.eyJ2IjoxfQ.${publicId}`],
  [patternOf(HeadText), `od1.eyJ2IjoxfQ.${publicId}`],
  [patternOf(ReaderPart), `person/${id('user')}`],
  [patternOf(EntryKey), 'environment/payments/production'],
  [patternOf(DirectoryHash), `${publicId}${publicId}`.slice(0, 43)],
  [patternOf(BranchManifest), `bm1.eyJ2IjoxfQ.${publicId}`],
  [patternOf(Thumbprint), `${publicId}${publicId}`.slice(0, 43)],
])

/** Examples by field name, for fields whose schema says only that they are text. */
const byName: Record<string, string> = {
  name: 'Payments',
  slug: 'payments',
  orgSlug: 'acme',
  appSlug: 'payments',
  envSlug: 'production',
  environmentSlug: 'production',
  groupSlug: 'shared',
  email: 'ada@example.com',
  publicKeyJwk: '{"kty":"EC","crv":"P-256","x":"...","y":"..."}',
  encryptedPrivateKey: blob('pk1'),
  wrappedDek: blob('wd1'),
  ciphertext: blob('sc1'),
  joining: 'ji1.BPx3.kQ9z',
  joiningAnswer: 'ja1.BPx3.kQ9z',
  principalType: 'user',
  principalId: id('user'),
  id: id('user'),
  invitedById: id('user'),
  createdByType: 'user',
  createdById: id('user'),
  action: 'secret.written',
  actorType: 'user',
  actorId: id('user'),
  resourceType: 'secret',
  resourceId: id('secret'),
  ipAddress: '203.0.113.7',
  userAgent: 'curl/8.5.0',
  deviceLabel: 'Ada’s laptop',
  client: 'skerry/1.0',
  verifyUrl: 'https://skerry.example/cli/WDJB-MJHT',
  requestId: 'req_h7Kq2ZpV1a',
  clientId: id('machineClient'),
  include: 'PUBLIC_*',
  exclude: '*_LOCAL',
}

/** Example names for a row, by the pattern of its id. */
const called = new Map<string, Record<string, string>>([
  [idPattern('organization'), { name: 'Acme', slug: 'acme' }],
  [idPattern('group'), { name: 'Shared', slug: 'shared' }],
  [idPattern('environment'), { name: 'Production', slug: 'production' }],
  [idPattern('user'), { name: 'Ada Lovelace' }],
  [idPattern('serviceToken'), { name: 'deploys' }],
])

/** Example values for an environment that is a branch. */
const ofBranch: Record<string, string> = {
  name: 'Pull request 42',
  slug: 'pr-42',
  parentEnvironmentId: id('environment'),
  expiresAt: instant,
}

const numbers: Record<string, number> = { expires_in: limits.machineAccessTtlSeconds, position: 0 }

/**
 * Nullable fields that are usually null: on the last page, in an environment that is not a branch, for a token in use.
 */
const mostlyNull = new Set([
  'nextCursor',
  'groupId',
  'parentEnvironmentId',
  'expiresAt',
  'revokedAt',
  'restoredFromVersion',
  'keepFor',
  'deletedSecretId',
])

/** Fields that are usually false: a managed key that is in use. */
const mostlyFalse = new Set(['disabled'])

/**
 * Builds an example answer for a schema.
 *
 * @example exampleOf(shared.Ok) // { ok: true }
 */
export function exampleOf(schema: Schema, name = ''): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return ofAlternatives(schema.anyOf, name)
  if (schema.type === 'array')
    return Array.from({ length: schema.minItems ?? 1 }, () => exampleOf(schema.items ?? {}, name))
  if (schema.type === 'object') return ofObject(schema.properties ?? {}, name)
  if (schema.type === 'integer') return numbers[name] ?? Math.max(schema.minimum ?? 0, 1)
  if (schema.type === 'boolean') return !mostlyFalse.has(name)
  return schema.type === 'string' ? ofString(schema, name) : null
}

function ofObject(properties: Record<string, Schema>, name: string): unknown {
  const { id: own, userId, groupId } = properties
  const kind = called.get((own ?? userId ?? groupId)?.pattern ?? '')
  const words = /^branch/.test(name) ? ofBranch : (kind ?? {})
  return Object.fromEntries(
    Object.entries(properties).map(([field, inner]) => {
      const value = exampleOf(inner, field)
      return [field, value === null || value === byName[field] ? (words[field] ?? value) : value]
    }),
  )
}

function ofAlternatives(anyOf: Schema[], name: string): unknown {
  const nullable = anyOf.some(({ type }) => type === 'null')
  return nullable && mostlyNull.has(name) ? null : exampleOf(anyOf[0] ?? {}, name)
}

function ofString({ pattern }: Schema, name: string): string {
  if (pattern === undefined) return byName[name] ?? '...'
  const [prefix] = blobsOf(pattern)
  return byPattern.get(pattern) ?? (prefix ? blob(prefix) : (byName[name] ?? '...'))
}
