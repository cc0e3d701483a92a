import { newToken, parseToken } from '@skerry/crypto/token'
import { wrapKey } from '@skerry/crypto/wrap'
import { describe, expect, test } from 'vitest'
import { openAdminSecret, sealAdminSecret } from './admin-secrets.ts'

const adminSecret = 'postgres://skerry:secret@db.internal:5432/shop'
const connection = { host: 'db.internal', port: 5432, database: 'shop', tls: 'verify-full' as const }
const config = {
  provider: 'postgres' as const,
  executor: 'provisioner' as const,
  provisionerTokenId: `skt_${'0'.repeat(22)}`,
  connection,
  accessLevel: 'readonly' as const,
  schema: 'app',
}
const mine = await newToken('skerry')
const { privateKey } = await parseToken(mine.token)
const wrapped = await sealAdminSecret({ adminSecret, config }, mine.publicKeyJwk)

describe('the admin credential for a provisioner', () => {
  test('opens only with the key of its provisioner’s token', async () => {
    expect(await openAdminSecret(wrapped, config, privateKey)).toBe(adminSecret)
    const other = await parseToken((await newToken('skerry')).token)
    await expect(openAdminSecret(wrapped, config, other.privateKey)).rejects.toThrow()
  })

  test('opens when a database returns the settings in another order', async () => {
    const stored = Object.fromEntries(Object.entries(config).toReversed())
    expect(await openAdminSecret(wrapped, stored, privateKey)).toBe(adminSecret)
  })

  test.each([
    ['another host', { connection: { ...connection, host: 'evil.example.com' } }],
    ['unchecked certificates', { connection: { ...connection, tls: 'disable' } }],
    ['custom statements', { accessLevel: 'custom', createStatements: ['ALTER ROLE skerry SUPERUSER'] }],
    ['one setting less', { schema: undefined }],
  ])('does not open for changed settings: %s', async (_, change) => {
    const opening = openAdminSecret(wrapped, { ...config, ...change }, privateKey)
    await expect(opening).rejects.toThrow('the lease target’s settings do not match its admin credential')
  })

  test.each([
    ['the bare credential', adminSecret],
    ['a value that is not an object', 'null'],
    ['another version', '{"v":2}'],
  ])('is refused if it was wrapped as %s, and the error does not repeat it', async (_, text) => {
    const bare = await wrapKey(new TextEncoder().encode(text), mine.publicKeyJwk)
    const error = await openAdminSecret(bare, config, privateKey).catch((thrown: Error) => thrown)
    expect(error).toMatchObject({ code: 'malformed_answer' })
    expect(String(error)).not.toContain('secret@')
  })
})
