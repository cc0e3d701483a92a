import { expect, test } from 'vitest'
import { readApiKey, readLogin, readTotpSecret } from './credentials.ts'

const secret = 'JBSWY3DPEHPK3PXP'

test.each([
  [secret, secret],
  ['jbsw y3dp ehpk 3pxp', secret],
  [`otpauth://totp/Shop:ada?secret=${secret}&issuer=Shop`, secret],
  [`otpauth://totp/Shop?secret=${secret}&digits=6&period=30&algorithm=sha1`, secret],
])('%s is a setup key', (text, value) => {
  expect(readTotpSecret(text)).toEqual({ value })
})

test.each([
  ['123456', 'setup key'],
  ['otpauth://hotp/Shop?secret=JBSWY3DPEHPK3PXP&counter=1', 'every 30 seconds'],
  ['otpauth://totp/Shop?secret=JBSWY3DPEHPK3PXP&digits=8', 'unusual'],
  ['otpauth://totp/Shop', 'setup key'],
])('%s is not a setup key, and the error says why', (text, words) => {
  expect(readTotpSecret(text).problem).toContain(words)
})

test('a login reports each wrong field, and leaves a password as it is', () => {
  expect(readLogin({ username: ' ', password: '', totp: '1' })).toEqual({
    errors: {
      username: 'The user name is missing.',
      password: 'The password is missing.',
      totp: expect.stringContaining('setup key'),
    },
  })
  const value = { username: 'ada', password: ' with spaces ' }
  expect(readLogin({ username: ' ada ', password: ' with spaces ', totp: '' })).toEqual({ value })
})

test.each([
  ['', 'is missing'],
  ['one two', 'has a space'],
  ['x'.repeat(100_001), 'is too long'],
  ['\ud800', 'cannot be stored'],
])('a key that is %j is refused', (text, words) => {
  expect(readApiKey(text, 'Key')).toEqual({ errors: { key: expect.stringContaining(words) } })
})
