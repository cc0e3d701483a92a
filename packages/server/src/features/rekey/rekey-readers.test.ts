import { audit } from '@skerry/contract/audit/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { rekeying } from '../../../test/rekeying.ts'
import { stateOf } from '../../../test/state.ts'
import { newId } from '../../kernel/context.ts'
import { rotatorOf, syncOf } from '../../keys/keypairs.ts'
import { giveFirstGrants } from '../../model/grants/write.ts'

const { scene, params, bodyOf, run } = rekeying()

const rotator = () => ({ principalType: 'rotator' as const, principalId: scene.tenant.orgId })
const connection = { principalType: 'sync_connection' as const, principalId: 'syn_1' }
type Reader = ReturnType<typeof rotator> | typeof connection

/** Grants as rotation and sync do, with keys that a client has wrapped to them. Returns their public keys. */
async function granted(...readers: Reader[]): Promise<string[]> {
  const { context } = scene.world.server
  const { orgId, admin } = scene.tenant
  return context.db.transaction(async (db) => {
    const keys: string[] = []
    for (const reader of readers) {
      const owner = reader.principalType === 'rotator' ? rotatorOf(orgId) : syncOf(orgId, reader.principalId)
      keys.push(await context.keypairs.publicKey(db, owner))
      const principal = {
        type: 'service_token' as const,
        id: admin.id,
        orgId,
        role: 'admin' as const,
        environmentId: null,
        validUntilMs: Number.POSITIVE_INFINITY,
      }
      const request = { db, principal, now: context.now().toISOString(), newId }
      await giveFirstGrants(request, { orgId, id: scene.envId }, [{ ...reader, wrappedDek: wrappedKey() }])
    }
    return keys
  })
}
const wrap = (reader: Reader) => ({ ...reader, wrappedDek: wrappedKey() })
const holders = async () =>
  (await scene.world.call(grants.list, { as: scene.tenant.admin.as, params: params() })).body.grants
const refused = async (body: object) => {
  const before = await stateOf(scene.world)
  const { status, error } = await run(body)
  expect(await stateOf(scene.world)).toEqual(before)
  return [status, error?.message]
}

describe('a reader of the server', () => {
  test('is listed among the grantees, with the key that clients wrap to', async () => {
    const [rotatorKey, syncKey] = await granted(rotator(), connection)
    const { body } = await scene.world.call(envs.grantees, { as: scene.tenant.admin.as, params: params() })
    expect(body.grantees.slice(-2)).toEqual([
      { ...rotator(), name: null, publicKeyJwk: rotatorKey },
      { ...connection, name: null, publicKeyJwk: syncKey },
    ])
  })

  test('must be named in a re-key as granted or as dropped, or the answer is 409', async () => {
    await granted(rotator(), connection)
    const asked = bodyOf()
    const message = (one: Reader) =>
      `${one.principalType} ${one.principalId} reads this environment: name it in body.grants or body.dropReaders`
    expect(await refused({ ...asked, dropReaders: [rotator()] })).toEqual([409, message(connection)])
    expect(await refused({ ...asked, grants: [...asked.grants, wrap(connection)] })).toEqual([409, message(rotator())])
    expect((await refused(asked))[0]).toBe(409)
  })

  test('keeps access if the new key is wrapped to it, and loses access if it is dropped', async () => {
    await granted(rotator(), connection)
    const asked = bodyOf()
    const kept = wrap(rotator())
    const { status, body } = await run({ ...asked, grants: [...asked.grants, kept], dropReaders: [connection] })
    expect([status, body.grants]).toEqual([200, 3])
    const after = await holders()
    expect(after.find(({ principalType }) => principalType === 'rotator')?.wrappedDek).toBe(kept.wrappedDek)
    expect(after.some(({ principalType }) => principalType === 'sync_connection')).toBe(false)
    const query = { action: 'env.rekeyed', resourceId: scene.envId }
    const { entries } = (await scene.world.call(audit.list, { as: scene.tenant.admin.as, params: params(), query }))
      .body
    expect(entries[0]?.metadata.removed).toEqual(expect.arrayContaining([connection]))
  })

  test('that is gone may be named as dropped, but cannot be granted', async () => {
    const asked = bodyOf()
    expect((await run({ ...asked, dropReaders: [connection] })).status).toBe(200)
    const again = bodyOf({ expectedVersions: { A: 2, B: 3 } })
    expect(await refused({ ...again, grants: [...again.grants, wrap(connection)] })).toEqual([
      409,
      'body.grants.2: syn_1 holds no key grant here that is of use',
    ])
  })

  test('cannot be both granted and dropped, and nobody else can be dropped by that field', async () => {
    await granted(connection)
    const asked = bodyOf()
    const both = { ...asked, grants: [...asked.grants, wrap(connection)], dropReaders: [connection] }
    expect(await refused(both)).toEqual([400, 'body.dropReaders.0: syn_1 is in body.grants'])
    const person = { principalType: 'user', principalId: scene.person.id }
    expect((await refused({ ...asked, dropReaders: [person] }))[0]).toBe(400)
  })

  test('cannot be granted by the route of grants, because its own setup decides what it reads', async () => {
    await granted(rotator())
    const body: Record<string, unknown> = wrap(connection)
    const answer = await scene.world.call(grants.create, { as: scene.tenant.admin.as, params: params(), body })
    expect(answer.status).toBe(400)
  })

  test('loses its grants when its key pair is destroyed, and a re-key then need not name it', async () => {
    await granted(connection)
    const { db, keypairs } = scene.world.server.context
    await keypairs.destroy(db, syncOf(scene.tenant.orgId, connection.principalId))
    expect((await holders()).some(({ principalType }) => principalType === 'sync_connection')).toBe(false)
    expect((await run()).status).toBe(200)
  })
})
