import { type Static, type TObject, Type } from 'typebox'
import { templateProblem } from '../leases/templates.ts'
import { SecretName, Strict } from '../schema.ts'
import { type RotationKind, rotationFacts } from './facts.ts'

// The config of a rotation policy, for each kind. The adapter for each kind is in packages/providers/src/rotation.
// Every description is a sentence that clients show beside the field.

/** Alphabets by name. Any other string is the list of characters itself. */
export const namedAlphabets = {
  alphanumeric: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  hex: '0123456789abcdef',
  base64url: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
  ascii: Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join(''),
} as const

export const generatedLengthDefault = 32
export const passwordLengthDefault = 32

const username = (maxLength: number, which: string) =>
  Type.String({
    maxLength,
    // Excludes every character that could end a quoted name or literal, so a valid name is safe in a statement.
    pattern: '^[A-Za-z_][A-Za-z0-9_.@$-]*$',
    description: `${which} The account must exist on the target. It must not be the admin account with which the server signs in.`,
  })

const PasswordLength = Type.Optional(
  Type.Integer({
    minimum: 16,
    maximum: 128,
    description: `Length of the passwords, which have only letters and digits. Default: ${passwordLengthDefault}.`,
  }),
)

const Statements = (placeholders: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 4000, pattern: '^[^\\u0000]+$' }), {
      minItems: 1,
      maxItems: 5,
      description: `Statements that set the new password of the account, in order. They replace the usual statement. They can contain the placeholders ${placeholders}, but never the password itself.`,
    }),
  )

const accounts = (maxLength: number) => ({
  username: username(maxLength, 'Account whose password is rotated.'),
  alternateUsername: Type.Optional(
    username(
      maxLength,
      'Second account with the same rights. Rotations take turns between the two, so that the password before stays good until the next one.',
    ),
  ),
  usernameSecret: Type.Optional({
    ...SecretName,
    description:
      'Secret of the same environment whose value is the name of the account to which the password belongs. The rotator writes it together with the password.',
  }),
})

const Generated = Strict({
  kind: Type.Literal('generated'),
  length: Type.Optional(
    Type.Integer({
      minimum: 8,
      maximum: 1024,
      description: `Length of the values in characters. Default: ${generatedLengthDefault}.`,
    }),
  ),
  alphabet: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 95,
      pattern: '^[\\u0020-\\u007e]+$',
      description:
        'Characters of the values: `alphanumeric` (the default), `hex`, `base64url`, `ascii`, or a list of the allowed characters, each of them once.',
    }),
  ),
})

const Postgres = Strict({
  kind: Type.Literal('postgres'),
  ...accounts(63),
  passwordLength: PasswordLength,
  statements: Statements('{{username}} and {{verifier}} (a SCRAM-SHA-256 verifier)'),
})

const Mysql = Strict({
  kind: Type.Literal('mysql'),
  ...accounts(32),
  userHost: Type.String({
    pattern: '^[A-Za-z0-9_.:%/-]{1,60}$',
    description: 'Host part of the account’s name, as MySQL shows it: `%` for any host, or for example `10.0.%`.',
  }),
  passwordLength: PasswordLength,
  statements: Statements('{{username}}, {{userHost}} and {{verifier}} (a mysql_native_password hash)'),
})

const Redis = Strict({
  kind: Type.Literal('redis'),
  username: username(63, 'Account whose password is rotated.'),
  passwordLength: PasswordLength,
  statements: Statements('{{username}} and {{verifier}} (the SHA-256 of the password in hex)'),
})

interface Row {
  config: TObject
}

/** Every kind of rotation, by tag. */
export const rotationKinds = {
  generated: { ...rotationFacts.generated, config: Generated },
  postgres: { ...rotationFacts.postgres, config: Postgres },
  mysql: { ...rotationFacts.mysql, config: Mysql },
  redis: { ...rotationFacts.redis, config: Redis },
} as const satisfies Record<RotationKind, Row>

export type { RotationKind } from './facts.ts'
export type RotationConfig<K extends RotationKind> = Static<(typeof rotationKinds)[K]['config']>
/** Kinds that change the password of an account on a lease target. */
export type AccountKind = Exclude<RotationKind, 'generated'>

/**
 * Returns why a policy’s config is invalid, or null if it is valid. It checks rules between fields; the schemas check
 * each field alone. The reason begins with the path of the field.
 *
 * @example rotationConfigProblem({ kind: 'generated', alphabet: 'aa' }, 'KEY') // 'alphabet: names a character twice'
 */
export function rotationConfigProblem(config: RotationConfig<RotationKind>, secretName: string): string | null {
  if (config.kind === 'generated') return alphabetProblem(config.alphabet)
  if (config.kind !== 'redis') {
    const problem = alternationProblem(config, secretName)
    if (problem !== null) return problem
  }
  return statementsProblem(config)
}

function alphabetProblem(alphabet: string | undefined): string | null {
  if (alphabet === undefined || Object.hasOwn(namedAlphabets, alphabet)) return null
  return new Set(alphabet).size === alphabet.length ? null : 'alphabet: names a character twice'
}

type Alternating = Pick<RotationConfig<'postgres'>, 'username' | 'alternateUsername' | 'usernameSecret'>

function alternationProblem({ username, alternateUsername, usernameSecret }: Alternating, secretName: string) {
  if (alternateUsername === undefined)
    return usernameSecret === undefined ? null : 'usernameSecret: only with alternateUsername'
  if (usernameSecret === undefined) return 'usernameSecret: needed with alternateUsername'
  if (alternateUsername === username) return 'alternateUsername: is the same account as username'
  return usernameSecret === secretName ? 'usernameSecret: is the secret of the password itself' : null
}

function statementsProblem(config: RotationConfig<AccountKind>): string | null {
  const { kind, statements } = config
  if (statements === undefined) return null
  for (const [index, statement] of statements.entries()) {
    const problem = templateProblem(statement, rotationKinds[kind].placeholders)
    if (problem !== null) return `statements[${index}]: ${problem}`
    if (kind === 'redis' && !/^ACL SETUSER \{\{username\}\}(?: [^\s]+)+$/.test(statement))
      return `statements[${index}]: is not of the form ACL SETUSER {{username}} <rules>`
  }
  const missing = ['username', 'verifier'].find((name) => !statements.join().includes(`{{${name}}}`))
  return missing === undefined ? null : `statements: {{${missing}}} is in none of them`
}
