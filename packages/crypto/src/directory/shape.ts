import { limits } from '@skerry/contract/limits'
import { emailPattern, slugForm, slugPattern } from '@skerry/contract/patterns'
import { idLength, idPrefixes } from '@skerry/contract/prefixes'
import { type Bytes, decodeUtf8, encodeUtf8 } from '../base64url.ts'
import { canonicalJson } from '../canonical-json.ts'
import { malformed } from './refusal.ts'

/** Checks a value -> the problem, which begins with the path of the member below this one; null for a valid value. */
export type Check = (value: unknown) => string | null

const check =
  (problem: string, isValid: (value: unknown) => boolean): Check =>
  (value) =>
    isValid(value) ? null : ` ${problem}`

export const text = (pattern: RegExp, what: string): Check =>
  check(`must be ${what}`, (value) => typeof value === 'string' && pattern.test(value))

export const whole = (from: number, to = Number.MAX_SAFE_INTEGER): Check =>
  check(
    to === Number.MAX_SAFE_INTEGER
      ? `must be a whole number from ${from}`
      : `must be a whole number from ${from} to ${to}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= from && (value as number) <= to,
  )

export const oneOf = (...values: readonly string[]): Check =>
  check(`must be ${values.join(' or ')}`, (value) => typeof value === 'string' && values.includes(value))

export const nullable =
  (inner: Check): Check =>
  (value) =>
    value === null ? null : inner(value)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object with exactly these members. */
export const object =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) => {
    if (!isObject(value)) return ' must be an object'
    for (const [name, member] of Object.entries(members)) {
      if (!Object.hasOwn(value, name)) return `.${name} is missing`
      const problem = member(value[name])
      if (problem !== null) return `.${name}${problem}`
    }
    return Object.keys(value).length === Object.keys(members).length ? null : ' has an unknown member'
  }

/** An object of the first form if it has the member `has`, else of the second one. */
export const either =
  (has: string, first: Check, second: Check): Check =>
  (value) =>
    isObject(value) && Object.hasOwn(value, has) ? first(value) : second(value)

export const list =
  (element: Check, from: number, to: number): Check =>
  (value) => {
    if (!Array.isArray(value) || value.length < from || value.length > to) return ` must have ${from} to ${to} elements`
    for (const [index, one] of value.entries()) {
      const problem = element(one)
      if (problem !== null) return `[${index}]${problem}`
    }
    return null
  }

/** 32 bytes in the only spelling of base64url: the two unused bits of the last character are zero. */
export const hashPattern = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/
export const hash: Check = text(hashPattern, 'a SHA-256 in base64url')
export const nonce: Check = text(/^[A-Za-z0-9_-]{21}[AQgw]$/, '16 bytes in base64url')
export const signature64: Check = text(/^[A-Za-z0-9_-]{85}[AQgw]$/, '64 bytes in base64url')

/** For a member that another function has checked before. */
export const anything: Check = () => null
/** The version of a format. A later one is refused before, with another error. */
export const first: Check = (value) => (value === 1 ? null : ' must be 1')

/** A text of one line, by its pattern and its length. */
export const line = (pattern: string, charactersMax: number, what: string): Check => {
  const expression = new RegExp(pattern)
  return check(
    `must be ${what}`,
    (value) => typeof value === 'string' && value.length <= charactersMax && expression.test(value),
  )
}
export const email: Check = line(emailPattern, limits.emailCharacters, 'an e-mail address')
export const slug: Check = text(new RegExp(slugPattern), 'a name of a-z, 0-9 and hyphens')

/** Unix seconds. */
export const time: Check = whole(0)

const idForm = `[0-9A-Za-z]{${idLength}}`
export const id = (kind: keyof typeof idPrefixes): Check =>
  text(new RegExp(`^${idPrefixes[kind]}${idForm}$`), `an id that begins with ${idPrefixes[kind]}`)

/** Names of environments: of an application (`app/env`) and of a group (`group:env`). */
export const appEnvironmentPattern = new RegExp(`^${slugForm}/${slugForm}$`)
export const groupEnvironmentPattern = new RegExp(`^${slugForm}:${slugForm}$`)

export const jwk: Check = object({
  crv: oneOf('P-256'),
  kty: oneOf('EC'),
  x: text(hashPattern, 'a coordinate of 32 bytes'),
  y: text(hashPattern, 'a coordinate of 32 bytes'),
})

/**
 * Parses JSON that must be in the form of RFC 8785. Every value has one such form, so a duplicate member, another order,
 * whitespace, another spelling of a number or a text, and a lone surrogate are refused.
 */
export function parseCanonical(bytes: Bytes): unknown {
  let text: string
  let value: unknown
  let canonical: string
  try {
    text = decodeUtf8(bytes)
    value = JSON.parse(text)
    canonical = canonicalJson(value)
  } catch {
    throw malformed('it is not JSON')
  }
  if (canonical !== text) throw malformed('its JSON is not canonical')
  return value
}

export const canonicalBytes = (value: unknown): Bytes => encodeUtf8(canonicalJson(value))

/** @throws CryptoError `directory_malformed`, with the path of the member. */
export function requireShape(what: string, shape: Check, value: unknown): void {
  const problem = shape(value)
  if (problem !== null) throw malformed(`${what}${problem}`)
}
