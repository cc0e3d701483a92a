import { audit } from '@skerry/contract/audit/endpoints'
import { changes } from '@skerry/contract/changes/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { limits } from '@skerry/contract/limits'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { deletedSecrets, secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test } from 'vitest'
import { ciphertext, wrappedKey } from '../../../test/blobs.ts'
import { decide, newGuarded, proposePut, protect, queuedIn, unprotect } from '../../../test/guarded.ts'
import { openEnv } from '../../../test/scene.ts'
import {
  type Actor,
  deletedSecret,
  grantKey,
  newApp,
  newEnv,
  newMember,
  newToken,
  putSecret,
  written,
} from '../../../test/tenant.ts'
import { purgeDeleted } from './jobs.ts'

// The server's own schedule may run the job between two lines of a test. No test depends on that.

const { world, tenant, envId } = await openEnv()

const on = (id = envId) => ({ orgId: tenant.orgId, envId: id })
const remove = (
  name: string,
  query: Record<string, unknown> = { keepFor: '30d' },
  id = envId,
  actor: Actor = tenant.admin,
) => world.call(secrets.delete, { as: actor.as, params: { ...on(id), name }, query })
const list = async (id = envId) =>
  (await world.call(deletedSecrets.list, { as: tenant.admin.as, params: on(id) })).body.deletedSecrets
const restore = (secretId: string, actor: Actor = tenant.admin, id = envId, text = ciphertext()) =>
  world.call(deletedSecrets.restore, { as: actor.as, params: { ...on(id), secretId }, body: { ciphertext: text } })
const purge = (secretId: string, actor: Actor = tenant.admin, id = envId) =>
  world.call(deletedSecrets.purge, { as: actor.as, params: { ...on(id), secretId } })
const versions = (name: string, id = envId) =>
  world.call(secrets.versions, { as: tenant.admin.as, params: { ...on(id), name } })
const recorded = async (action: string, resourceId: string) =>
  (
    await world.call(audit.list, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId },
      query: { action, resourceId } as never,
    })
  ).body.entries
