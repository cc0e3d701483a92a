import { expect, it } from 'vitest'
import { statusFailure } from '../src/http.ts'
import { ProviderError } from '../src/provider-error.ts'

const now = new Date('2026-01-01T00:00:00Z')
const day = 24 * 3600 * 1000
const asked = (value: string) =>
  statusFailure({ status: 429, headers: { 'retry-after': value }, body: undefined }, now, null)?.retryAfterMs

it('a provider asks for a pause of a day at most', () => {
  expect(asked('30')).toBe(30_000)
  expect(asked('Thu, 01 Jan 2026 00:01:00 GMT')).toBe(60_000)
  for (const value of ['999999999', '9999999999', 'Fri, 31 Dec 9999 23:59:59 GMT', '+200000-01-01T00:00:00Z'])
    expect(asked(value), value).toBe(day)
})

it('a pause that is no time is none', () => {
  for (const value of ['Infinity', 'soon', '9'.repeat(400)]) expect(asked(value), value).toBeUndefined()
  for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY])
    expect(new ProviderError('rate_limited', 'HTTP 429', ms).retryAfterMs).toBeUndefined()
})
