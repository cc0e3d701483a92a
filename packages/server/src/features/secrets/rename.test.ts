import { audit } from '@skerry/contract/audit/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { secretDetails } from '@skerry/contract/secret-details/endpoints'
import { deletedSecrets, secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test } from 'vitest'
import { newWorkingAgent } from '../../../test/agent-steps.ts'
import { ciphertext, sealedDetails, sealedFormerNames } from '../../../test/blobs.ts'
import { engine } from '../../../test/engine.ts'
import { decide, newGuarded, proposePut, protect, queuedIn, unprotect } from '../../../test/guarded.ts'
import { held, waiting } from '../../../test/held.ts'
import { generatedRotation, newKeyedEnv, newRotation } from '../../../test/rotation-steps.ts'
import { openSync } from '../../../test/scene.ts'
import { auditRows } from '../../../test/state.ts'
import { bind, connect, vaultedEnv } from '../../../test/sync-scene.ts'
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
import { until } from '../../../test/until.ts'

const { platform, world, tenant } = await openSync()
const envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id

const on = (id = envId) => ({ orgId: tenant.orgId, envId: id })
interface Rename {
  by?: Actor
  id?: string
  expectedVersion?: number
  text?: string
  details?: { sealed: string; expectedRevision: number }
}
const rename = (name: string, newName: string, { by = tenant.admin, id = envId, text, ...more }: Rename = {}) =>
  world.call(secrets.rename, {
    as: by.as,
    params: { ...on(id), name },
    body: {
      newName,
      ciphertext: text ?? ciphertext(),
      formerNames: sealedFormerNames(),
      expectedVersion: 1,
      ...more,
    },
  })
const versions = async (name: string, id = envId) =>
  (await world.call(secrets.versions, { as: tenant.admin.as, params: { ...on(id), name } })).body
const restore = (name: string, body: { version: number; ciphertext?: string }, by: Actor = tenant.admin, id = envId) =>
  world.call(secrets.restore, { as: by.as, params: { ...on(id), name }, body })
const restoresOf = async (secretId: string) =>
  (await auditRows(world))
    .filter(({ action, resourceId }) => action === 'secret.restored' && resourceId === secretId)
    .map(({ metadata }) => metadata)
const describeAs = (name: string, body: object) =>
  world.call(secretDetails.update, { as: tenant.admin.as, params: { ...on(), name }, body })
const detailsOf = async (name: string) =>
  (await world.call(secretDetails.list, { as: tenant.admin.as, params: on() })).body.details.find(
    (row) => row.name === name,
  )

