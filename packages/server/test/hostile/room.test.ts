import { secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test, vi } from 'vitest'
import { ciphertext } from '../blobs.ts'
import { decide, proposePut, protect } from '../guarded.ts'
import { openTenant } from '../scene.ts'
import { newApp, newEnv, newMember } from '../tenant.ts'

const { world, tenant } = await openTenant({ SKERRY_ENVIRONMENT_SECRETS: '20', SKERRY_ENVIRONMENT_MB: '1' })
const reviewer = await newMember(world, tenant, 'admin')

const empty = async () => (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
const put = (envId: string, name: string, text = ciphertext(), as = tenant.admin.as) =>
  world.call(secrets.put, { as, params: { orgId: tenant.orgId, envId, name }, body: { ciphertext: text } })
const count = async (envId: string) =>
  (await world.call(secrets.list, { as: tenant.admin.as, params: { orgId: tenant.orgId, envId } })).body.secrets.length

async function full(): Promise<string> {
  const envId = await empty()
  for (let n = 0; n < 20; n++) expect((await put(envId, `NAME_${n}`)).status).toBe(201)
  return envId
}

describe('an environment', () => {
  test('takes as many secrets as the setting says, and then only changes of existing ones', async () => {
    const envId = await full()
    const { status, error } = await put(envId, 'ONE_MORE')
    expect([status, error?.code]).toEqual([403, 'quota_exceeded'])
    expect(error?.message).toBe('the environment holds 20 secrets, and may hold 20')
    expect((await put(envId, 'NAME_0')).status).toBe(200)
    const params = { orgId: tenant.orgId, envId, name: 'NAME_1' }
    await world.call(secrets.delete, { as: tenant.admin.as, params })
    expect((await put(envId, 'ONE_MORE')).status).toBe(201)
  })

  test('is not filled past its limit by simultaneous writes', async () => {
    const envId = await empty()
    const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => put(envId, `NAME_${n}`)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 403]))
    expect(await count(envId)).toBe(20)
  })

  test('counts simultaneous writes together, and accepts changes of existing secrets beside new ones', async () => {
    const envId = await empty()
    for (let n = 0; n < 10; n++) await put(envId, `NAME_${n}`)
    const transactions = vi.spyOn(world.server.context.db, 'transaction')
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => put(envId, `NAME_${n}`)))
    const count = transactions.mock.calls.length
    transactions.mockRestore()
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, (_, n) => (n < 10 ? 200 : 201)))
    expect(count).toBeLessThan(12)
  })

  test('accepts bytes up to its limit, and writes that do not make it larger', async () => {
    const envId = await empty()
    const half = ciphertext(400_000)
    expect((await put(envId, 'A', half)).status).toBe(201)
    const { status, error } = await put(envId, 'B', half)
    expect([status, error?.code, error?.message]).toEqual([
      403,
      'quota_exceeded',
      `the environment would hold ${2 * half.length} bytes, and may hold ${1024 * 1024}`,
    ])
    expect((await put(envId, 'A', half)).status).toBe(200)
    expect((await put(envId, 'A')).status).toBe(200)
    expect((await put(envId, 'B', half)).status).toBe(201)
  })

  test('that is protected and full refuses new proposals, and approvals of earlier ones', async () => {
    const envId = await empty()
    for (let n = 0; n < 19; n++) await put(envId, `NAME_${n}`)
    await protect(world, tenant, envId)
    const [first, second] = [await proposePut(world, tenant, envId, 'X'), await proposePut(world, tenant, envId, 'Y')]
    expect((await decide(world, tenant, 'approve', first.id, reviewer)).body.status).toBe('applied')
    expect((await decide(world, tenant, 'approve', second.id, reviewer)).error?.code).toBe('quota_exceeded')
    expect((await put(envId, 'Z')).error?.code).toBe('quota_exceeded')
  })
})
