import { usage } from './failure.ts'

export interface RotationOptions {
  kind: 'generated' | 'postgres' | 'mysql' | 'redis'
  length?: string
  alphabet?: string
  username?: string
  alternateUsername?: string
  usernameSecret?: string
  userHost?: string
  statement?: string[]
}

/** Options of a command line -> the config of a policy. What it may hold and how, the server says. */
export function rotationConfig(options: RotationOptions) {
  const { kind, length, alphabet, username, alternateUsername, usernameSecret, userHost, statement } = options
  if (length !== undefined && !/^[1-9]\d{0,4}$/.test(length)) throw usage('--length takes a whole number')
  const size = length === undefined ? undefined : Number(length)
  const account = { username, alternateUsername, usernameSecret, userHost, statements: statement }
  if (kind === 'generated') {
    if (Object.values(account).some((value) => value !== undefined))
      throw usage('a generated value has no account', 'use --kind postgres, mysql or redis')
    return { kind, ...given({ length: size, alphabet }) }
  }
  if (alphabet !== undefined) throw usage('--alphabet goes with --kind generated alone')
  if (username === undefined) throw usage('no account is named', 'use --username')
  return { kind, ...given({ ...account, passwordLength: size }) }
}

const given = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