describe('a rename', () => {
  test('keeps the id and the versions, each with the name that it was encrypted under', async () => {
    const { id } = await putSecret(world, tenant, envId, 'FIRST')
    await putSecret(world, tenant, envId, 'FIRST')
    const text = ciphertext()
    const { status, body } = await rename('FIRST', 'SECOND', { expectedVersion: 2, text })
    expect([status, body.secret]).toMatchObject([
      200,
      { id, environmentId: envId, name: 'SECOND', version: 3, ciphertext: text },
    ])
    expect(body.namedBy).toEqual([])
    await putSecret(world, tenant, envId, 'SECOND')
    const again = sealedFormerNames()
    await world.call(secrets.rename, {
      as: tenant.admin.as,
      params: { ...on(), name: 'SECOND' },
      body: { newName: 'THIRD', ciphertext: ciphertext(), formerNames: again, expectedVersion: 4 },
    })
    const { versions: rows, formerNames } = await versions('THIRD')
    expect(formerNames).toBe(again)
    expect(rows.map(({ version, formerName }) => [version, formerName])).toEqual([
      [5, null],
      [4, 'SECOND'],
      [3, 'SECOND'],
      [2, 'FIRST'],
      [1, 'FIRST'],
    ])
    await rename('THIRD', 'FIRST', { expectedVersion: 5 })
    const back = (await versions('FIRST')).versions.map(({ formerName }) => formerName)
    expect(back).toEqual([null, 'THIRD', 'SECOND', 'SECOND', null, null])
    const entries = await world.call(audit.list, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId },
      query: { action: 'secret.renamed', resourceId: id },
    })
    expect(entries.body.entries.at(-1)?.metadata).toEqual({
      environmentId: envId,
      name: 'SECOND',
      formerName: 'FIRST',
      version: 3,
    })
  })

  test('reaches programs at once as one name less and one more, and the former name can be used anew', async () => {
    const token = await newToken(world, tenant)
    const id = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
    await grantKey(world, tenant, id, token)
    const first = await putSecret(world, tenant, id, 'BEFORE')
    const names = async () => {
      const { body } = await world.call(resolve.get, { as: token.as, query: { env: id } })
      return body.layers.flatMap((layer) => layer.secrets.map(({ name }) => name))
    }
    expect(await names()).toEqual(['BEFORE'])
    await rename('BEFORE', 'AFTER', { id })
    expect(await names()).toEqual(['AFTER'])
    const other = await putSecret(world, tenant, id, 'BEFORE')
    expect([other.version, other.id === first.id]).toEqual([1, false])
    expect((await versions('BEFORE', id)).versions).toHaveLength(1)
  })

  test('is refused for a secret that is unknown, has moved on or has that name, and for a name that exists or does not fit', async () => {
    await putSecret(world, tenant, envId, 'REFUSED')
    await putSecret(world, tenant, envId, 'TAKEN')
    const message = async (...given: Parameters<typeof rename>) => {
      const { status, error } = await rename(...given)
      return [status, error?.message]
    }
    expect(await message('UNKNOWN', 'NEW')).toEqual([409, 'UNKNOWN is not at version 1'])
    expect(await message('REFUSED', 'NEW', { expectedVersion: 2 })).toEqual([409, 'REFUSED is not at version 2'])
    expect(await message('REFUSED', 'REFUSED')).toEqual([400, 'body.newName: the secret is called REFUSED already'])
    expect(await message('REFUSED', 'TAKEN')).toEqual([409, 'TAKEN exists already'])
    expect((await rename('REFUSED', 'not-a-name')).status).toBe(400)
    for (const by of [await newToken(world, tenant), await newMember(world, tenant, 'admin'), tenant.machine])
      expect((await rename('REFUSED', 'NEW', { by })).status).toBe(403)
    expect((await versions('REFUSED')).currentVersion).toBe(1)
  })

  test('is refused in a protected environment, and the error says what to do', async () => {
    const id = await newGuarded(world, tenant, null)
    await putSecret(world, tenant, id, 'GUARDED')
    await protect(world, tenant, id)
    const { status, error } = await rename('GUARDED', 'NEW', { id })
    expect([status, error?.message]).toEqual([
      409,
      'the environment is protected: propose to write NEW and to delete GUARDED in one change request',
    ])
  })

  test('is refused while a rotation policy writes one of the names', async () => {
    const env = await newKeyedEnv(world, tenant)
    await newRotation(world, tenant, await generatedRotation(world, tenant, env, { rotateNow: true }))
    const refused = { status: 409, error: { message: expect.stringContaining('the rotation of ROTATED') } }
    expect(await rename('ROTATED', 'NEW', { id: env.envId })).toMatchObject(refused)
    await world.call(secrets.delete, { as: tenant.admin.as, params: { ...on(env.envId), name: 'ROTATED' } })
    expect(await rename('PRESENT', 'ROTATED', { id: env.envId })).toMatchObject(refused)
  })

  test('waits for a rotation policy that is being created, and is refused', async () => {
    const env = await newKeyedEnv(world, tenant)
    const body = await generatedRotation(world, tenant, env, { secretName: 'PRESENT' })
    const { db } = world.server.context
    const made = await held(db, (tx) =>
      tx.rows(
        `insert into rotation_policies (org_id, id, environment_id, secret_name, kind, config, interval_seconds, status,
                                        next_run_at, created_at, updated_at)
         values ($1, 'rot_held', $2, $3, 'generated', '{"kind":"generated"}', 3600, 'active', now(), now(), now())`,
        [tenant.orgId, env.envId, body.secretName],
      ),
    )
    const pending = rename('PRESENT', 'NEW', { id: env.envId })
    if (engine() === 'postgres') await until('the rename waits', async () => (await waiting(db)) > 0)
    await made.commit()
    expect((await pending).status).toBe(409)
    await db.rows(`delete from rotation_policies where id = 'rot_held'`)
  })
})