const newEnvironment = async () => (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id

describe('a secret that is deleted with keepFor', () => {
  test('is gone for everyone who reads secrets, and is listed with its ciphertext, deleter and end', async () => {
    const { id, ciphertext } = await putSecret(world, tenant, envId, 'KEPT')
    const { status, body } = await remove('KEPT', { keepFor: '7d', expectedVersion: 1 })
    const kept = written(body).deletedSecret
    expect([status, kept]).toEqual([
      200,
      {
        id,
        environmentId: envId,
        name: 'KEPT',
        version: 1,
        restorable: true,
        deletedByType: 'service_token',
        deletedById: tenant.admin.id,
        deletedAt: kept?.deletedAt,
        keptUntil: new Date(Date.parse(kept?.deletedAt as string) + 7 * 86_400_000).toISOString(),
      },
    ])
    expect((await versions('KEPT')).status).toBe(404)
    const { secrets: live } = (await world.call(secrets.list, { as: tenant.admin.as, params: on() })).body
    expect(live.map(({ name }) => name)).not.toContain('KEPT')
    expect(await list()).toContainEqual({ ...kept, ciphertext })
    expect(await recorded('secret.deleted', id)).toMatchObject([{ metadata: { keptUntil: kept?.keptUntil } }])
  })

  test('comes back under its id with all versions and their authors, and its value as a new version', async () => {
    const holder = await newToken(world, tenant)
    await grantKey(world, tenant, envId, holder)
    await putSecret(world, tenant, envId, 'BACK')
    const { id } = await putSecret(world, tenant, envId, 'BACK')
    const before = (await versions('BACK')).body.versions
    await remove('BACK')
    const again = ciphertext()
    const { status, body } = await restore(id, holder, envId, again)
    expect([status, written(body).secret]).toMatchObject([200, { id, name: 'BACK', version: 3, ciphertext: again }])
    const [newest, ...older] = (await versions('BACK')).body.versions
    expect(newest).toMatchObject({ restoredFromVersion: 2, createdById: holder.id, ciphertext: again })
    expect(older).toEqual(before)
    expect(await list()).not.toContainEqual(expect.objectContaining({ id }))
    expect(await recorded('secret.undeleted', id)).toMatchObject([
      { metadata: { environmentId: envId, name: 'BACK', version: 3 } },
    ])
    expect((await restore(id)).status).toBe(404)
  })

  test('is not restored while a secret has its name again, and each deletion of a name is kept', async () => {
    const first = await deletedSecret(world, tenant, envId, 'TWICE')
    const second = await putSecret(world, tenant, envId, 'TWICE')
    expect(second.version).toBe(1)
    const refused = await restore(first.id)
    expect([refused.status, refused.error?.message]).toEqual([409, 'TWICE exists already'])
    await remove('TWICE')
    const ids = (await list()).filter(({ name }) => name === 'TWICE').map(({ id }) => id)
    expect(ids).toEqual([second.id, first.id])
    expect((await restore(first.id)).status).toBe(200)
  })

  test('is purged for good by a request', async () => {
    const { id } = await deletedSecret(world, tenant, envId, 'PURGED')
    expect((await purge(id, tenant.machine)).body).toEqual({ ok: true })
    expect([(await restore(id)).status, (await purge(id)).status]).toEqual([404, 404])
    const rows = await world.server.context.db.rows('select 1 from deleted_secret_versions where secret_id = $1', [id])
    expect(rows).toEqual([])
    expect(await recorded('secret.purged', id)).toMatchObject([
      { actorId: tenant.machine.id, metadata: { name: 'PURGED' } },
    ])
  })

  test('is missing on every route after its time, whether or not the job has purged it', async () => {
    const { id } = await deletedSecret(world, tenant, envId, 'EXPIRED', '1d')
    const { id: longer } = await deletedSecret(world, tenant, envId, 'LONGER', '2d')
    world.clock.advance(86_401)
    const seen = async () => [
      (await list()).some((one) => one.id === id),
      (await restore(id)).status,
      (await purge(id)).status,
    ]
    expect(await seen()).toEqual([false, 404, 404])
    await purgeDeleted(world.server.context)
    expect(await seen()).toEqual([false, 404, 404])
    expect(await list()).toContainEqual(expect.objectContaining({ id: longer }))
    expect(await recorded('secret.purged', id)).toMatchObject([{ actorType: 'system', metadata: { name: 'EXPIRED' } }])
  })

  test.each(['0d', '31d', '30', '1h', '01d'])('is refused for a time of %s', async (keepFor) => {
    await putSecret(world, tenant, envId, 'ODD')
    expect((await remove('ODD', { keepFor })).status).toBe(400)
    expect((await versions('ODD')).status).toBe(200)
  })

  test('is listed and restored by holders of a grant, and purged by machine clients too', async () => {
    const { id } = await deletedSecret(world, tenant, envId, 'KEYLESS')
    const statuses = async (actor: Actor) => {
      const listed = await world.call(deletedSecrets.list, { as: actor.as, params: on() })
      return [listed.status, (await restore(id, actor)).status, (await purge(id, actor)).status]
    }
    for (const actor of [await newToken(world, tenant), await newMember(world, tenant, 'admin')])
      expect(await statuses(actor)).toEqual([403, 403, 403])
    expect(await statuses(tenant.machine)).toEqual([403, 403, 200])
    const { id: another } = await deletedSecret(world, tenant, envId, 'KEYLESS')
    const holder = await newToken(world, tenant)
    await grantKey(world, tenant, envId, holder)
    expect((await restore(another, holder)).status).toBe(200)
  })

  test('is found in its own environment only, and is deleted with it', async () => {
    const other = await newEnvironment()
    const { id } = await deletedSecret(world, tenant, other, 'ELSEWHERE')
    expect([(await restore(id)).status, (await purge(id)).status]).toEqual([404, 404])
    await world.call(envs.delete, { as: tenant.admin.as, params: on(other) })
    const rows = await world.server.context.db.rows('select 1 from deleted_secrets where id = $1', [id])
    expect(rows).toEqual([])
  })

  test('counts towards no quota, but an environment keeps a limited number', async () => {
    const full = await newEnvironment()
    await world.server.context.db.rows(
      `insert into deleted_secrets (org_id, id, environment_id, name, current_version, key_since_version, created_at,
                                    deleted_by_type, deleted_by_id, deleted_at, kept_until)
       select $1, 'sec_' || left(md5($2 || n), 22), $2, 'NAME_' || n, 1, 1, now(), 'm2m', 'x', now(), '2100-01-01'
         from generate_series(1, $3::int) n`,
      [tenant.orgId, full, limits.deletedSecretsMax],
    )
    await putSecret(world, tenant, full, 'MORE')
    const { status, error } = await remove('MORE', { keepFor: '30d' }, full)
    expect([status, error?.code]).toEqual([403, 'quota_exceeded'])
    expect((await versions('MORE', full)).status).toBe(200)
    expect((await remove('MORE', {}, full)).status).toBe(200)
  })

  test('is restored once when ten restore it at once', async () => {
    const { id } = await deletedSecret(world, tenant, envId, 'RACED')
    const answers = await Promise.all(Array.from({ length: 10 }, () => restore(id)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)])
    expect((await versions('RACED')).body.versions).toHaveLength(2)
  })
})

describe('a re-key', () => {
  test('makes deleted secrets unreadable, which the list says and a restore refuses', async () => {
    const id = await newEnvironment()
    const { id: lost } = await deletedSecret(world, tenant, id, 'LOST')
    await putSecret(world, tenant, id, 'LIVE')
    const grants = [{ principalType: 'service_token', principalId: tenant.admin.id, wrappedDek: wrappedKey() }]
    const body = { expectedVersions: { LIVE: 1 }, grants, secrets: [{ name: 'LIVE', ciphertext: ciphertext() }] }
    expect((await world.call(rekey.run, { as: tenant.admin.as, params: on(id), body: body as never })).status).toBe(200)
    expect(await list(id)).toMatchObject([{ id: lost, restorable: false, ciphertext: null }])
    const { status, error } = await restore(lost, tenant.admin, id)
    expect([status, error?.code]).toEqual([400, 'invalid_request'])
    expect((await purge(lost, tenant.admin, id)).status).toBe(200)
  })
})

