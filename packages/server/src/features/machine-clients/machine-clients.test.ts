import { machineClients } from '@skerry/contract/machine-clients/endpoints'
import { oauth } from '@skerry/contract/oauth/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { describe, expect, test } from 'vitest'
import { openTenant } from '../../../test/scene.ts'
import { newMember, newToken, signUp } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { newId, sha256 } from '../../kernel/context.ts'

const { world, tenant } = await openTenant()
const { orgId } = tenant
const person = await newMember(world, tenant, 'admin')

const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
const statusOf = async (as: string) => (await world.call(orgs.get, { as, params: { orgId } })).status
const create = (name = 'deploys', as = person.as) =>
  world.call(machineClients.create, { as, params: { orgId }, body: { name } })
const onClient = (clientId: string, as = person.as) => ({ as, params: { orgId, clientId } })
const listed = async (id: string) => {
  const { body } = await world.call(machineClients.list, { as: person.as, params: { orgId } })
  return body.clients.find((client) => client.id === id)
}

async function made() {
  const { body } = await create()
  return { id: body.client.id, secret: body.clientSecret, as: basic(body.client.id, body.clientSecret) }
}
const exchange = async (as: string) => {
  const answer = await world.call(oauth.token, { as, body: { grant_type: 'client_credentials' } })
  return { status: answer.status, as: `Bearer ${answer.body?.access_token}` }
}

describe('creating and listing', () => {
  test('a new client administers the organization, and only the first answer contains its secret', async () => {
    const { status, body } = await create('deploys')
    expect(status).toBe(201)
    expect(body.client).toEqual({
      id: body.client.id,
      orgId,
      name: 'deploys',
      lastUsedAt: null,
      revokedAt: null,
      createdAt: body.client.createdAt,
    })
    expect(await statusOf(basic(body.client.id, body.clientSecret))).toBe(200)
    const list = await world.call(machineClients.list, { as: person.as, params: { orgId } })
    expect(list.body.clients.map(({ id }) => id)).toEqual([tenant.machine.id, body.client.id])
    expect(JSON.stringify(list.body)).not.toContain(body.clientSecret)
    expect(JSON.stringify(list.body)).not.toContain(sha256(body.clientSecret))
  })

  test('is for admins in person: no machine client, token, member or bound token can make or see one', async () => {
    const bearers = [tenant.machine, tenant.admin, await newToken(world, tenant), await newMember(world, tenant)]
    const { id } = await made()
    for (const { as } of bearers) {
      const answers = [
        await create('more', as),
        await world.call(machineClients.list, { as, params: { orgId } }),
        await world.call(machineClients.renewSecret, onClient(id, as)),
        await world.call(machineClients.revoke, onClient(id, as)),
      ]
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    }
    expect((await listed(id))?.revokedAt).toBeNull()
  })

  test('shows when a client last used its secret or an access token', async () => {
    const client = await made()
    await statusOf(client.as)
    const first = await until('a use of the secret', async () => (await listed(client.id))?.lastUsedAt ?? undefined)
    const access = await exchange(client.as)
    world.clock.advance(61)
    await statusOf(access.as)
    await until('a use of the access token', async () => ((await listed(client.id))?.lastUsedAt ?? '') > first)
  })
})

describe('a new secret', () => {
  test('ends the old one and all its access tokens, on their next request', async () => {
    const client = await made()
    const access = await exchange(client.as)
    expect([await statusOf(client.as), await statusOf(access.as)]).toEqual([200, 200])
    const { status, body } = await world.call(machineClients.renewSecret, onClient(client.id))
    expect(status).toBe(200)
    expect(body.clientSecret).not.toBe(client.secret)
    expect([await statusOf(client.as), await statusOf(access.as)]).toEqual([401, 401])
    expect((await exchange(client.as)).status).toBe(401)
    expect(await statusOf(basic(client.id, body.clientSecret))).toBe(200)
  })

  test('is refused to a client that was revoked', async () => {
    const client = await made()
    await world.call(machineClients.revoke, onClient(client.id))
    const { status, error } = await world.call(machineClients.renewSecret, onClient(client.id))
    expect([status, error?.code]).toEqual([409, 'conflict'])
    expect(await statusOf(client.as)).toBe(401)
  })
})

describe('revoking', () => {
  test('ends the secret and every access token on their next request, and a second time succeeds', async () => {
    const client = await made()
    const access = await exchange(client.as)
    for (const _ of [1, 2]) expect((await world.call(machineClients.revoke, onClient(client.id))).status).toBe(200)
    expect([await statusOf(client.as), await statusOf(access.as)]).toEqual([401, 401])
    expect((await exchange(client.as)).status).toBe(401)
    expect((await listed(client.id))?.revokedAt).not.toBeNull()
  })

  test('also ends the client that the organization signed up with', async () => {
    const other = await signUp(world)
    const admin = await newMember(world, other, 'admin')
    const params = { orgId: other.orgId, clientId: other.machine.id }
    expect((await world.call(machineClients.revoke, { as: admin.as, params })).status).toBe(200)
    expect((await world.call(orgs.get, { as: other.machine.as, params })).status).toBe(401)
  })

  test('cannot reach a client of another organization', async () => {
    const other = await signUp(world)
    for (const clientId of [other.machine.id, newId('machineClient')])
      expect((await world.call(machineClients.revoke, onClient(clientId))).status).toBe(404)
    expect((await world.call(orgs.get, { as: other.machine.as, params: { orgId: other.orgId } })).status).toBe(200)
  })
})
