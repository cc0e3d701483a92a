/** A login as an executor reads it from its slot. */
export interface Login {
  username: string
  password: string
  totpSecret?: string
}

export interface LoginFields {
  username: string
  password: string
  totp: string
}

/** Texts to show at fields, by the field's name. Empty when nothing is wrong. */
export type FieldErrors<F> = Partial<Record<keyof F, string>>

/** Far more than any key or password has, and far less than the server accepts. */
const charactersMax = 100_000

export type Read<T, F> = { value: T } | { errors: FieldErrors<F> }

export function readApiKey(text: string, label: string): Read<string, { key: string }> {
  const value = text.trim()
  const problem =
    problemOf(value, label) ?? (/\s/.test(value) ? `${label} has a space or a line break inside.` : undefined)
  return problem === undefined ? { value } : { errors: { key: problem } }
}

/** A password is taken as it was typed; a space at either end may belong to it. */
export function readLogin({ username, password, totp }: LoginFields): Read<Login, LoginFields> {
  const name = username.trim()
  const secret = totp.trim() === '' ? null : readTotpSecret(totp)
  const errors: FieldErrors<LoginFields> = {}
  const wrong = {
    username: problemOf(name, 'The user name'),
    password: problemOf(password, 'The password'),
    totp: secret?.problem,
  }
  for (const field of Object.keys(wrong) as (keyof LoginFields)[])
    if (wrong[field] !== undefined) errors[field] = wrong[field]
  if (Object.keys(errors).length > 0) return { errors }
  return { value: { username: name, password, ...(secret?.value ? { totpSecret: secret.value } : {}) } }
}

function problemOf(value: string, what: string): string | undefined {
  if (value === '') return `${what} is missing.`
  if (value.length > charactersMax) return `${what} is too long.`
  return value.isWellFormed() ? undefined : `${what} has a character that cannot be stored.`
}

/** The defaults of authenticator apps. A stored secret cannot express other settings. */
const totpDefaults = { digits: '6', period: '30', algorithm: 'SHA1' }

/** The secret of an authenticator app: in base32 (RFC 4648), or the text of a QR code, `otpauth://totp/...`. */
export function readTotpSecret(text: string): { value?: string; problem?: string } {
  const given = text.trim()
  const isUri = /^otpauth:/i.test(given)
  const uri = isUri ? URL.parse(given) : null
  if (isUri && uri?.host.toLowerCase() !== 'totp')
    return { problem: 'This is not a code of an authenticator app that shows new digits every 30 seconds.' }
  for (const [name, usual] of Object.entries(totpDefaults))
    if ((uri?.searchParams.get(name) ?? usual).toUpperCase() !== usual)
      return { problem: 'This authenticator is set up in an unusual way, which cannot be used here.' }
  const value = (uri ? (uri.searchParams.get('secret') ?? '') : given).replace(/[\s-]|=+$/g, '').toUpperCase()
  if (!/^[A-Z2-7]{16,200}$/.test(value))
    return {
      problem: 'Enter the setup key: at least 16 letters and digits from 2 to 7, or text that begins with otpauth://.',
    }
  return { value }
}
