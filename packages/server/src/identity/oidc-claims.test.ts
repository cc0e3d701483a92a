import { describe, expect, test } from 'vitest'
import { secondFactorOf } from './oidc-claims.ts'

const at = 1_790_000_000
const instant = new Date(at * 1000).toISOString()
const none = { secondFactor: false, mfaAt: null }

describe('what an issuer claims of a second factor', () => {
  test.each([
    ['nothing', {}, none],
    ['a password alone', { amr: ['pwd'], auth_time: at }, none],
    ...['mfa', 'otp', 'hwk', 'swk', 'pop', 'sms'].map(
      (method) => [method, { amr: ['pwd', method], auth_time: at }, { secondFactor: true, mfaAt: instant }] as const,
    ),
    ['enrolled, and not entered', { mfa_enrolled: true, auth_time: at }, { secondFactor: true, mfaAt: null }],
    [
      'entered later than signed in',
      { amr: ['otp'], auth_time: at - 9, mfa_time: at },
      { secondFactor: true, mfaAt: instant },
    ],
    ['entered, by its time alone', { mfa_time: at }, { secondFactor: true, mfaAt: instant }],
    ['used at an unknown time', { amr: ['otp'] }, { secondFactor: true, mfaAt: null }],
    ['enrolled in another form', { mfa_enrolled: 'true' }, none],
    ['methods in another form', { amr: 'otp', auth_time: at }, none],
    ['a time in another form', { mfa_time: `${at}` }, none],
    ['a time that no instant has', { mfa_time: 1e300 }, none],
    ['a time that is no number', { mfa_time: Number.NaN }, none],
    ['a time to come', { mfa_time: at + 61 }, none],
    ['a clock a little ahead', { mfa_time: at + 59 }, { secondFactor: true, mfaAt: instant }],
    ['a time before time', { mfa_time: -1 }, none],
  ] as const)('%s', (_, claims, facts) => {
    expect(secondFactorOf(claims as Record<string, unknown>, instant)).toEqual(facts)
  })
})
