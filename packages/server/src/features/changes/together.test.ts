import { audit } from '@skerry/contract/audit/endpoints'
import { changes } from '@skerry/contract/changes/endpoints'
import { limits } from '@skerry/contract/limits'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test } from 'vitest'
import { ciphertext, wrappedKey } from '../../../test/blobs.ts'
import { decide, newGuarded, proposeGroup, proposePut, protect, unprotect } from '../../../test/guarded.ts'
import { openTenant } from '../../../test/scene.ts'
import { newMember, newToken, putSecret } from '../../../test/tenant.ts'

const { world, tenant } = await openTenant()
const alice = await newMember(world, tenant, 'admin')
const bob = await newMember(world, tenant, 'admin')
const by = { as: tenant.admin.as }
const org = { orgId: tenant.orgId }

/** A protected environment with the secrets OLD and GONE. */
async function furnished(settings = {}) {
  const envId = await newGuarded(world, tenant, null)
  for (const name of ['OLD', 'GONE']) await putSecret(world, tenant, envId, name)
  await protect(world, tenant, envId, settings)
  return envId
}
const propose = (envId: string, body: object, as = tenant.admin.as) =>
  world.call(changes.propose, { as, params: { ...org, envId }, body: body as never })
const three = { puts: ['NEW', 'OLD'], deletes: ['GONE'] }
const namesIn = async (envId: string) =>
  (await world.call(secrets.list, { ...by, params: { ...org, envId } })).body.secrets.map((one) => [
    one.name,
    one.version,
  ])
const membersOf = async (groupId: string | null) =>
  (await world.call(changes.list, { ...by, params: org, query: { groupId: groupId ?? '' } })).body.changeRequests
const actionsOf = async (requestId: string | null) => {
  const answer = await world.call(audit.list, { ...by, params: org, query: { requestId: requestId ?? '' } })
  return answer.body.entries.map(({ action }) => action).sort()
}

describe('changes proposed together', () => {
  test('are change requests of one group, each with its own audit entry and the same note', async () => {
    const envId = await furnished()
    const headers = { 'x-skerry-change-note': 'one%20partner' }
    const puts = ['NEW', 'OLD'].map((name) => ({ name, ciphertext: ciphertext() }))
    const body = { puts, deletes: [{ name: 'GONE', expectedVersion: 1 }] }
    const answer = await world.call(changes.propose, { ...by, params: { ...org, envId }, body, headers })
    expect(answer.status).toBe(202)
    const { groupId, changeRequests } = answer.body
    expect(groupId).toMatch(/^cgr_/)
    expect(changeRequests).toMatchObject([
      { groupId, groupSize: 3, secretName: 'NEW', action: 'put', baseVersion: 0, note: 'one partner' },
      { groupId, groupSize: 3, secretName: 'OLD', action: 'put', baseVersion: 1, note: 'one partner' },
      { groupId, groupSize: 3, secretName: 'GONE', action: 'delete', baseVersion: 1, note: 'one partner' },
    ])
    expect((await membersOf(groupId)).map(({ id }) => id).sort()).toEqual(changeRequests.map(({ id }) => id).sort())
    expect(await actionsOf(answer.headers.get('x-request-id'))).toEqual(Array(3).fill('change_request.opened'))
    expect(await namesIn(envId)).toEqual([
      ['OLD', 1],
      ['GONE', 1],
    ])
  })

  test('are applied in one transaction when any of them is approved', async () => {
    const envId = await furnished()
    const { groupId, changeRequests } = await proposeGroup(world, tenant, envId, three)
    const approval = await decide(world, tenant, 'approve', changeRequests[2]!.id, alice)
    expect(approval.body).toMatchObject({ status: 'applied', approvals: 1, required: 1 })
    expect((await membersOf(groupId)).map(({ status }) => status)).toEqual(Array(3).fill('applied'))
    expect(await namesIn(envId)).toEqual([
      ['OLD', 2],
      ['NEW', 1],
    ])
    expect(await actionsOf(approval.headers.get('x-request-id'))).toEqual([
      ...Array(3).fill('change_request.applied'),
      ...Array(3).fill('change_request.approved'),
      'secret.deleted',
      'secret.written',
      'secret.written',
    ])
  })

  test('share their approvals, whichever of them a reviewer opened', async () => {
    const envId = await furnished({ requiredApprovals: 2 })
    const { changeRequests } = await proposeGroup(world, tenant, envId, three)
    const [first, second] = changeRequests
    expect((await decide(world, tenant, 'approve', first!.id, alice)).body.status).toBe('open')
    const params = { ...org, changeRequestId: second!.id }
    expect((await world.call(changes.get, { ...by, params })).body.reviews).toMatchObject([{ reviewerId: alice.id }])
    expect((await decide(world, tenant, 'approve', second!.id, bob)).body.status).toBe('applied')
  })

  test('are rejected and withdrawn together', async () => {
    const envId = await furnished()
    for (const [decision, status] of [
      ['reject', 'rejected'],
      ['withdraw', 'withdrawn'],
    ] as const) {
      const { groupId, changeRequests } = await proposeGroup(world, tenant, envId, three)
      await decide(world, tenant, decision, changeRequests[1]!.id, alice)
      expect((await membersOf(groupId)).map((one) => one.status)).toEqual(Array(3).fill(status))
    }
  })

  test('are all superseded if one secret has changed in the meantime', async () => {
    const envId = await furnished()
    const { groupId, changeRequests } = await proposeGroup(world, tenant, envId, three)
    const { id } = await proposePut(world, tenant, envId, 'OLD')
    await decide(world, tenant, 'approve', id, alice)
    expect((await decide(world, tenant, 'approve', changeRequests[0]!.id, alice)).body.status).toBe('superseded')
    expect((await membersOf(groupId)).map(({ status }) => status)).toEqual(Array(3).fill('superseded'))
    expect(await namesIn(envId)).toEqual([
      ['OLD', 2],
      ['GONE', 1],
    ])
  })

  test('are decided once, when two people decide about different ones at the same time', async () => {
    const envId = await furnished()
    for (let round = 0; round < 5; round++) {
      const { groupId, changeRequests } = await proposeGroup(world, tenant, envId, { puts: ['OLD', `NEW_${round}`] })
      const [one, other] = changeRequests
      const answers = await Promise.all([
        decide(world, tenant, 'approve', one!.id, alice),
        decide(world, tenant, 'reject', other!.id, bob),
      ])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
      const statuses = new Set((await membersOf(groupId)).map(({ status }) => status))
      expect([...statuses]).toEqual([answers[0]!.status === 200 ? 'applied' : 'rejected'])
    }
  })

  test('are superseded by a re-key', async () => {
    const envId = await newGuarded(world, tenant)
    const { groupId } = await proposeGroup(world, tenant, envId, { puts: ['A', 'B'] })
    await unprotect(world, tenant, envId)
    const grants = [{ principalType: 'service_token' as const, principalId: tenant.admin.id, wrappedDek: wrappedKey() }]
    const body = { expectedVersions: {}, grants, secrets: [] }
    expect((await world.call(rekey.run, { ...by, params: { ...org, envId }, body })).status).toBe(200)
    expect((await membersOf(groupId)).map(({ status }) => status)).toEqual(['superseded', 'superseded'])
  })
})

