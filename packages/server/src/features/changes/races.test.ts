import { branches } from '@skerry/contract/branches/endpoints'
import { protection } from '@skerry/contract/changes/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { expect, test } from 'vitest'
import { ciphertext, wrappedKey } from '../../../test/blobs.ts'
import { decide, newGuarded, proposePut, protect } from '../../../test/guarded.ts'
import { openTenant } from '../../../test/scene.ts'
import { newEntries } from '../../../test/state.ts'
import { type Actor, grantKey, newMember, newToken, putSecret } from '../../../test/tenant.ts'

const { world, tenant } = await openTenant()
const reviewers: Actor[] = []
for (let n = 0; n < 4; n++) reviewers.push(await newMember(world, tenant, 'admin'))

const by = (index: number) => reviewers[index % reviewers.length] as Actor
const versions = async (envId: string, name: string) => {
  const params = { orgId: tenant.orgId, envId, name }
  return (await world.call(secrets.versions, { as: tenant.admin.as, params })).body.versions
}
const sorted = (answers: { status: number }[]) => answers.map(({ status }) => status).sort()

test('twenty approvals at once apply the change once, and it is written once', async () => {
  const envId = await newGuarded(world, tenant)
  const { id } = await proposePut(world, tenant, envId, 'A')
  const entries = await newEntries(world, async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => decide(world, tenant, 'approve', id, by(index))),
    )
    expect(sorted(answers)).toEqual([200, ...Array(19).fill(409)])
  })
  expect(await versions(envId, 'A')).toHaveLength(1)
  expect(entries.map(({ action }) => action).sort()).toEqual([
    'change_request.applied',
    'change_request.approved',
    'secret.written',
  ])
})

test('approvals by several people at once all count, and one of them applies the change', async () => {
  const envId = await newGuarded(world, tenant, { requiredApprovals: 4 })
  const { id } = await proposePut(world, tenant, envId, 'A')
  const answers = await Promise.all(reviewers.map((reviewer) => decide(world, tenant, 'approve', id, reviewer)))
  expect(answers.map(({ body }) => body.approvals).sort()).toEqual([1, 2, 3, 4])
  expect(answers.filter(({ body }) => body.status === 'applied')).toHaveLength(1)
})

test('if an approval and a withdrawal come at once, one decides and the other is refused', async () => {
  const envId = await newGuarded(world, tenant)
  for (let round = 0; round < 10; round++) {
    const name = `A${round}`
    const { id } = await proposePut(world, tenant, envId, name)
    const [approved, withdrawn] = await Promise.all([
      decide(world, tenant, 'approve', id, by(0)),
      decide(world, tenant, 'withdraw', id, tenant.admin),
    ])
    expect(sorted([approved, withdrawn])).toEqual([200, 409])
    const params = { orgId: tenant.orgId, envId, name }
    const stored = await world.call(secrets.versions, { as: tenant.admin.as, params })
    expect(stored.status).toBe(approved.status === 200 ? 200 : 404)
  }
})

test('if two changes of one secret are approved at once, one is applied and the other superseded', async () => {
  const envId = await newGuarded(world, tenant)
  for (const name of ['NEW', 'NEW_2', 'NEW_3']) {
    for (const versionsBefore of [0, 1]) {
      const proposals = [await proposePut(world, tenant, envId, name), await proposePut(world, tenant, envId, name)]
      const answers = await Promise.all(
        proposals.map(({ id }, index) => decide(world, tenant, 'approve', id, by(index))),
      )
      expect(answers.map(({ body }) => body.status).sort()).toEqual(['applied', 'superseded'])
      expect(await versions(envId, name)).toHaveLength(versionsBefore + 1)
    }
  }
})

test('a direct write just before protection began supersedes changes of the earlier version', async () => {
  const envId = await newGuarded(world, tenant, null)
  const params = { orgId: tenant.orgId, envId }
  for (let round = 0; round < 5; round++) {
    const name = `A${round}`
    await putSecret(world, tenant, envId, name)
    await world.call(protection.delete, { as: tenant.machine.as, params })
    const write = () =>
      world.call(secrets.put, {
        as: tenant.admin.as,
        params: { ...params, name },
        body: { ciphertext: ciphertext() },
      })
    const [direct, , proposed] = await Promise.all([write(), protect(world, tenant, envId), write()])
    for (const answer of [direct, proposed]) {
      if (!('queued' in answer.body)) continue
      const { id, baseVersion } = answer.body.changeRequest
      const current = (await versions(envId, name))[0]?.version
      const { body } = await decide(world, tenant, 'approve', id, by(0))
      expect(body.status).toBe(current === baseVersion ? 'applied' : 'superseded')
    }
    await world.call(protection.delete, { as: tenant.machine.as, params })
  }
})

test('if a branch is protected and a key holder deletes it at the same time, only one of the two succeeds', async () => {
  const envId = await newGuarded(world, tenant, null)
  const holder = await newToken(world, tenant)
  await grantKey(world, tenant, envId, holder)
  for (let round = 0; round < 20; round++) {
    const params = { orgId: tenant.orgId, envId }
    const fork = { slug: `race-${round}`, wrappedDek: wrappedKey() }
    const { branch } = (await world.call(branches.create, { as: holder.as, params, body: fork })).body
    const on = { orgId: tenant.orgId, envId: branch.id }
    const [begun, removed] = await Promise.all([
      world.call(protection.put, { as: tenant.machine.as, params: on, body: {} }),
      world.call(envs.delete, { as: holder.as, params: on }),
    ])
    expect([`${begun.status} ${removed.status}`]).toEqual([expect.stringMatching(/^(?:200 403|404 200)$/)])
  }
})
