import { grants } from '@skerry/contract/grants/endpoints'
import { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test, vi } from 'vitest'
import { publicKeyJwk, wrappedKey } from '../../../test/blobs.ts'
import { decoys } from '../../../test/decoys.ts'
import { newApp, newEnv, newMember, signUp } from '../../../test/tenant.ts'
import { newId } from '../../kernel/context.ts'
import { recordTrips } from './trips.ts'

const { scene, org, as, made, register, registerToken, newDecoy, present, shown, recorded, trail } = decoys()

describe('registering a decoy', () => {
  test('answers everything but the hash, and lists the decoy with no uses', async () => {
    const { bearer, ...ids } = made()
    const { status, body } = await register({ ...ids, placement: 'CI settings of the old shop' })
    expect(status).toBe(201)
    const row = {
      id: expect.stringMatching(/^hny_/),
      tokenId: ids.tokenId,
      placement: 'CI settings of the old shop',
      tripCount: 0,
      lastTripAt: null,
      lastTripIp: null,
      lastTripUserAgent: null,
      createdAt: expect.any(String),
    }
    expect(body.honeyToken).toEqual(row)
    expect(await shown(body.honeyToken)).toEqual(row)
    expect(scene.world.answers.join('')).not.toContain(ids.tokenHash)
  })

  test('accepts no public key, and says so', async () => {
    const { bearer, ...ids } = made()
    const { status, error } = await register({ ...ids, publicKeyJwk: publicKeyJwk() })
    expect([status, error?.message]).toEqual([400, 'body: unknown field "publicKeyJwk"'])
  })

  test('with the id or hash of a token or of another decoy is a conflict, in any organization', async () => {
    const other = await signUp(scene.world)
    const [token, decoy] = [made(), made()]
    await registerToken(token)
    await register({ tokenId: decoy.tokenId, tokenHash: decoy.tokenHash })
    for (const taken of [token, decoy])
      for (const by of [scene.tenant, other])
        for (const same of [{ tokenId: taken.tokenId }, { tokenHash: taken.tokenHash }]) {
          const { bearer, ...ids } = made()
          expect((await register({ ...ids, ...same }, by)).error?.code).toBe('conflict')
          expect((await registerToken({ ...ids, ...same }, by)).error?.code).toBe('conflict')
        }
  })

  test('and a token at the same time under one id creates only one of them', async () => {
    const { bearer, ...ids } = made()
    const answers = await Promise.all([register(ids), registerToken(ids), register(ids), registerToken(ids)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
  })

  test('is only for admins, and no other organization sees the decoys', async () => {
    const decoy = await newDecoy()
    const member = await newMember(scene.world, scene.tenant)
    const { bearer, ...body } = made()
    const other = await signUp(scene.world)
    const asked = [
      scene.world.call(honeyTokens.list, { as: member.as, params: org() }),
      scene.world.call(honeyTokens.create, { as: member.as, params: org(), body }),
      scene.world.call(honeyTokens.delete, { as: member.as, params: { ...org(), honeyTokenId: decoy.id } }),
    ]
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([403, 403, 403])
    const params = { orgId: other.orgId, honeyTokenId: decoy.id }
    const foreign = await scene.world.call(honeyTokens.delete, { as: other.admin.as, params })
    expect([foreign.status, foreign.error?.message]).toEqual([404, 'no such honey token'])
    expect((await scene.world.call(honeyTokens.list, { as: other.admin.as, params })).body.honeyTokens).toEqual([])
  })
})

describe('a decoy', () => {
  test('is no service token: it cannot be listed, renamed, revoked, deleted or granted a key', async () => {
    const decoy = await newDecoy()
    const envId = (await newEnv(scene.world, scene.tenant, (await newApp(scene.world, scene.tenant)).id)).id
    const params = { ...org(), envId, tokenId: decoy.tokenId }
    const { body } = await scene.world.call(tokens.list, { ...as(), params })
    expect(JSON.stringify(body)).not.toContain(decoy.tokenId)
    const refused = [
      await scene.world.call(tokens.update, { ...as(), params, body: { name: 'x' } }),
      await scene.world.call(tokens.revoke, { ...as(), params }),
      await scene.world.call(tokens.delete, { ...as(), params }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([404, 404, 404])
    const grant = (principalId: string) => ({
      principalType: 'service_token',
      principalId,
      wrappedDek: wrappedKey(),
    })
    const granted = await scene.world.call(grants.create, { ...as(), params, body: grant(decoy.tokenId) })
    const unknown = await scene.world.call(grants.create, { ...as(), params, body: grant(newId('serviceToken')) })
    expect([granted.status, granted.error]).toEqual([400, unknown.error])
  })

  test('that was deleted stays unknown, counts no more uses, and leaves its id free', async () => {
    const decoy = await newDecoy()
    const remove = () => scene.world.call(honeyTokens.delete, { ...as(), params: { ...org(), honeyTokenId: decoy.id } })
    expect((await remove()).body).toEqual({ ok: true })
    expect((await remove()).status).toBe(404)
    expect((await present(decoy.bearer)).error?.message).toBe('unknown service token')
    expect(await recorded(decoy)).toBeUndefined()
    expect(await trail(decoy)).toEqual([])
    expect((await register({ tokenId: decoy.tokenId, tokenHash: decoy.tokenHash })).status).toBe(201)
  })

  test('that is deleted while it is used leaves no audit entry', async () => {
    const decoy = await newDecoy()
    const { context } = scene.world.server
    // The server records uses every second, and might record this one before the deletion.
    const recording = vi.spyOn(context.rejectedTokens, 'flush').mockResolvedValue()
    await present(decoy.bearer)
    await scene.world.call(honeyTokens.delete, { ...as(), params: { ...org(), honeyTokenId: decoy.id } })
    recording.mockRestore()
    await recordTrips(context)
    expect(await trail(decoy)).toEqual([])
  })
})
