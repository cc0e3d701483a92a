import { exporting } from '@skerry/contract/export/endpoints'
import { expect, test } from 'vitest'
import { readArchive } from '../../../test/archives.ts'
import { openTenant } from '../../../test/scene.ts'
import { newApp, newEnv, putSecret, signUp, type Tenant } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'

// How many archives a server makes at a time. A reader who leaves frees a slot.

const { world, tenant } = await openTenant()

/** Makes an organization whose archive is larger than all buffers, so that an unread archive stays in progress. */
async function makeLarge(of: Tenant): Promise<Tenant> {
  const { id } = await newEnv(world, of, (await newApp(world, of)).id)
  await putSecret(world, of, id, 'LARGE')
  await world.server.context.db.rows(
    `insert into secret_versions (org_id, secret_id, version, ciphertext, created_by_type, created_by_id, created_at)
     select v.org_id, v.secret_id, n, 'sc1.' || repeat('A', 150000), v.created_by_type, v.created_by_id, v.created_at
       from secret_versions v, generate_series(2, 300) n where v.org_id = $1`,
    [of.orgId],
  )
  return of
}

/** The test must keep the response, because a response without references is cancelled. */
const begin = ({ orgId, admin }: Tenant) =>
  fetch(`${world.url}/v1/orgs/${orgId}/export`, { method: 'POST', headers: { authorization: admin.as } })
const ask = ({ orgId, admin }: Tenant) => world.call(exporting.create, { as: admin.as, params: { orgId }, body: {} })

async function expectRefusal(of: Tenant): Promise<void> {
  const { status, error, headers } = await ask(of)
  expect([status, error?.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '30'])
  expect(error?.message).toBe('another export is under way; try again in 30 s')
}

test('a server makes one archive per organization and two in all at a time, and a reader who leaves frees a slot', async () => {
  const [first, second, third] = [await makeLarge(tenant), await makeLarge(await signUp(world)), await signUp(world)]
  const unread = await begin(first)
  expect(unread.status).toBe(200)
  await expectRefusal(first)
  expect((await ask(third)).status).toBe(200)

  const other = await begin(second)
  expect(other.status).toBe(200)
  for (const of of [first, second, third]) await expectRefusal(of)

  await unread.body?.cancel()
  await until('the place of the one who left', async () => (await ask(third)).status === 200)
  await expectRefusal(second)
  // The archive of the other organization is complete.
  expect((await readArchive(Buffer.from(await other.arrayBuffer()))).data.secretVersions).toHaveLength(300)
})