describe('a proposal of several changes is refused as a whole', () => {
  const put = (name: string, more = {}) => ({ name, ciphertext: ciphertext(), ...more })

  test.each([
    ['if it names no secret', {}, 400, 'names no secret'],
    ['if it names a secret twice', { puts: [put('A')], deletes: [{ name: 'A' }] }, 400, 'names A twice'],
    ['if it deletes a missing secret', { puts: [put('A')], deletes: [{ name: 'NONE' }] }, 404, 'no such secret: NONE'],
    ['if a version differs', { puts: [put('A'), put('OLD', { expectedVersion: 7 })] }, 409, 'OLD is not at version 7'],
    ['if a new secret exists already', { puts: [put('OLD', { expectedVersion: 0 })] }, 409, 'OLD exists already'],
    [
      'if it has too many changes',
      { puts: Array.from({ length: limits.changeGroupMax }, (_, i) => put(`A${i}`)), deletes: [{ name: 'OLD' }] },
      400,
      `may name ${limits.changeGroupMax}`,
    ],
  ])('%s', async (_, body, status, message) => {
    const envId = await furnished()
    const answer = await propose(envId, body)
    expect([answer.status, answer.error?.message]).toEqual([status, expect.stringContaining(message)])
    expect((await world.call(changes.list, { ...by, params: org, query: { envId } })).body.changeRequests).toEqual([])
  })

  test('if the environment is not protected, and if the caller does not hold its key', async () => {
    const open = await newGuarded(world, tenant, null)
    const body = { puts: [put('A')] }
    expect((await propose(open, body)).status).toBe(409)
    const stranger = await newToken(world, tenant)
    expect((await propose(await furnished(), body, stranger.as)).status).toBe(403)
  })
})

test('a proposal of one change has no group', async () => {
  const envId = await furnished()
  const answer = await propose(envId, { deletes: [{ name: 'OLD' }] })
  expect(answer.body).toMatchObject({ groupId: null, changeRequests: [{ groupId: null, groupSize: 1 }] })
})
