import { describe, expect, test } from 'vitest'
import { secondFactorOf } from './oidc-claims.ts'

const at = 1_790_000_000
const instant = new Date(at * 1000).toISOString()
const none = { secondFactor: false, mfaAt: null }

describe('secondFactorOf', () => {
  test.each([
    ['no claims', {}, none],
    ['a password alone', { amr: ['pwd'], auth_time: at }, none],
    ...['mfa', 'otp', 'hwk', 'swk', 'pop', 'sms'].map(
      (method) => [method, { amr: ['pwd', method], auth_time: at }, { secondFactor: true, mfaAt: instant }] as const,
    ),
    ['an enrolled second factor', { mfa_enrolled: true, auth_time: at }, { secondFactor: true, mfaAt: null }],
    [
      'a second factor that was entered after the sign-in',
      { amr: ['otp'], auth_time: at - 9, mfa_time: at },
      { secondFactor: true, mfaAt: instant },
    ],
    ['mfa_time alone', { mfa_time: at }, { secondFactor: true, mfaAt: instant }],
    ['a method without a time', { amr: ['otp'] }, { secondFactor: true, mfaAt: null }],
    ['mfa_enrolled as a string', { mfa_enrolled: 'true' }, none],
    ['amr that is not a list', { amr: 'otp', auth_time: at }, none],
    ['mfa_time as a string', { mfa_time: `${at}` }, none],
    ['a time out of range', { mfa_time: 1e300 }, none],
    ['NaN as the time', { mfa_time: Number.NaN }, none],
    ['a time 61 seconds in the future', { mfa_time: at + 61 }, none],
    ['a time 59 seconds in the future', { mfa_time: at + 59 }, { secondFactor: true, mfaAt: instant }],
    ['a negative time', { mfa_time: -1 }, none],
  ] as const)('returns the right second factor for %s', (_, claims, facts) => {
    expect(secondFactorOf(claims as Record<string, unknown>, instant)).toEqual(facts)
  })
})
