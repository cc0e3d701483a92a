import { machineClients } from '@skerry/contract/machine-clients/endpoints'
import { oauth } from '@skerry/contract/oauth/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { describe, expect, test } from 'vitest'
import { engine } from '../../../test/engine.ts'
import { held, waiting } from '../../../test/held.ts'
import { openTenant } from '../../../test/scene.ts'
import { newMember } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { insertAccessToken } from '../../identity/store.ts'
import { newSecret, sha256 } from '../../kernel/context.ts'

const { world, tenant } = await openTenant()
const { orgId } = tenant
const { as } = await newMember(world, tenant, 'admin')

async function made() {
  const { body } = await world.call(machineClients.create, { as, params: { orgId }, body: { name: 'deploys' } })
  const { client, clientSecret: secret } = body
  return { id: client.id, secret, as: `Basic ${Buffer.from(`${client.id}:${secret}`).toString('base64')}` }
}

describe.each(['renewSecret', 'revoke'] as const)('%s', (end) => {
  const ending = (clientId: string) => world.call(machineClients[end], { as, params: { orgId, clientId } })

  test('leaves no access token to a client that exchanges the secret at the same time', async () => {
    for (let round = 0; round < 10; round++) {
      const client = await made()
      const body = { grant_type: 'client_credentials' }
      const [access] = await Promise.all([world.call(oauth.token, { as: client.as, body }), ending(client.id)])
      const bearer = `Bearer ${access.body?.access_token}`
      expect((await world.call(orgs.get, { as: bearer, params: { orgId } })).status).toBe(401)
    }
  })

  test('waits for an access token that is being issued, and ends it', async () => {
    const { db } = world.server.context
    const { id: clientId, secret } = await made()
    const issuing = await held(db, async (tx) => {
      const expiresAt = new Date(world.clock.now().getTime() + 60_000).toISOString()
      const hashes = { secretHash: sha256(secret), tokenHash: sha256(newSecret()) }
      expect(await insertAccessToken(tx, { orgId, clientId, ...hashes, expiresAt })).toBe(true)
    })
    const pending = ending(clientId)
    if (engine() === 'postgres') await until('it waits', async () => (await waiting(db)) > 0).finally(issuing.commit)
    await issuing.commit()
    expect((await pending).status).toBe(200)
    expect(await db.rows('select 1 from machine_tokens where client_id = $1', [clientId])).toEqual([])
  })
})
