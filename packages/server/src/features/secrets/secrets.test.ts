import { grants } from '@skerry/contract/grants/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test } from 'vitest'
import { ciphertext } from '../../../test/blobs.ts'
import { openEnv } from '../../../test/scene.ts'
import { grantKey, newToken, putSecret, written } from '../../../test/tenant.ts'

const { world, tenant, envId } = await openEnv()

const at = (name: string) => ({ orgId: tenant.orgId, envId, name })

describe('writing', () => {
  test('a new secret answers 201 with version 1, and later writes answer 200 and count up', async () => {
    const first = await world.call(secrets.put, {
      as: tenant.admin.as,
      params: at('FIRST'),
      body: { ciphertext: ciphertext() },
    })
    const second = await world.call(secrets.put, {
      as: tenant.admin.as,
      params: at('FIRST'),
      body: { ciphertext: ciphertext() },
    })
    expect([first.status, written(first.body).secret.version]).toEqual([201, 1])
    expect([second.status, written(second.body).secret.version]).toEqual([200, 2])
    expect(written(second.body).secret.id).toBe(written(first.body).secret.id)
  })

  test('twenty times at once with one expected version succeeds once and answers 409 nineteen times', async () => {
    await putSecret(world, tenant, envId, 'RACED')
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        world.call(secrets.put, {
          as: tenant.admin.as,
          params: at('RACED'),
          body: { ciphertext: ciphertext(), expectedVersion: 1 },
        }),
      ),
    )
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(19)
  })

  test('with expectedVersion 0 only creates', async () => {
    const body = { ciphertext: ciphertext(), expectedVersion: 0 }
    const created = await world.call(secrets.put, { as: tenant.admin.as, params: at('ONCE'), body })
    const again = await world.call(secrets.put, { as: tenant.admin.as, params: at('ONCE'), body })
    expect([created.status, again.status]).toEqual([201, 409])
  })

  test('with an expected version of a secret that does not exist answers 409 and creates nothing', async () => {
    const body = { ciphertext: ciphertext(), expectedVersion: 3 }
    const answer = await world.call(secrets.put, { as: tenant.admin.as, params: at('ABSENT'), body })
    const versions = await world.call(secrets.versions, { as: tenant.admin.as, params: at('ABSENT') })
    expect([answer.status, versions.status]).toEqual([409, 404])
  })
})

test('a member token without a grant may not list, read history or write', async () => {
  const token = await newToken(world, tenant)
  const listed = await world.call(secrets.list, { as: token.as, params: { orgId: tenant.orgId, envId } })
  const read = await world.call(secrets.versions, { as: token.as, params: at('FIRST') })
  const written = await world.call(secrets.put, {
    as: token.as,
    params: at('FIRST'),
    body: { ciphertext: ciphertext() },
  })
  expect([listed.status, read.status, written.status]).toEqual([403, 403, 403])
  await grantKey(world, tenant, envId, token)
  const after = await world.call(secrets.list, { as: token.as, params: { orgId: tenant.orgId, envId } })
  expect(after.status).toBe(200)
})

test('a revoked grant stops working on the next request', async () => {
  const token = await newToken(world, tenant)
  const grant = await grantKey(world, tenant, envId, token)
  const params = { orgId: tenant.orgId, envId, grantId: grant.id }
  expect((await world.call(grants.own, { as: token.as, params })).status).toBe(200)
  await world.call(grants.delete, { as: tenant.admin.as, params })
  expect((await world.call(grants.own, { as: token.as, params })).status).toBe(403)
})
