import { apps } from '@skerry/contract/apps/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { limits } from '@skerry/contract/limits'
import { live } from '@skerry/contract/live/endpoints'
import type { LiveEvent } from '@skerry/contract/live/events'
import { members } from '@skerry/contract/members/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { afterEach, describe, expect, test } from 'vitest'
import { ciphertext, wrappedKey } from '../../../test/blobs.ts'
import { closeStreams, isChange, openStream } from '../../../test/live-stream.ts'
import { openEnv } from '../../../test/scene.ts'
import { stopSchedules } from '../../../test/state.ts'
import { type Actor, grantKey, newApp, newDecoy, newMember, newToken, putSecret } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { recordTrips } from '../honey-tokens/trips.ts'

const { world, tenant, appId, envId } = await openEnv()
const { orgId } = tenant

afterEach(closeStreams)

const watch = ({ as }: Pick<Actor, 'as'> = tenant.admin) => openStream(world.url, orgId, as)
const rename = (name: string) =>
  world.call(apps.update, { as: tenant.admin.as, params: { orgId, appId }, body: { name } })
const streamsOpen = () => world.server.context.live

describe('a stream', () => {
  test('begins with hello, in another generation each time', async () => {
    const [one, other] = [await watch(), await watch()]
    const generations = [one, other].map(({ events }) => (events[0] as LiveEvent & { type: 'hello' }).data.generation)
    expect(new Set(generations).size).toBe(2)
    expect(one.text()).toMatch(/^retry: \d+\n\n/)
  })

  test('tells of a change with names and ids alone', async () => {
    const stream = await watch()
    const member = await newMember(world, tenant)
    await grantKey(world, tenant, envId, member)
    const secret = await putSecret(world, tenant, envId, 'TOLD')
    const { data } = await stream.find('the secret', isChange('secret.written'))
    expect(data).toEqual({
      action: 'secret.written',
      resourceType: 'secret',
      resourceId: secret.id,
      actorType: 'service_token',
      actorId: tenant.admin.id,
      environmentId: envId,
      at: expect.any(String),
    })
    expect(stream.text()).not.toContain('TOLD')
    expect(stream.text()).not.toContain('@example.com')
  })

  test('tells of a write that shares its statement with others, once', async () => {
    const writer = await newToken(world, tenant)
    await grantKey(world, tenant, envId, writer)
    const put = (name: string) =>
      world.call(secrets.put, { as: writer.as, params: { orgId, envId, name }, body: { ciphertext: ciphertext() } })
    await put('WARM')
    const stream = await watch()
    await Promise.all(['A', 'B', 'C'].map(put))
    await until('three writes', () => stream.actions().filter((action) => action === 'secret.written').length === 3)
    await rename('After the writes')
    await stream.find('the rename', isChange('app.updated'))
    expect(stream.actions()).toHaveLength(4)
  })

  test('tells of nothing that was rolled back, refused or read', async () => {
    const stream = await watch()
    const body = { name: 'Same', slug: 'same' }
    const create = () => world.call(apps.create, { as: tenant.admin.as, params: { orgId }, body })
    expect([(await create()).status, (await create()).status]).toEqual([201, 409])
    const member = await newMember(world, tenant)
    expect((await world.call(apps.delete, { as: member.as, params: { orgId, appId } })).status).toBe(403)
    await rename('Last')
    await stream.find('the rename', isChange('app.updated'))
    expect(stream.actions().filter((action) => action.startsWith('app.'))).toEqual(['app.created', 'app.updated'])
  })

  test('tells admins of a tried decoy', async () => {
    const decoy = await newDecoy(world, tenant)
    const stream = await watch()
    await fetch(`${world.url}/v1/me`, { headers: { authorization: decoy.as } })
    await recordTrips(world.server.context)
    await stream.find('the decoy', isChange('honey_token.tripped'))
  })
})

