import { apps } from '@skerry/contract/apps/endpoints'
import { audit } from '@skerry/contract/audit/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { expect, test } from 'vitest'
import { ciphertext, wrappedKey } from '../../../test/blobs.ts'
import { openEnv } from '../../../test/scene.ts'
import { grantKey, newToken, putSecret } from '../../../test/tenant.ts'
import { expireBranches } from './jobs.ts'

// The server's own schedule may run the job between two lines of a test. No test depends on that.

const { world, tenant, appId, envId } = await openEnv()

const org = () => ({ orgId: tenant.orgId })
const on = (id: string) => ({ ...org(), envId: id })
const as = () => tenant.admin.as
const fork = async (slug: string, ttlSeconds: number | null = 60) =>
  (
    await world.call(branches.create, {
      as: as(),
      params: on(envId),
      body: { slug, wrappedDek: wrappedKey(), ttlSeconds },
    })
  ).body.branch
const rowsOf = (id: string) => world.server.context.db.rows('select 1 from environments where id = $1', [id])
const ended = async (resourceId: string) =>
  (await world.call(audit.list, { as: as(), params: org(), query: { action: 'branch.expired', resourceId } })).body
    .entries

test('an expired branch is missing on every route, whether or not the job has deleted it', async () => {
  const branch = await fork('invisible')
  await putSecret(world, tenant, branch.id, 'A')
  const params = on(branch.id)
  const named = { ...params, name: 'A' }
  const statuses = async () =>
    Promise.all([
      world.call(envs.get, { as: as(), params }),
      world.call(envs.grantees, { as: as(), params }),
      world.call(grants.own, { as: as(), params }),
      world.call(secrets.list, { as: as(), params }),
      world.call(secrets.versions, { as: as(), params: named }),
      world.call(resolve.get, { as: as(), query: { env: branch.id } }),
      world.call(resolve.get, { as: as(), query: { env: envId, branch: 'invisible' } }),
    ]).then((answers) => answers.map(({ status }) => status))
  expect(await statuses()).toEqual(Array(7).fill(200))
  world.clock.advance(61)
  expect(await statuses()).toEqual(Array(7).fill(404))
  const body = { ciphertext: ciphertext() }
  expect((await world.call(secrets.put, { as: as(), params: named, body })).status).toBe(404)
  expect((await world.call(envs.delete, { as: as(), params })).status).toBe(404)
  const list = await world.call(branches.list, { as: as(), params: on(envId) })
  const all = await world.call(apps.branches, { as: as(), params: { ...org(), appId } })
  for (const { id } of [...list.body.branches, ...all.body.branches]) expect(id).not.toBe(branch.id)
})

test('a token that is bound to an expired branch is unknown at once, whatever its role, although servers cache it', async () => {
  const branch = await fork('bound-to')
  const reader = await newToken(world, tenant, { environmentId: branch.id })
  const admin = await newToken(world, tenant, { environmentId: branch.id, role: 'admin' })
  for (const id of [envId, branch.id]) await grantKey(world, tenant, id, reader)
  const put = { params: { ...on(envId), name: 'B' }, body: { ciphertext: ciphertext() } }
  const answers = () =>
    Promise.all([
      world.call(resolve.get, { as: reader.as }),
      world.call(me.get, { as: reader.as }),
      world.call(secrets.put, { as: reader.as, ...put }),
      world.call(apps.update, { as: admin.as, params: { ...org(), appId }, body: { name: 'Renamed' } }),
    ])
  for (const { status } of await answers()) expect(status).toBeLessThan(300)
  world.clock.advance(61)
  for (const { status, error } of await answers())
    expect([status, error?.message]).toEqual([401, 'unknown service token'])
})

test('a token that is bound to an expired branch cannot write into the parent, before the job has run', async () => {
  const branch = await fork('bound-to-write')
  const writer = await newToken(world, tenant, { environmentId: branch.id })
  await grantKey(world, tenant, envId, writer)
  const put = () =>
    world.call(secrets.put, {
      as: writer.as,
      params: { ...on(envId), name: 'C' },
      body: { ciphertext: ciphertext() },
    })
  // From the second write on, the server has the writer in its cache.
  for (const expected of [201, 200]) expect((await put()).status).toBe(expected)
  world.clock.advance(61)
  const { status, error } = await put()
  expect([status, error?.message]).toEqual([401, 'unknown service token'])
})

test('the slug of an expired branch is free at once, before the job has run', async () => {
  const old = await fork('again')
  expect((await fork('again'))?.id).toBeUndefined()
  world.clock.advance(61)
  const fresh = await fork('again')
  expect(fresh.id).not.toBe(old.id)
  expect(await rowsOf(old.id)).toEqual([])
  expect(await ended(old.id)).toHaveLength(1)
  expect(await ended(fresh.id)).toEqual([])
})

test('the job deletes an expired branch with its overrides, key grants and bound tokens, and leaves one audit entry', async () => {
  const branch = await fork('swept')
  await putSecret(world, tenant, branch.id, 'A')
  const bound = await newToken(world, tenant, { environmentId: branch.id })
  const free = await newToken(world, tenant)
  world.clock.advance(61)
  await expireBranches(world.server.context)
  await expireBranches(world.server.context)
  expect(await rowsOf(branch.id)).toEqual([])
  const { db } = world.server.context
  for (const table of ['secrets', 'key_grants', 'service_tokens'])
    expect(await db.rows(`select 1 from ${table} where environment_id = '${branch.id}'`)).toEqual([])
  expect((await world.call(me.get, { as: bound.as })).status).toBe(401)
  expect((await world.call(me.get, { as: free.as })).status).toBe(200)
  const list = await world.call(tokens.list, { as: as(), params: org() })
  expect(list.body.tokens.map(({ id }) => id)).not.toContain(bound.id)
  const entries = await ended(branch.id)
  expect(entries).toHaveLength(1)
  expect(entries[0]).toMatchObject({
    actorType: 'system',
    actorId: null,
    resourceType: 'environment',
    metadata: { slug: 'swept', parentEnvironmentId: envId, expiresAt: branch.expiresAt },
  })
})

test('the job keeps branches that have time left or no end, and every environment', async () => {
  const kept = [await fork('young', 3600), await fork('endless', null)]
  world.clock.advance(61)
  await expireBranches(world.server.context)
  for (const { id } of kept) expect(await rowsOf(id)).toHaveLength(1)
  world.clock.advance(365 * 86_400)
  await expireBranches(world.server.context)
  expect(await rowsOf(kept[0]?.id as string)).toEqual([])
  expect(await rowsOf(kept[1]?.id as string)).toHaveLength(1)
  expect(await rowsOf(envId)).toHaveLength(1)
})

test('one run of the job deletes all expired branches, however many', async () => {
  const made = await Promise.all(Array.from({ length: 205 }, (_, n) => fork(`many-${n}`)))
  world.clock.advance(61)
  await expireBranches(world.server.context)
  const left = await world.server.context.db.rows(`select 1 from environments where slug like 'many-%'`)
  expect([made.length, left.length]).toEqual([205, 0])
})

test('several runs at once leave one audit entry for each branch', async () => {
  const made = await Promise.all(Array.from({ length: 12 }, (_, n) => fork(`raced-${n}`)))
  world.clock.advance(61)
  await Promise.all(Array.from({ length: 4 }, () => expireBranches(world.server.context)))
  for (const { id } of made) {
    expect(await rowsOf(id)).toEqual([])
    expect(await ended(id)).toHaveLength(1)
  }
})
