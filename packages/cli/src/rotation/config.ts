import type { RotationKind } from '@skerry/contract/rotation/facts'
import { usage } from '../failure.ts'

export interface RotationOptions {
  length?: string
  alphabet?: string
  username?: string
  alternateUsername?: string
  usernameSecret?: string
  userHost?: string
  statement?: string[]
}

type Config = { kind: RotationKind } & Record<string, unknown>

/** The config field that each option sets: for a random value, and for the password of an account. */
const fields: Record<keyof RotationOptions, { flag: string; generated?: string; account?: string }> = {
  length: { flag: '--length', generated: 'length', account: 'passwordLength' },
  alphabet: { flag: '--alphabet', generated: 'alphabet' },
  username: { flag: '--username', account: 'username' },
  alternateUsername: { flag: '--alternate-username', account: 'alternateUsername' },
  usernameSecret: { flag: '--username-secret', account: 'usernameSecret' },
  userHost: { flag: '--user-host', account: 'userHost' },
  statement: { flag: '--statement', account: 'statements' },
}

/** Settings that `--unset` resets to their defaults. */
export const unsettable = ['length', 'alphabet', 'alternate-username', 'username-secret', 'statement'] as const
export type Unsettable = (typeof unsettable)[number]

const familyOf = (kind: RotationKind) => (kind === 'generated' ? 'generated' : 'account')

/** Builds the config of a new policy from the options. The server checks the values of its fields. */
export function rotationConfig(kind: RotationKind, options: RotationOptions): Config {
  const settings = settingsOf(kind, options)
  if (kind !== 'generated' && options.username === undefined) throw usage('the account is missing', 'use --username')
  return { kind, ...settings }
}

/**
 * Returns a policy's config with the settings that the options name. All other settings stay. Undefined if the options
 * name none.
 *
 * @throws Failure `usage` for an option that the policy's kind does not have, or that is set and unset at once.
 */
export function editedConfig(current: Config, options: RotationOptions, unset: readonly Unsettable[]) {
  const settings = settingsOf(current.kind, options)
  const edited = { ...current, ...settings }
  for (const name of unset) {
    const field = fieldOf(current.kind, toOption(name))
    if (field in settings) throw usage(`--${name} and --unset ${name} cannot be used together`)
    delete edited[field]
  }
  return unset.length === 0 && Object.keys(settings).length === 0 ? undefined : edited
}

/** The settings that another config would change or drop, in words for people. */
export const lostSettings = (current: Config, next: Config): string[] =>
  Object.entries(current)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(next[name]))
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`)

const toOption = (name: Unsettable): keyof RotationOptions =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof RotationOptions

function settingsOf(kind: RotationKind, options: RotationOptions): Record<string, unknown> {
  const settings: Record<string, unknown> = {}
  for (const option of Object.keys(fields) as (keyof RotationOptions)[]) {
    const value = options[option]
    if (value !== undefined) settings[fieldOf(kind, option)] = option === 'length' ? Number(value) : value
  }
  return settings
}

function fieldOf(kind: RotationKind, option: keyof RotationOptions): string {
  const field = fields[option][familyOf(kind)]
  if (field !== undefined) return field
  if (kind === 'generated')
    throw usage('a generated value belongs to no account', 'use `rotation create` with --kind postgres, mysql or redis')
  throw usage(`${fields[option].flag} needs --kind generated`)
}

/** Refuses a length that is no number, before the session is opened. */
export function checkLength({ length }: { length?: string }): void {
  if (length !== undefined && !/^[1-9]\d{0,4}$/.test(length))
    throw usage(`--length must be a whole number from 1 (you gave '${length}')`)
}