describe('in a protected environment', () => {
  // Each review has a session of its own, because the clock may have moved past the last one.
  const approve = async (changeRequestId: string) =>
    decide(world, tenant, 'approve', changeRequestId, await newMember(world, tenant, 'admin'))

  test('deleting, restoring and purging wait for approval, and the time begins with it', async () => {
    const id = await newGuarded(world, tenant, null)
    const { id: secretId } = await putSecret(world, tenant, id, 'GUARDED')
    await protect(world, tenant, id)
    const deletion = queuedIn(await remove('GUARDED', { keepFor: '3d' }, id))
    expect(deletion).toMatchObject({ action: 'delete', keepFor: '3d', deletedSecretId: null, baseVersion: 1 })
    expect(await list(id)).toEqual([])
    world.clock.advance(3600)
    expect((await approve(deletion.id)).body).toMatchObject({ status: 'applied' })
    const [kept] = await list(id)
    expect(kept).toMatchObject({ id: secretId, deletedById: tenant.admin.id })
    expect(Date.parse(kept?.keptUntil as string) - Date.parse(kept?.deletedAt as string)).toBe(3 * 86_400_000)

    const restoring = queuedIn(await restore(secretId, tenant.admin, id))
    expect(restoring).toMatchObject({
      action: 'restore',
      restoreVersion: 1,
      deletedSecretId: secretId,
      baseVersion: 0,
      ciphertext: expect.stringMatching(/^sc1\./),
    })
    expect((await approve(restoring.id)).body).toMatchObject({ status: 'applied' })
    expect((await versions('GUARDED', id)).body).toMatchObject({ currentVersion: 2 })
    expect(await recorded('secret.undeleted', secretId)).toMatchObject([
      { metadata: { changeRequestId: restoring.id, version: 2 } },
    ])

    const again = queuedIn(await remove('GUARDED', { keepFor: '3d' }, id))
    await approve(again.id)
    const purging = queuedIn(await purge(secretId, tenant.admin, id))
    expect(purging).toMatchObject({ action: 'delete', keepFor: null, deletedSecretId: secretId })
    expect((await approve(purging.id)).body).toMatchObject({ status: 'applied' })
    expect(await list(id)).toEqual([])
    expect(await recorded('secret.purged', secretId)).toHaveLength(1)
  })

  test('a restore is superseded if its name is in use again, or if the secret is no longer kept', async () => {
    const id = await newGuarded(world, tenant)
    await unprotect(world, tenant, id)
    const { id: first } = await deletedSecret(world, tenant, id, 'FIRST')
    const { id: second } = await deletedSecret(world, tenant, id, 'SECOND')
    await protect(world, tenant, id)
    const waiting = [
      queuedIn(await restore(first, tenant.admin, id)),
      queuedIn(await restore(second, tenant.admin, id)),
    ]
    await approve((await proposePut(world, tenant, id, 'FIRST')).id)
    await approve(queuedIn(await purge(second, tenant.admin, id)).id)
    const params = { orgId: tenant.orgId, changeRequestId: waiting[1]?.id as string }
    const { body } = await world.call(changes.get, { as: tenant.admin.as, params })
    expect(body.changeRequest.ciphertext).toBeNull()
    for (const one of waiting) expect((await approve(one.id)).body).toMatchObject({ status: 'superseded' })
    expect((await list(id)).map((one) => one.id)).toEqual([first])
  })

  test('a proposed value never applies to a secret that was deleted and restored since', async () => {
    const id = await newGuarded(world, tenant)
    await approve((await proposePut(world, tenant, id, 'MOVED')).id)
    const waiting = await proposePut(world, tenant, id, 'MOVED')
    await unprotect(world, tenant, id)
    await remove('MOVED', { keepFor: '30d' }, id)
    const [kept] = await list(id)
    await restore(kept?.id as string, tenant.admin, id)
    expect((await approve(waiting.id)).body).toMatchObject({ status: 'superseded' })
    expect((await versions('MOVED', id)).body).toMatchObject({ currentVersion: 2 })
  })

  test('a deletion in a group of changes may keep its secret', async () => {
    const id = await newGuarded(world, tenant)
    for (const name of ['ONE', 'OTHER']) await approve((await proposePut(world, tenant, id, name)).id)
    const deletes = [{ name: 'ONE', keepFor: '30d' }, { name: 'OTHER' }]
    const { body } = await world.call(changes.propose, { as: tenant.admin.as, params: on(id), body: { deletes } })
    await approve(body.changeRequests[0]?.id as string)
    expect((await list(id)).map(({ name }) => name)).toEqual(['ONE'])
  })
})
