import { audit } from '@skerry/contract/audit/endpoints'
import { changes } from '@skerry/contract/changes/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { members } from '@skerry/contract/members/endpoints'
import { recovery } from '@skerry/contract/recovery/endpoints'
import { secretDetails } from '@skerry/contract/secret-details/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { beforeEach, describe, expect, test } from 'vitest'
import { ciphertext, sealedDetails, wrappedKey } from '../../../test/blobs.ts'
import { decide, proposePut, protect, unprotect } from '../../../test/guarded.ts'
import { setUpRecovery } from '../../../test/recovery-steps.ts'
import { rekeying } from '../../../test/rekeying.ts'
import { mailsWritten, stateOf } from '../../../test/state.ts'
import { type Actor, grantKey, newMember, newToken } from '../../../test/tenant.ts'

const { scene, params, bodyOf, run, listed } = rekeying()

beforeEach(() => protect(scene.world, scene.tenant, scene.envId))

const admin = () => scene.tenant.admin
const propose = (body: object = bodyOf(), as = admin().as, headers: Record<string, string> = {}) =>
  scene.world.call(changes.proposeRekey, { as, params: params(), body: body as Record<string, unknown>, headers })
const proposed = async (body: object = bodyOf()) => {
  const answer = await propose(body)
  expect(answer.error).toBeUndefined()
  return answer.body.changeRequest.id
}
const approve = (id: string, by: Actor = scene.person, body: { rekey?: true } = { rekey: true }) =>
  decide(scene.world, scene.tenant, 'approve', id, by, body)
const review = (changeRequestId: string, as = admin().as) =>
  scene.world.call(changes.rekey, { as, params: { ...params(), changeRequestId } })
const statusOf = async (changeRequestId: string) =>
  (await scene.world.call(changes.get, { as: admin().as, params: { ...params(), changeRequestId } })).body.changeRequest
    .status
const bodiesOf = (id: string) =>
  scene.world.server.context.db.rows('select 1 from proposed_rekeys where change_request_id = $1', [id])
const grantsNow = async () =>
  (await scene.world.call(grants.list, { as: admin().as, params: params() })).body.grants.map(
    ({ principalId, wrappedDek }) => ({ principalId, wrappedDek }),
  )
const refusedUnchanged = async (call: () => Promise<{ status: number; error?: { message: string } | undefined }>) => {
  await mailsWritten(scene.world)
  const before = await stateOf(scene.world)
  const { status, error } = await call()
  expect(await stateOf(scene.world)).toEqual(before)
  return [status, error?.message]
}

describe('a proposed re-key', () => {
  test('waits, and changes nothing before its approval', async () => {
    const before = await listed()
    const { status, body } = await propose(bodyOf(), undefined, { 'x-skerry-change-note': 'Grace%20left' })
    expect([status, body]).toMatchObject([
      202,
      {
        queued: true,
        changeRequest: { action: 'rekey', secretName: null, status: 'open', groupSize: 1, note: 'Grace left' },
      },
    ])
    expect(await listed()).toEqual(before)
    expect(await grantsNow()).toHaveLength(3)
  })

  test('is applied as a whole by the last approval, by its proposer', async () => {
    const asked = bodyOf()
    const id = await proposed(asked)
    const { body } = await approve(id)
    expect(body).toMatchObject({ status: 'applied', approvals: 1, changeRequest: { status: 'applied' } })
    expect((await listed()).toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { version: 2, ...asked.secrets[0] },
      { version: 3, ...asked.secrets[1] },
    ])
    expect(await grantsNow()).toEqual(
      expect.arrayContaining(asked.grants.map(({ principalId, wrappedDek }) => ({ principalId, wrappedDek }))),
    )
    expect((await scene.world.call(grants.own, { as: scene.person.as, params: params() })).status).toBe(403)
    const query = { action: 'env.rekeyed', resourceId: scene.envId }
    const { entries } = (await scene.world.call(audit.list, { as: admin().as, params: params(), query })).body
    expect(entries).toMatchObject([
      {
        actorId: scene.person.id,
        metadata: {
          changeRequestId: id,
          proposedById: admin().id,
          approvedByIds: [scene.person.id],
          removed: [{ principalId: scene.person.id }],
        },
      },
    ])
    expect(await bodiesOf(id)).toEqual([])
  })

  test('counts approvals like any change, and is applied by the last one', async () => {
    await protect(scene.world, scene.tenant, scene.envId, { requiredApprovals: 2 })
    const another = await newMember(scene.world, scene.tenant, 'admin')
    const id = await proposed()
    expect((await approve(id)).body).toMatchObject({ status: 'open', approvals: 1, required: 2 })
    expect((await approve(id, another)).body).toMatchObject({ status: 'applied', approvals: 2 })
  })

  test('closes the other changes of the environment, which have the old key', async () => {
    const { id: other } = await proposePut(scene.world, scene.tenant, scene.envId, 'C')
    const id = await proposed()
    await approve(id)
    expect([await statusOf(id), await statusOf(other)]).toEqual(['applied', 'superseded'])
  })

  test('is still approved after the protection has ended', async () => {
    const id = await proposed()
    await unprotect(scene.world, scene.tenant, scene.envId)
    expect((await approve(id)).body.status).toBe('applied')
  })

  test('is closed by a direct re-key, with its body', async () => {
    const id = await proposed()
    await unprotect(scene.world, scene.tenant, scene.envId)
    expect((await run()).status).toBe(200)
    expect([await statusOf(id), await bodiesOf(id)]).toEqual(['superseded', []])
  })

  test.each(['reject', 'withdraw'] as const)('loses its body when somebody decides to %s it', async (decision) => {
    const id = await proposed()
    expect(await bodiesOf(id)).not.toEqual([])
    await decide(scene.world, scene.tenant, decision, id, scene.person)
    expect(await bodiesOf(id)).toEqual([])
    expect((await review(id)).status).toBe(404)
  })

  test('is stored in parts if it is large', async () => {
    const large = bodyOf()
    const secret = { name: 'A', ciphertext: ciphertext(700_000) }
    const other = { name: 'B', ciphertext: ciphertext(700_000) }
    const id = await proposed({ ...large, secrets: [secret, other] })
    expect((await bodiesOf(id)).length).toBeGreaterThan(1)
    expect((await approve(id)).body.status).toBe('applied')
    expect((await listed()).find(({ name }) => name === 'A')?.ciphertext).toBe(secret.ciphertext)
  })
})

