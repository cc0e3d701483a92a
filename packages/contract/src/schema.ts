import { type TProperties, Type } from 'typebox'
import { limits } from './limits.ts'
import { type BlobPrefix, blobPattern, type IdKind, idPattern } from './prefixes.ts'

// The small schemas that every feature shares. Each free text forbids NUL, which PostgreSQL cannot store.

/** An object that refuses fields it does not name, so that a misspelt field is never silently ignored. */
export const Strict = <const P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

export const Nullable = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) =>
  Type.Union([schema, Type.Null()])

export const Id = (kind: IdKind) => Type.String({ pattern: idPattern(kind) })

/** ISO 8601 in UTC with milliseconds: `2026-10-04T12:00:00.000Z`. */
export const Instant = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  description: 'ISO 8601, UTC, milliseconds',
})

/** A slug never changes: composition, resolve and committed client settings match on it. */
export const Slug = Type.String({
  pattern: '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$',
  description: 'lowercase letters, digits and inner hyphens, at most 63',
})

/** Printed by terminals as it is, so it holds nothing that steers one: U+0080 to U+009F do, in some. */
export const DisplayName = Type.String({
  minLength: 1,
  maxLength: limits.displayNameCharacters,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$',
})

/** What people write to each other; lines may break. */
export const FreeText = Type.String({
  maxLength: limits.noteCharacters,
  pattern: '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]*$',
  description: 'free text',
})

export const secretNamePattern = '^[A-Za-z_][A-Za-z0-9_]{0,254}$'
export const SecretName = Type.String({
  pattern: secretNamePattern,
  description: 'an environment variable name',
})

const emailCharacters = '[^\\s@<>()\\[\\],;:\\\\"\\u0000-\\u001f\\u007f-\\u009f]+'
export const Email = Type.String({
  maxLength: limits.emailCharacters,
  // Without what separates addresses in a header, so that one can never be read as several.
  pattern: `^${emailCharacters}@${emailCharacters}\\.${emailCharacters}$`,
})

export const Blob = (maxLength: number, ...prefixes: BlobPrefix[]) =>
  Type.String({ maxLength, pattern: blobPattern(...prefixes) })

export const Ciphertext = Blob(limits.ciphertextBytes, 'sc1')
export const WrappedKey = Blob(limits.wrappedKeyCharacters, 'wd1')

/** A string that holds JWK JSON, as published clients send it. `parsePublicKeyJwk` checks what it holds. */
export const PublicKeyJwk = Type.String({
  minLength: 1,
  maxLength: limits.publicKeyCharacters,
  pattern: '^[\\u0020-\\u007e]+$',
  description: 'JWK JSON of a P-256 public key, as a string',
})

export const Role = Type.Union([Type.Literal('owner'), Type.Literal('admin'), Type.Literal('member')])
export const PrincipalType = Type.Union([Type.Literal('user'), Type.Literal('service_token')])

/** Parts of the server that read what they were granted: the one place where the server holds an environment's key. */
export const ReaderType = Type.Union([Type.Literal('rotator'), Type.Literal('sync_connection')])

/** Everyone who can hold an environment's key. */
export const HolderType = Type.Union([...PrincipalType.anyOf, ...ReaderType.anyOf])

export const Version = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
export const ExpectedVersion = Type.Integer({
  minimum: 0,
  maximum: 2_147_483_647,
  description: 'refused with 409 unless this is the current version; 0: must not exist',
})

/** Short enough to read out: `WDJB-MJHT`, without vowels and look-alikes. */
export const CliLoginCode = Type.String({ pattern: '^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$' })

export const Ok = Strict({ ok: Type.Literal(true) })

/** Query of a list that can grow. Without `limit` everything is answered, as clients that know no paging expect. */
export const Page = Strict({
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: limits.cursorCharacters, pattern: '^[A-Za-z0-9_-]+$' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.listMax })),
})
export const NextCursor = Nullable(Type.String())