describe('an earlier version of a renamed secret', () => {
  test('is restored only with its value encrypted anew, by a holder of the key', async () => {
    await putSecret(world, tenant, envId, 'OLD')
    await rename('OLD', 'NEW')
    const { status, error } = await restore('NEW', { version: 1 })
    expect([status, error?.message]).toEqual([
      400,
      'NEW version 1 was encrypted under the name OLD: restore it with a client that encrypts it anew',
    ])
    const text = ciphertext()
    expect((await restore('NEW', { version: 1, ciphertext: text }, tenant.machine)).status).toBe(403)
    const restored = written((await restore('NEW', { version: 1, ciphertext: text })).body)
    const { id } = restored.secret
    expect(restored).toMatchObject({ restoredFrom: 1, secret: { name: 'NEW', version: 3, ciphertext: text } })
    expect((await versions('NEW')).versions[0]).toMatchObject({ restoredFromVersion: 1, formerName: null })
    // A version of the present name is replayed byte for byte, as before.
    expect((await restore('NEW', { version: 2, ciphertext: text })).status).toBe(400)
    expect((await restore('NEW', { version: 2 })).status).toBe(200)
    const about = { environmentId: envId, name: 'NEW' }
    expect(await restoresOf(id)).toEqual([
      { ...about, version: 3, restoredFrom: 1, resealed: true },
      { ...about, version: 4, restoredFrom: 2 },
    ])
  })

  test('is restored in a protected environment with the value that was proposed', async () => {
    const id = await newGuarded(world, tenant, null)
    const secret = await putSecret(world, tenant, id, 'OLD')
    await rename('OLD', 'NEW', { id })
    await protect(world, tenant, id)
    const text = ciphertext()
    const change = queuedIn(await restore('NEW', { version: 1, ciphertext: text }, tenant.admin, id))
    expect(change).toMatchObject({ action: 'restore', restoreVersion: 1, ciphertext: text })
    await decide(world, tenant, 'approve', change.id, await newMember(world, tenant, 'admin'))
    expect((await versions('NEW', id)).versions[0]).toMatchObject({ ciphertext: text, restoredFromVersion: 1 })
    expect(await restoresOf(secret.id)).toMatchObject([{ version: 3, restoredFrom: 1, resealed: true }])
  })

  test('stays with a secret that is deleted, kept and restored', async () => {
    await putSecret(world, tenant, envId, 'WAS')
    await rename('WAS', 'KEPT')
    const before = await versions('KEPT')
    const params = { ...on(), name: 'KEPT' }
    await world.call(secrets.delete, { as: tenant.admin.as, params, query: { keepFor: '30d' } })
    const { body } = await world.call(deletedSecrets.list, { as: tenant.admin.as, params: on() })
    const secretId = body.deletedSecrets.find(({ name }) => name === 'KEPT')?.id as string
    const back = { as: tenant.admin.as, params: { ...on(), secretId }, body: { ciphertext: ciphertext() } }
    expect((await world.call(deletedSecrets.restore, back)).status).toBe(200)
    const after = await versions('KEPT')
    expect(after.formerNames).toBe(before.formerNames)
    expect(after.versions.map(({ formerName }) => formerName)).toEqual([null, null, 'WAS'])
  })

  test('takes no part in a deleted secret that has the former name', async () => {
    await deletedSecret(world, tenant, envId, 'SHARED')
    await putSecret(world, tenant, envId, 'SHARED')
    await rename('SHARED', 'MOVED')
    const { body } = await world.call(deletedSecrets.list, { as: tenant.admin.as, params: on() })
    const kept = body.deletedSecrets.find(({ name }) => name === 'SHARED')
    const params = { ...on(), secretId: kept?.id as string }
    const answer = await world.call(deletedSecrets.restore, {
      as: tenant.admin.as,
      params,
      body: { ciphertext: ciphertext() },
    })
    expect(written(answer.body).secret).toMatchObject({ id: kept?.id, name: 'SHARED' })
  })
})