describe('a reviewer', () => {
  test('who holds the key sees the ciphertexts, and the new key that is wrapped to them alone', async () => {
    const asked = bodyOf({ kept: [admin(), scene.holder, scene.person] })
    const id = await proposed({ ...asked, recoveryWrappedDek: wrappedKey() })
    const { body } = await review(id, scene.person.as)
    expect(body.rekey).toEqual({
      stale: false,
      covered: true,
      grants: asked.grants.map(({ principalType, principalId }) => ({ principalType, principalId })),
      wrappedDek: asked.grants[2]?.wrappedDek,
      secrets: [
        { ...asked.secrets[0], expectedVersion: 1 },
        { ...asked.secrets[1], expectedVersion: 2 },
      ],
      details: null,
    })
  })

  test('who loses access sees the ciphertexts, and no key', async () => {
    const { body } = await review(await proposed(), scene.person.as)
    expect(body.rekey).toMatchObject({ wrappedDek: null, secrets: [{ name: 'A' }, { name: 'B' }] })
  })

  test('without the key sees who gets the new one, and no ciphertext', async () => {
    const stranger = await newMember(scene.world, scene.tenant, 'admin')
    const { body } = await review(await proposed(), stranger.as)
    expect(body.rekey).toMatchObject({ wrappedDek: null, secrets: null, details: null, stale: false })
    expect(body.rekey.grants).toHaveLength(2)
  })

  test('finds no re-key in a change of a secret', async () => {
    const { id } = await proposePut(scene.world, scene.tenant, scene.envId, 'C')
    expect((await review(id)).status).toBe(404)
  })
})

