import { audit } from '@skerry/contract/audit/endpoints'
import { limits } from '@skerry/contract/limits'
import { members } from '@skerry/contract/members/endpoints'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { secretDetails } from '@skerry/contract/secret-details/endpoints'
import { describe, expect, test } from 'vitest'
import { sealedDetails, wrappedKey } from '../../../test/blobs.ts'
import { newGuarded } from '../../../test/guarded.ts'
import { openEnv } from '../../../test/scene.ts'
import { type Actor, grantKey, newApp, newEnv, newMember, newToken, putSecret } from '../../../test/tenant.ts'
import { takeReminders } from '../../model/secrets/details.ts'
import { remind } from './jobs.ts'

const { world, tenant, envId } = await openEnv()

const on = (id = envId) => ({ orgId: tenant.orgId, envId: id })
const list = async (id = envId) =>
  (await world.call(secretDetails.list, { as: tenant.admin.as, params: on(id) })).body.details
const update = (name: string, body: Record<string, unknown>, actor: Actor = tenant.admin, id = envId) =>
  world.call(secretDetails.update, { as: actor.as, params: { ...on(id), name }, body })
const described = async () =>
  (
    await world.call(audit.list, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId },
      query: { action: 'secret.described', resourceId: envId },
    })
  ).body.entries
const newEnvironment = async () => (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id

describe('the details of a name', () => {
  test('are stored in parts: what a body leaves out stays, null clears, and nothing left deletes the row', async () => {
    const owner = await newMember(world, tenant)
    const sealed = sealedDetails()
    const first = await update('A', { sealed, expiresAt: '2090-01-01T00:00:00Z' })
    expect(first.body.details).toMatchObject({ name: 'A', sealed, ownerId: null, notNeeded: false, revision: 1 })
    const second = await update('A', { ownerId: owner.id, notNeeded: true })
    expect(second.body.details).toMatchObject({
      sealed,
      ownerId: owner.id,
      expiresAt: '2090-01-01T00:00:00.000Z',
      notNeeded: true,
      revision: 2,
      updatedById: tenant.admin.id,
    })
    expect((await list()).map(({ name }) => name)).toContain('A')
    const cleared = { sealed: null, ownerId: null, expiresAt: null, notNeeded: false }
    expect((await update('A', cleared)).body).toEqual({ details: null })
    expect((await list()).map(({ name }) => name)).not.toContain('A')
  })

  test('need no secret of that name, and leave an audit entry without content; a repetition leaves none', async () => {
    const before = (await described()).length
    await update('NOT_HERE', { notNeeded: true })
    const again = await update('NOT_HERE', { notNeeded: true })
    expect(again.body.details?.revision).toBe(1)
    const entries = await described()
    expect(entries).toHaveLength(before + 1)
    expect(entries[0]?.metadata).toEqual({ environmentId: envId, name: 'NOT_HERE' })
    expect((await update('NEVER_NOTED', { notNeeded: false })).body).toEqual({ details: null })
  })

  test('are changed only at the expected revision', async () => {
    await update('REVISED', { notNeeded: true, expectedRevision: 0 })
    for (const expectedRevision of [0, 2]) {
      const { status, error } = await update('REVISED', { notNeeded: false, expectedRevision })
      expect([status, error?.code]).toEqual([409, 'conflict'])
    }
    expect((await update('REVISED', { sealed: sealedDetails(), expectedRevision: 1 })).body.details?.revision).toBe(2)
  })

  test('are for holders of a key alone, in a protected environment without approval', async () => {
    const guarded = await newGuarded(world, tenant)
    expect((await update('A', { notNeeded: true }, tenant.admin, guarded)).status).toBe(200)
    const holder = await newToken(world, tenant)
    await grantKey(world, tenant, envId, holder)
    for (const [actor, status] of [
      [holder, 200],
      [tenant.machine, 403],
      [await newToken(world, tenant), 403],
      [await newMember(world, tenant, 'admin'), 403],
    ] as const) {
      const listed = await world.call(secretDetails.list, { as: actor.as, params: on() })
      expect([listed.status, (await update('SEEN', { notNeeded: true }, actor)).status]).toEqual([status, status])
    }
  })

  test.each<[string, Record<string, unknown>]>([
    ['a value instead of sealed details', { sealed: 'sc1.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA' }],
    ['a text in clear', { sealed: 'the production bucket' }],
    ['sealed details that are too long', { sealed: sealedDetails(limits.sealedDetailsCharacters) }],
    ['an owner who is no member', { ownerId: 'usr_0000000000000000000000' }],
    ['no date', { expiresAt: 'tomorrow' }],
    ['a date that has passed', { expiresAt: '2001-01-01T00:00:00Z' }],
  ])('are refused with %s', async (_, body) => {
    expect((await update('ODD', body)).status).toBe(400)
  })

  test('lose an owner who is removed from the organization', async () => {
    const owner = await newMember(world, tenant)
    await update('OWNED', { ownerId: owner.id, notNeeded: true })
    await world.call(members.remove, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId, userId: owner.id },
    })
    expect((await list()).find(({ name }) => name === 'OWNED')).toMatchObject({ ownerId: null, notNeeded: true })
  })

  test('are limited to as many names as a re-key takes', async () => {
    const full = await newEnvironment()
    await world.server.context.db.rows(
      `insert into secret_details (org_id, environment_id, name, not_needed, revision, updated_by_type, updated_by_id, updated_at)
       select $1, $2, 'NAME_' || n, true, 1, 'm2m', 'x', now() from generate_series(1, $3::int) n`,
      [tenant.orgId, full, limits.rekeySecretsMax],
    )
    const { status, error } = await update('MORE', { notNeeded: true }, tenant.admin, full)
    expect([status, error?.code]).toEqual([403, 'quota_exceeded'])
    expect((await update('NAME_1', { notNeeded: false }, tenant.admin, full)).status).toBe(200)
  })
})

