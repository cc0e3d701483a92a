import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { mysqlFailure } from '../leases/mysql-client.ts'
import { postgresFailure } from '../leases/postgres-client.ts'
import { redisFailure } from '../leases/redis-client.ts'
import { errorTextOf, redactSecrets } from '../provider-error.ts'
import { textSearchFor } from './text.ts'

const password = 'kJx9/Qw"7Z+tr&Lm4 vB2ü<end'
const base64 = (text: string) => Buffer.from(text).toString('base64')
const inLines = (text: string, length: number) => text.match(new RegExp(`.{1,${length}}`, 'gs'))!.join('\n')

const shown: [string, string][] = [
  ['unchanged', password],
  ['in capitals', password.toUpperCase()],
  ['in base64', base64(password)],
  ['in base64 after a user name', base64(`admin:${password}`)],
  ['in base64url', Buffer.from(`a${password}`).toString('base64url')],
  ['URL-encoded', encodeURIComponent(password)],
  ['URL-encoded twice', encodeURIComponent(encodeURIComponent(password))],
  ['in hex', Buffer.from(password).toString('hex')],
  ['in upper-case hex', Buffer.from(password).toString('hex').toUpperCase()],
  ['in JSON', JSON.stringify(password)],
  ['in ASCII-only JSON', JSON.stringify(password).replace('ü', '\\u00fc')],
  ['in JSON in JSON', JSON.stringify(JSON.stringify(password))],
  ['in HTML', password.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')],
  ['in UTF-16', Buffer.from(password, 'utf16le').toString('latin1')],
  ['wrapped', inLines(password, 7)],
  ['wrapped in base64', inLines(base64(password), 10)],
  ['wrapped in hex', inLines(Buffer.from(password).toString('hex'), 20)],
  ['wrapped in JSON', JSON.stringify(inLines(base64(password), 10))],
  ['cut at its end', password.slice(0, 8)],
  ['cut at its beginning', password.slice(-12)],
  ['cut at both ends', password.slice(5, 13)],
  ['cut in base64', base64(password).slice(3, 12)],
]

describe('an error text that repeats a password', () => {
  it.each(shown)('%s is not stored', (_, text) => {
    const errorText = `syntax error near '${text}' at line 1`
    expect(errorTextOf(errorText, ['another-secret', password])).toBeNull()
    expect(redactSecrets(errorText, textSearchFor([password]))).toBe(
      'The error text is not shown, because it repeats a secret.',
    )
  })

  it.each(shown)('%s is not in the reason of a lease target', (_, text) => {
    const errorText = `near '${text}'`
    const sql = Object.assign(new Error(errorText), { errno: 1064, sqlMessage: errorText })
    const reply = Object.assign(new Error(`ERR ${errorText}`), { name: 'ReplyError' })
    const failures = [
      mysqlFailure(sql, [password]),
      redisFailure(reply, [password]),
      postgresFailure(new Error(errorText), [password]),
    ]
    expect(failures.map(({ message }) => message)).toEqual(['error 1064', 'ERR', 'the connection was interrupted'])
  })

  it.each(['Ab3\\Tx9\\Rq', 'corp\\Nx7\\Rk2\\Tq9'])(
    '%s, which looks like escaped line breaks, is not stored',
    (secret) => {
      expect(errorTextOf(`near '${secret}'`, [secret])).toBeNull()
    },
  )

  it('is recognized for a short password as a word of its own, and inside a word only if the password mixes letters and digits', () => {
    const repeats = textSearchFor(['1', 'root', 'a1b2', ''])
    expect(['HTTP 401', 'rooted'].map(repeats)).toEqual([false, false])
    expect(['line 1', "user 'ROOT'", 'xa1b2x'].map(repeats)).toEqual([true, true, true])
  })
})

it('an error text that repeats no secret is stored as one line of 300 characters', () => {
  const errorText = `permission denied for\n\x1b[2Jtable ${'x'.repeat(400)}`
  expect(errorTextOf(errorText, [password, 'Permission to administer the table is needed'])).toBe(
    `permission denied for [2Jtable ${'x'.repeat(400)}`.slice(0, 300),
  )
})

it('an error text that only shares ordinary words with a secret is shown', () => {
  const repeats = textSearchFor(['https://user@db.example.com/shop', 'production-eu', '{"type":"service_account"}'])
  expect(repeats('see https://docs.example.org: the database of production is away, and the account is locked')).toBe(
    false,
  )
})

it.each(['utf8', 'base64', 'base64url', 'hex'] as const)('a part of a long value is found in %s', (encoding) => {
  const bytes = Buffer.from(Array.from({ length: 400 }, () => randomUUID()).join('\n'))
  const repeats = textSearchFor([bytes.toString()])
  expect(repeats(`cannot store ${bytes.toString(encoding).slice(5000, 5060)}`)).toBe(true)
  expect(repeats('cannot store the value')).toBe(false)
})

it('a long value is found if it is URL-encoded or escaped', () => {
  const value = `-----BEGIN KEY-----\n${randomBytes(2000).toString('base64')}\n`
  const repeats = textSearchFor([value])
  expect([encodeURIComponent(value), JSON.stringify(JSON.stringify(value))].map(repeats)).toEqual([true, true])
})
