import { createHash } from 'node:crypto'
import { verifierProblem } from '@skerry/contract/leases/verifiers'
import { expect, test } from 'vitest'
import { nativePasswordHash, newLeasePassword, redisVerifier, scramVerifier } from './lease-verifiers.ts'

test('the SCRAM verifier is the one in RFC 7677, section 3', async () => {
  const salt = new Uint8Array(Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64'))
  expect(await scramVerifier('pencil', salt)).toBe(
    'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  )
})

test('the hash for MySQL is the result of its PASSWORD function', async () => {
  expect(await nativePasswordHash('password')).toBe('*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19')
})

test('the digest for Redis is the SHA-256 of the password', async () => {
  expect(await redisVerifier('pencil')).toBe(createHash('sha256').update('pencil').digest('hex'))
})

test('the contract accepts every verifier, and no two passwords are the same', async () => {
  const passwords = Array.from({ length: 50 }, newLeasePassword)
  expect(new Set(passwords).size).toBe(50)
  for (const password of passwords) expect(password).toMatch(/^[A-Za-z][A-Za-z0-9]{39}$/)
  const [password = ''] = passwords
  expect(verifierProblem('postgres', await scramVerifier(password))).toBeNull()
  expect(verifierProblem('mysql', await nativePasswordHash(password))).toBeNull()
  expect(verifierProblem('redis', await redisVerifier(password))).toBeNull()
  expect(await scramVerifier(password)).not.toBe(await scramVerifier(password))
})

test.each([
  ['an empty password', ''],
  ['a password beyond ASCII, which SASLprep might change', 'pässword'],
  ['a password with a line break', 'a\nb'],
])('%s has no verifier', async (_, password) => {
  const refusal = expect.objectContaining({ code: 'invalid_argument' })
  for (const make of [scramVerifier, nativePasswordHash, redisVerifier])
    await expect((async () => make(password))()).rejects.toThrow(refusal)
})