describe('a member', () => {
  test('hears of secrets in environments whose key they hold, and of no others', async () => {
    const [holder, other] = [await newMember(world, tenant), await newMember(world, tenant)]
    await grantKey(world, tenant, envId, holder)
    const [heard, unheard] = [await watch(holder), await watch(other)]
    await putSecret(world, tenant, envId, 'HELD')
    await heard.find('the secret', isChange('secret.written'))
    await rename('For everybody')
    await unheard.find('the rename', isChange('app.updated'))
    expect(unheard.actions()).not.toContain('secret.written')
  })

  test('hears of a key that they got, and then of the secrets', async () => {
    const member = await newMember(world, tenant)
    const stream = await watch(member)
    await grantKey(world, tenant, envId, member)
    await stream.find('the grant', isChange('key.granted'))
    await putSecret(world, tenant, envId, 'NOW_HELD')
    await stream.find('the secret', isChange('secret.written'))
  })

  test('hears of no secret after the key was revoked', async () => {
    const member = await newMember(world, tenant)
    const grant = await grantKey(world, tenant, envId, member)
    const stream = await watch(member)
    await putSecret(world, tenant, envId, 'BEFORE')
    await stream.find('the secret', isChange('secret.written'))
    await world.call(grants.delete, { as: tenant.admin.as, params: { orgId, envId, grantId: grant.id } })
    await putSecret(world, tenant, envId, 'AFTER')
    await rename('After the key')
    await stream.find('the rename', isChange('app.updated'))
    expect(stream.actions().filter((action) => action === 'secret.written')).toHaveLength(1)
  })

  test('hears of no secret after temporary access has ended, even before a job deletes the grant', async () => {
    await stopSchedules(world)
    const [stays, leaves] = [await newMember(world, tenant), await newMember(world, tenant)]
    await grantKey(world, tenant, envId, stays)
    const seconds = limits.grantSecondsMin
    const body = { principalType: 'user', principalId: leaves.id, wrappedDek: wrappedKey(), seconds } as const
    await world.call(grants.create, { as: tenant.admin.as, params: { orgId, envId }, body })
    const [heard, unheard] = [await watch(stays), await watch(leaves)]
    world.clock.advance(seconds)
    await putSecret(world, tenant, envId, 'AFTER_THE_END')
    await heard.find('the secret', isChange('secret.written'))
    await rename('After the end')
    await unheard.find('the rename', isChange('app.updated'))
    expect(unheard.actions()).not.toContain('secret.written')
  })

  test('hears of no tokens', async () => {
    const stream = await watch(await newMember(world, tenant))
    await newToken(world, tenant)
    await rename('After the token')
    await stream.find('the rename', isChange('app.updated'))
    expect(stream.actions()).not.toContain('token.created')
  })
})

describe('a stream ends', () => {
  test('as soon as the member is removed, and the next one is refused', async () => {
    const member = await newMember(world, tenant)
    const stream = await watch(member)
    await world.call(members.remove, { as: tenant.admin.as, params: { orgId, userId: member.id } })
    await until('the end', stream.isEnded)
    expect((await watch(member)).status).toBe(404)
  })

  test('as soon as the role changes', async () => {
    const member = await newMember(world, tenant, 'admin')
    const stream = await watch(member)
    const params = { orgId, userId: member.id }
    await world.call(members.update, { as: tenant.admin.as, params, body: { role: 'member' } })
    await until('the end', stream.isEnded)
    expect((await watch(member)).status).toBe(200)
  })

  test('as soon as the token is revoked', async () => {
    const token = await newToken(world, tenant)
    const stream = await watch(token)
    await world.call(tokens.revoke, { as: tenant.admin.as, params: { orgId, tokenId: token.id } })
    await until('the end', stream.isEnded)
    expect((await watch(token)).status).toBe(401)
  })

  test('within seconds if a row shows that the caller may no longer watch, without any event', async () => {
    const member = await newMember(world, tenant)
    const stream = await watch(member)
    const gone = 'delete from memberships where org_id = $1 and user_id = $2'
    await world.server.context.db.rows(gone, [orgId, member.id])
    await until('the end', stream.isEnded)
  })

  test('after an hour', async () => {
    const stream = await watch()
    world.clock.advance(limits.liveStreamSeconds)
    await until('the end', stream.isEnded)
  })

  test('when another database answers', async () => {
    const stream = await watch()
    streamsOpen().clear()
    await until('the end', stream.isEnded)
  })
})

describe('presence', () => {
  const look = ({ as }: Pick<Actor, 'as'>, app = appId) => world.call(live.look, { as, params: { orgId, appId: app } })
  const at = (count: number) => (event: LiveEvent) => event.type === 'presence' && event.data.people.length === count

  test('shows who looks at an application, by id and name, until they leave', async () => {
    const [ada, stream] = [await newMember(world, tenant), await watch()]
    expect((await look(ada)).status).toBe(200)
    const { data } = await stream.find('Ada', at(1))
    expect(data).toEqual({ applicationId: appId, people: [{ id: ada.id, name: expect.any(String) }] })
    const late = await watch()
    await late.find('Ada', at(1))
    await world.call(live.leave, { as: ada.as, params: { orgId, appId } })
    await stream.find('nobody', at(0))
  })

  test('ends by itself', async () => {
    const [ada, stream] = [await newMember(world, tenant), await watch()]
    await look(ada)
    await stream.find('Ada', at(1))
    world.clock.advance(limits.presenceSeconds)
    await stream.find('nobody', at(0))
  })

  test('is for people, and for applications of their organization', async () => {
    const member = await newMember(world, tenant)
    const other = (await newApp(world, tenant)).id
    expect((await look(member, other)).status).toBe(200)
    expect((await look(tenant.admin)).status).toBe(403)
    expect((await look(member, 'app_0000000000000000000000')).status).toBe(404)
  })
})
