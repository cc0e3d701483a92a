import { createHash, hkdfSync, randomBytes } from 'node:crypto'
import { audit } from '@skerry/contract/audit/endpoints'
import { health } from '@skerry/contract/health/endpoints'
import { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { newToken } from '@skerry/crypto/token'
import { expect, test } from 'vitest'
import { recordTrips } from '../../src/features/honey-tokens/trips.ts'
import { outbox, readMail } from '../people.ts'
import { openTenant } from '../scene.ts'
import { mailsWritten, tableDump } from '../state.ts'
import { newMember, signUp } from '../tenant.ts'

// A program that does not know our token format sends the whole token, with its seed, instead of the derived bearer.

const { world, tenant } = await openTenant()
await newMember(world, tenant, 'admin', { email: 'told@example.com' })

const params = { orgId: tenant.orgId }
async function register() {
  const { token, tokenId, tokenHash, publicKeyJwk, bearer } = await newToken('skerry')
  const body = { name: 'build machine', tokenId, tokenHash, publicKeyJwk }
  const { status } = await world.call(tokens.create, { as: tenant.admin.as, params, body })
  expect(status).toBe(201)
  return { token, tokenId, bearer }
}
const present = async (token: string) => {
  const answer = await world.call(me.get, { as: `Bearer ${token}`, headers: { 'user-agent': 'published-sdk/1.2' } })
  await recordTrips(world.server.context)
  return answer
}
const trail = async (resourceId: string) => {
  const query = { action: 'token.exposed', resourceId }
  return (await world.call(audit.list, { as: tenant.admin.as, params, query })).body.entries
}
async function mailsAbout(tokenId: string) {
  await mailsWritten(world)
  const all = await Promise.all((await outbox(world)).map((name) => readMail(world, name)))
  return all.filter((mail) => mail.includes(tokenId) && mail.includes('must be replaced'))
}

test('a token that is sent whole is refused like an unknown token, and causes at most one alarm an hour, without its value', async () => {
  const { token, tokenId, bearer } = await register()
  const unknown = await present(`${tokenId}_${randomBytes(32).toString('base64url')}`)
  expect(await trail(tokenId)).toEqual([])
  for (let sent = 0; sent < 3; sent++) {
    const refused = await present(token)
    expect([refused.status, refused.error]).toEqual([unknown.status, unknown.error])
  }
  expect(await trail(tokenId)).toMatchObject([
    {
      actorType: 'system',
      resourceType: 'service_token',
      ipAddress: '127.0.0.1',
      userAgent: 'published-sdk/1.2',
      metadata: { name: 'build machine' },
    },
  ])
  const [mail, ...more] = await mailsAbout(tokenId)
  expect(more).toEqual([])
  for (const part of ['To: told@example.com', 'build machine', tokenId, 'published-sdk/1.2', '127.0.0.1'])
    expect(mail).toContain(part)
  // The clock moves a little with each reading, so this leaves a minute of margin.
  const [told] = await trail(tokenId)
  const secondsSince = () => (world.clock.now().getTime() - Date.parse(told?.createdAt ?? '')) / 1000
  world.clock.advance(3540 - secondsSince())
  await present(token)
  expect(await trail(tokenId)).toHaveLength(1)
  world.clock.advance(3601 - secondsSince())
  await present(token)
  expect(await trail(tokenId)).toHaveLength(2)
  expect(await mailsAbout(tokenId)).toHaveLength(2)

  const secrets = [token, bearer].map((text) => text.slice(tokenId.length + 1))
  const written = [...(await tableDump(world)).map(({ text }) => text), ...world.log, ...(await mailsAbout(tokenId))]
  for (const secret of secrets) expect(written.filter((text) => text.includes(secret))).toEqual([])
})

test('a whole token is noticed on an open route too; a correctly derived bearer works and causes no alarm', async () => {
  const [whole, derived] = [await register(), await register()]
  await world.call(health.live, { as: `Bearer ${whole.token}` })
  expect((await present(derived.bearer)).status).toBe(200)
  expect(await trail(whole.tokenId)).toHaveLength(1)
  expect(await trail(derived.tokenId)).toEqual([])
})

test('a revoked token, a decoy and an unknown token cause no alarm when they are sent whole', async () => {
  const { token, tokenId } = await register()
  await world.call(tokens.revoke, { as: tenant.admin.as, params: { ...params, tokenId } })
  const decoy = await newToken('skerry')
  const body = { tokenId: decoy.tokenId, tokenHash: decoy.tokenHash }
  await world.call(honeyTokens.create, { as: tenant.admin.as, params, body })
  for (const sent of [token, decoy.token, (await newToken('skerry')).token]) await present(sent)
  expect((await trail(tokenId)).concat(await trail(decoy.tokenId))).toEqual([])
})

test('a token id with a wrong seed, or a seed with another token’s id, causes no alarm', async () => {
  const { token, tokenId, bearer } = await register()
  const { tokenId: other } = await register()
  const seed = token.slice(tokenId.length + 1)
  const hash = createHash('sha256').update(bearer).digest('base64url')
  const key = Buffer.from(hkdfSync('sha256', Buffer.from(seed, 'base64url'), tokenId, 'other', 32)).toString(
    'base64url',
  )
  for (const sent of [`${other}_${seed}`, `${tokenId}_${hash}`, `${tokenId}_${key}`, `${tokenId}_${seed}A`])
    await present(sent)
  expect((await trail(tokenId)).concat(await trail(other))).toEqual([])
})

test('the audit log of another organization gets no entry about a whole token', async () => {
  const elsewhere = await signUp(world)
  await present((await register()).token)
  const query = { action: 'token.exposed' }
  const { body } = await world.call(audit.list, { as: elsewhere.admin.as, params: { orgId: elsewhere.orgId }, query })
  expect(body.entries).toEqual([])
})