describe('details and references of a renamed secret', () => {
  test('the details move, with the description encrypted anew', async () => {
    await putSecret(world, tenant, envId, 'NOTED')
    await describeAs('NOTED', { sealed: sealedDetails(), expiresAt: '2090-01-01T00:00:00Z' })
    expect((await rename('NOTED', 'NAMED')).error?.message).toBe('the description of NOTED has changed')
    const sealed = sealedDetails()
    const member = await newMember(world, tenant)
    await grantKey(world, tenant, envId, member)
    const { body } = await rename('NOTED', 'NAMED', { by: member, details: { sealed, expectedRevision: 1 } })
    expect(await detailsOf('NOTED')).toBeUndefined()
    expect(await detailsOf('NAMED')).toMatchObject({
      sealed,
      expiresAt: '2090-01-01T00:00:00.000Z',
      revision: 2,
      updatedById: member.id,
      updatedAt: body.secret.updatedAt,
    })
    await putSecret(world, tenant, envId, 'PLAIN')
    await describeAs('PLAIN', { notNeeded: true })
    await describeAs('OTHER', { notNeeded: true })
    expect((await rename('PLAIN', 'OTHER')).error?.message).toContain('both PLAIN and OTHER have details')
    expect((await rename('PLAIN', 'FREE')).status).toBe(200)
    expect(await detailsOf('FREE')).toMatchObject({ notNeeded: true })
  })

  test('a signed policy, a pattern of a sync binding and an open change request are listed', async () => {
    const env = await vaultedEnv(world, tenant)
    const connection = await connect(world, tenant, platform)
    const binding = await bind(world, tenant, connection, [env], 'renames', { include: ['API_KEY', 'Z*'] })
    const { agent } = await newWorkingAgent(world, tenant, { environmentId: env.id })
    await putSecret(world, tenant, env.id, 'API_KEY')
    await protect(world, tenant, env.id)
    const { id: changeId } = await proposePut(world, tenant, env.id, 'API_KEY')
    await unprotect(world, tenant, env.id)
    const member = await newMember(world, tenant)
    await grantKey(world, tenant, env.id, member)
    const change = { type: 'change_request', id: changeId, name: null }
    const { body } = await rename('API_KEY', 'NEW_KEY', { id: env.id })
    expect(body.namedBy).toEqual([
      { type: 'agent', id: agent.id, name: agent.slug },
      { type: 'sync_binding', id: binding.id, name: connection.id },
      change,
    ])
    await rename('NEW_KEY', 'API_KEY', { id: env.id, expectedVersion: 2 })
    const shown = await rename('API_KEY', 'NEW_KEY', { id: env.id, expectedVersion: 3, by: member })
    expect(shown.body.namedBy).toEqual([
      { type: 'agent', id: null, name: null },
      { type: 'sync_binding', id: null, name: null },
      change,
    ])
    // The proposal was made for a version of a name that is gone.
    const decided = await decide(world, tenant, 'approve', changeId, await newMember(world, tenant, 'admin'))
    expect(decided.body.status).toBe('superseded')
  })
})