describe('a re-key', () => {
  const run = (id: string, details?: object[]) =>
    world.call(rekey.run, {
      as: tenant.admin.as,
      params: on(id),
      body: {
        expectedVersions: {},
        grants: [{ principalType: 'service_token', principalId: tenant.admin.id, wrappedDek: wrappedKey() }],
        secrets: [],
        ...(details && { details }),
      } as never,
    })
  const scene = async () => {
    const id = await newEnvironment()
    await update('BOTH', { sealed: sealedDetails(), notNeeded: true }, tenant.admin, id)
    await update('SEALED', { sealed: sealedDetails() }, tenant.admin, id)
    await update('PLAIN', { notNeeded: true }, tenant.admin, id)
    return id
  }

  test('takes every description under the new key, in the same request', async () => {
    const id = await scene()
    const [one, other] = [sealedDetails(), sealedDetails()]
    const details = [
      { name: 'BOTH', sealed: one, expectedRevision: 1 },
      { name: 'SEALED', sealed: other, expectedRevision: 1 },
    ]
    expect((await run(id, details)).status).toBe(200)
    expect(await list(id)).toMatchObject([
      { name: 'BOTH', sealed: one, revision: 2, notNeeded: true },
      { name: 'PLAIN', sealed: null, revision: 1 },
      { name: 'SEALED', sealed: other, revision: 2 },
    ])
  })

  test('is refused if a description is missing, or was changed meanwhile', async () => {
    const id = await scene()
    const both = { name: 'BOTH', sealed: sealedDetails(), expectedRevision: 1 }
    for (const details of [
      [both],
      [both, { name: 'SEALED', sealed: sealedDetails(), expectedRevision: 2 }],
      [both, { name: 'PLAIN', sealed: sealedDetails(), expectedRevision: 1 }],
    ]) {
      const { status, error } = await run(id, details)
      expect([status, error?.code]).toEqual([409, 'conflict'])
    }
    expect((await list(id)).map(({ revision }) => revision)).toEqual([1, 1, 1])
  })

  test('of a client that knows no details drops the descriptions, which nobody could open', async () => {
    const id = await scene()
    expect((await run(id)).status).toBe(200)
    expect(await list(id)).toMatchObject([
      { name: 'BOTH', sealed: null, notNeeded: true },
      { name: 'PLAIN', sealed: null },
    ])
  })
})

describe('a reminder', () => {
  const due = async (now: string) => {
    const soon = new Date(Date.parse(now) + 14 * 86_400_000).toISOString()
    return world.server.context.db.transaction((tx) => takeReminders(tx, { now, soon, limit: 100 }))
  }

  test('is sent once before a secret expires and once after, and anew for another date', async () => {
    const id = await newEnvironment()
    await putSecret(world, tenant, id, 'EXPIRES')
    await update('EXPIRES', { expiresAt: '2060-06-15T00:00:00Z' }, tenant.admin, id)
    await update('NO_SECRET', { expiresAt: '2060-06-15T00:00:00Z' }, tenant.admin, id)
    expect(await due('2060-06-01T00:00:00.000Z')).toMatchObject([{ name: 'EXPIRES', hasExpired: false }])
    expect(await due('2060-06-10T00:00:00.000Z')).toEqual([])
    expect(await due('2060-06-15T00:00:00.000Z')).toMatchObject([{ name: 'EXPIRES', hasExpired: true }])
    expect(await due('2060-07-01T00:00:00.000Z')).toEqual([])
    await update('EXPIRES', { expiresAt: '2060-08-01T00:00:00Z' }, tenant.admin, id)
    expect(await due('2060-07-30T00:00:00.000Z')).toMatchObject([{ name: 'EXPIRES' }])
  })

  test('is an event for the owner, or for the admins', async () => {
    const id = await newEnvironment()
    const owner = await newMember(world, tenant)
    for (const [name, ownerId] of [
      ['OWNED', owner.id],
      ['ORPHAN', null],
    ] as const) {
      await putSecret(world, tenant, id, name)
      await update(
        name,
        { expiresAt: new Date(world.clock.now().getTime() + 86_400_000).toISOString(), ownerId },
        tenant.admin,
        id,
      )
    }
    const seen: object[] = []
    const { context } = world.server
    const emit = async (_: unknown, type: string, orgId: string, facts: object) => {
      seen.push({ type, orgId, ...facts })
      return []
    }
    await remind({ ...context, events: { ...context.events, emit: emit as never } })
    expect(seen.filter((one) => 'environmentId' in one && one.environmentId === id)).toMatchObject([
      { type: 'secret.expiring', secretName: expect.any(String), hasExpired: false },
      { type: 'secret.expiring', secretName: expect.any(String), hasExpired: false },
    ])
    expect(seen).toContainEqual(expect.objectContaining({ secretName: 'OWNED', ownerId: owner.id }))
    expect(seen).toContainEqual(expect.objectContaining({ secretName: 'ORPHAN', ownerId: null }))
  })
})
