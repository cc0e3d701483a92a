import { grants } from '@skerry/contract/grants/endpoints'
import { recovery } from '@skerry/contract/recovery/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { recoveryBody } from '../../../test/recovery-steps.ts'
import { openEnv } from '../../../test/scene.ts'
import { newMember, newToken } from '../../../test/tenant.ts'

// Who can read an environment, since when, and through which grant.

const { world, tenant, envId } = await openEnv()
const params = { orgId: tenant.orgId, envId }
const read = (as = tenant.admin.as) => world.call(grants.readers, { as, params })

test('the list names each holder, since when, the grant and who gave it, and marks a revoked token as not in force', async () => {
  const member = await newMember(world, tenant)
  const token = await newToken(world, tenant)
  for (const [principalType, { id: principalId }] of [
    ['user', member],
    ['service_token', token],
  ] as const)
    await world.call(grants.create, {
      as: tenant.admin.as,
      params,
      body: { principalType, principalId, wrappedDek: wrappedKey() },
    })
  await world.call(tokens.revoke, { as: tenant.admin.as, params: { orgId: tenant.orgId, tokenId: token.id } })
  const { readers } = (await read()).body
  const { body } = await world.call(grants.list, { as: tenant.admin.as, params })
  expect(readers.map(({ grantId, since }) => [grantId, since])).toEqual(
    body.grants.map(({ id, createdAt }) => [id, createdAt]),
  )
  const by = { grantedByType: 'service_token', grantedById: tenant.admin.id }
  expect(readers.find(({ principalId }) => principalId === member.id)).toMatchObject({ ...by, inForce: true })
  const left = readers.find(({ principalId }) => principalId === token.id)
  expect(left).toMatchObject({ ...by, inForce: false })
})

test('the list names the custodians who could open the key together, and is only for admins', async () => {
  expect((await read()).body.recovery).toBeNull()
  const custodians = [await newMember(world, tenant), await newMember(world, tenant)]
  const body = recoveryBody(custodians, 2, [envId])
  const answer = await world.call(recovery.enable, { as: tenant.admin.as, params: { orgId: tenant.orgId }, body })
  expect(answer.status).toBe(201)
  expect((await read()).body.recovery).toMatchObject({
    threshold: 2,
    custodians: custodians.map(({ id }) => ({ userId: id })),
  })
  expect((await read(custodians[0]?.as)).status).toBe(403)
})
