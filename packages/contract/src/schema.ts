import { type Static, type TProperties, Type } from 'typebox'
import { limits } from './limits.ts'
import {
  cliLoginCodePattern,
  displayNamePattern,
  emailPattern,
  freeTextPattern,
  givenInstantPattern,
  instantPattern,
  secretNamePattern,
  slugPattern,
} from './patterns.ts'
import { type BlobPrefix, blobPattern, type IdKind, idPattern } from './prefixes.ts'

// The small schemas that every feature shares. Each free text forbids NUL, which PostgreSQL cannot store.

/** An object that refuses fields it does not name, so that a misspelt field is never silently ignored. */
export const Strict = <const P extends TProperties>(properties: P, options: { description?: string } = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })

export const Nullable = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) =>
  Type.Union([schema, Type.Null()])

export const Id = (kind: IdKind) => Type.String({ pattern: idPattern(kind) })

/** ISO 8601 in UTC with milliseconds: `2026-10-04T12:00:00.000Z`. */
export const Instant = Type.String({
  pattern: instantPattern,
  description: 'A time in ISO 8601, in UTC, with milliseconds',
})

/** Any instant of RFC 3339, for bodies and queries. A stored instant is compared to the millisecond. */
export const GivenInstant = Type.String({
  pattern: givenInstantPattern,
  description: 'A time in RFC 3339, such as `2026-10-04T12:00:00Z` or `2026-10-04T14:00:00+02:00`',
})

export const Slug = Type.String({
  pattern: slugPattern,
  description: 'Lowercase letters, digits and inner hyphens, at most 63 characters',
})

export const DisplayName = Type.String({
  minLength: 1,
  maxLength: limits.displayNameCharacters,
  pattern: displayNamePattern,
})

export const FreeText = Type.String({
  maxLength: limits.noteCharacters,
  pattern: freeTextPattern,
  description: 'Text that the caller writes for other people',
})

export const SecretName = Type.String({
  pattern: secretNamePattern,
  description: 'Name of a secret: letters, digits and `_`, not a digit first',
})

export const Email = Type.String({
  maxLength: limits.emailCharacters,
  pattern: emailPattern,
})

export const Blob = (maxLength: number, ...prefixes: BlobPrefix[]) =>
  Type.String({ maxLength, pattern: blobPattern(...prefixes) })

export const Ciphertext = Blob(limits.ciphertextBytes, 'sc1')
export const WrappedKey = Blob(limits.wrappedKeyCharacters, 'wd1')

/** A string that contains JWK JSON, as published clients send it. `parsePublicKeyJwk` checks the content. */
export const PublicKeyJwk = Type.String({
  minLength: 1,
  maxLength: limits.publicKeyCharacters,
  pattern: '^[\\u0020-\\u007e]+$',
  description: 'JWK JSON of a P-256 public key, as a string',
})

export const Role = Type.Union([Type.Literal('owner'), Type.Literal('admin'), Type.Literal('member')])
export const PrincipalType = Type.Union([Type.Literal('user'), Type.Literal('service_token')], {
  description: 'A person (`user`) or a service token',
})

/** Parts of the server that read what they were granted. Nowhere else does the server have an environment's key. */
export const ReaderType = Type.Union([Type.Literal('rotator'), Type.Literal('sync_connection')])

/** Everyone who can hold an environment's key. */
export const HolderType = Type.Union([...PrincipalType.anyOf, ...ReaderType.anyOf])

export const Version = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
export const ExpectedVersion = Type.Integer({
  minimum: 0,
  maximum: 2_147_483_647,
  description:
    'The version of the secret that the caller read. If the secret has another version now, the answer is 409. Send 0 if the secret must not exist yet',
})

export const CliLoginCode = Type.String({
  pattern: cliLoginCodePattern,
  description: 'The code that the machine shows to the person, such as `BCDF-GHJK`',
})

export const Ok = Strict({ ok: Type.Literal(true) })

/** The query of a list that can grow. Without `limit` the whole list is answered, as clients without paging expect. */
export const Page = Strict({
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.cursorCharacters,
      pattern: '^[A-Za-z0-9_-]+$',
      description: 'The `nextCursor` of the previous page. Leave it out for the first page',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.listMax,
      description: 'Maximum number of rows in the answer. Without `limit`, the answer has the whole list',
    }),
  ),
})

/** The query of a list that never stops growing, so it has a default limit. */
export const PageOf = (rows: number, rowsMax: number = limits.listMax) =>
  Strict({
    cursor: Page.properties.cursor,
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: rowsMax,
        default: rows,
        description: `Maximum number of rows in the answer. Default: ${rows}`,
      }),
    ),
  })
export const NextCursor = Nullable(Type.String())

/** The body of every refusal. */
export const ErrorBody = Type.Object({
  error: Type.Object({
    code: Type.String({ description: 'Code for programs. It does not change between releases' }),
    message: Type.String({ description: 'Message for people. If a field is wrong, the message names the field' }),
  }),
})
export type ErrorBody = Static<typeof ErrorBody>