describe('a proposal becomes stale', () => {
  const becomesStale = async (id: string) => {
    expect((await review(id)).body.rekey.stale).toBe(true)
    const before = await listed()
    expect((await approve(id)).body.status).toBe('superseded')
    expect(await listed()).toEqual(before)
    expect(await bodiesOf(id)).toEqual([])
  }

  test('when a value is written', async () => {
    const { id: write } = await proposePut(scene.world, scene.tenant, scene.envId, 'A')
    const id = await proposed()
    expect((await decide(scene.world, scene.tenant, 'approve', write, scene.person)).body.status).toBe('applied')
    await becomesStale(id)
  })

  test('when a secret is added', async () => {
    const { id: write } = await proposePut(scene.world, scene.tenant, scene.envId, 'NEW')
    const id = await proposed()
    await decide(scene.world, scene.tenant, 'approve', write, scene.person)
    await becomesStale(id)
  })

  test('when a description is written', async () => {
    const id = await proposed()
    await scene.world.call(secretDetails.update, {
      as: admin().as,
      params: { ...params(), name: 'A' },
      body: { sealed: sealedDetails() },
    })
    await becomesStale(id)
  })

  test('when a grant is made', async () => {
    const id = await proposed()
    await grantKey(scene.world, scene.tenant, scene.envId, await newToken(scene.world, scene.tenant))
    await becomesStale(id)
  })

  test('when a grant ends', async () => {
    const id = await proposed()
    const listedGrants = (await scene.world.call(grants.list, { as: admin().as, params: params() })).body.grants
    const grant = listedGrants.find(({ principalId }) => principalId === scene.holder.id)
    const revoked = await scene.world.call(grants.delete, {
      as: admin().as,
      params: { ...params(), grantId: grant?.id ?? '' },
    })
    expect(revoked.status).toBe(200)
    await becomesStale(id)
  })

  test('when a token that keeps the key is revoked', async () => {
    const id = await proposed()
    await scene.world.call(tokens.revoke, { as: admin().as, params: { ...params(), tokenId: scene.holder.id } })
    await becomesStale(id)
  })

  test('when the recovery key is replaced, to which the new key is wrapped', async () => {
    const id = await proposed({ ...bodyOf(), recoveryWrappedDek: wrappedKey() })
    const custodian = await newMember(scene.world, scene.tenant)
    await setUpRecovery(scene.world, scene.tenant, [custodian, scene.person], 2)
    await becomesStale(id)
    await scene.world.call(recovery.disable, { as: admin().as, params: params() })
  })

  test('when a reader leaves the organization', async () => {
    const leaver = await newMember(scene.world, scene.tenant, 'admin')
    await grantKey(scene.world, scene.tenant, scene.envId, leaver)
    const id = await proposed(bodyOf({ kept: [admin(), leaver] }))
    await scene.world.call(members.remove, { as: admin().as, params: { ...params(), userId: leaver.id } })
    await becomesStale(id)
  })

  test('with its first approval of two, which closes it', async () => {
    await protect(scene.world, scene.tenant, scene.envId, { requiredApprovals: 2 })
    const id = await proposed()
    await grantKey(scene.world, scene.tenant, scene.envId, await newToken(scene.world, scene.tenant))
    expect((await approve(id)).body.status).toBe('superseded')
  })

  test('and is then replaced by the next proposal, which begins without approvals', async () => {
    await protect(scene.world, scene.tenant, scene.envId, { requiredApprovals: 2 })
    const id = await proposed()
    await approve(id)
    const late = await newToken(scene.world, scene.tenant)
    await grantKey(scene.world, scene.tenant, scene.envId, late)
    const again = await proposed(bodyOf({ kept: [admin(), scene.holder, scene.person, late] }))
    expect([await statusOf(id), await bodiesOf(id)]).toEqual(['superseded', []])
    expect((await approve(again)).body).toMatchObject({ status: 'open', approvals: 1 })
  })
})

describe('is refused and changes nothing:', () => {
  test('a proposal where nothing is protected', async () => {
    await unprotect(scene.world, scene.tenant, scene.envId)
    expect(await refusedUnchanged(() => propose())).toEqual([
      409,
      'the environment is not protected: re-key it directly',
    ])
  })

  test('a second proposal while one waits', async () => {
    const id = await proposed()
    expect(await refusedUnchanged(() => propose())).toEqual([
      409,
      `a re-key of this environment waits for approval already: ${id}`,
    ])
  })

  test.each([
    ['a version that has moved on', { A: 2, B: 2 }, 'A is not at version 2'],
    ['a secret that is missing', { A: 1 }, 'B has been added'],
  ])('%s', async (_, expectedVersions, message) => {
    expect(await refusedUnchanged(() => propose(bodyOf({ expectedVersions })))).toEqual([409, message])
  })

  test('a receiver who holds no grant', async () => {
    const stranger = await newToken(scene.world, scene.tenant)
    const [status, message] = await refusedUnchanged(() => propose(bodyOf({ kept: [admin(), stranger] })))
    expect([status, message]).toEqual([409, expect.stringContaining('holds no key grant here that is of use')])
  })

  test('a proposer who does not keep the key, is no admin, or holds no key', async () => {
    const member = await newMember(scene.world, scene.tenant)
    await grantKey(scene.world, scene.tenant, scene.envId, member)
    const stranger = await newMember(scene.world, scene.tenant, 'admin')
    const statuses = [
      await refusedUnchanged(() => propose(bodyOf({ kept: [scene.person] }))),
      await refusedUnchanged(() => propose(bodyOf({ kept: [member] }), member.as)),
      await refusedUnchanged(() => propose(bodyOf({ kept: [stranger] }), stranger.as)),
    ]
    expect(statuses.map(([status]) => status)).toEqual([400, 403, 403])
  })

  test('an approval by a client that does not know re-keys', async () => {
    const id = await proposed()
    const [status, message] = await refusedUnchanged(() => approve(id, scene.person, {}))
    expect([status, message]).toEqual([409, expect.stringContaining('newer client')])
  })

  test('an approval as a re-key of a change that is none', async () => {
    const { id } = await proposePut(scene.world, scene.tenant, scene.envId, 'C')
    const [status, message] = await refusedUnchanged(() => approve(id))
    expect([status, message]).toEqual([400, 'body.rekey: this change is not a re-key'])
  })

  test('an approval by the proposer, and by a token', async () => {
    const own = await propose(bodyOf({ kept: [scene.person] }), scene.person.as)
    const { id } = own.body.changeRequest
    const [mine] = await refusedUnchanged(() => approve(id))
    const [byToken] = await refusedUnchanged(() => approve(id, admin()))
    expect([mine, byToken]).toEqual([403, 403])
  })

  test('a direct re-key, which names the way', async () => {
    expect(await refusedUnchanged(() => run())).toEqual([
      409,
      'this environment is protected: propose the re-key as a change, which waits for approval',
    ])
  })
})
