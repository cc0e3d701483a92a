import { audit } from '@skerry/contract/audit/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { limits } from '@skerry/contract/limits'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test } from 'vitest'
import { ciphertext, sealedFormerNames, wrappedKey } from '../../../test/blobs.ts'
import { protect, unprotect } from '../../../test/guarded.ts'
import { rekeying } from '../../../test/rekeying.ts'
import { stateOf } from '../../../test/state.ts'
import {
  type Actor,
  grantKey,
  newApp,
  newEnv,
  newGroup,
  newGroupEnv,
  newMember,
  newToken,
  putSecret,
  signUp,
} from '../../../test/tenant.ts'

const { scene, params, bodyOf, run, listed } = rekeying()

const grantsNow = async () =>
  (await scene.world.call(grants.list, { as: scene.tenant.admin.as, params: params() })).body.grants
const refusedUnchanged = async (body: object, as?: string) => {
  const before = await stateOf(scene.world)
  const { status, error } = await run(body, as)
  expect(await stateOf(scene.world)).toEqual(before)
  return [status, error?.message]
}

describe('a re-key', () => {
  test('replaces every current ciphertext and every wrapped key, and removes everyone who is not named', async () => {
    const asked = bodyOf()
    const { status, body } = await run({ ...asked, recoveryWrappedDek: wrappedKey() })
    expect([status, body]).toMatchObject([200, { environment: { id: scene.envId }, rekeyedSecrets: 2, grants: 2 }])
    expect((await listed()).toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { version: 2, ...asked.secrets[0] },
      { version: 3, ...asked.secrets[1] },
    ])
    const shown = (await grantsNow()).map(({ principalType, principalId, wrappedDek }) => ({
      principalType,
      principalId,
      wrappedDek,
    }))
    expect(shown).toHaveLength(2)
    expect(shown).toEqual(expect.arrayContaining(asked.grants))
    expect((await scene.world.call(grants.own, { as: scene.person.as, params: params() })).status).toBe(403)
  })

  test('is recorded with counts, and with the people who lost access', async () => {
    await run()
    const query = { action: 'env.rekeyed', resourceId: scene.envId }
    const { entries } = (await scene.world.call(audit.list, { as: scene.tenant.admin.as, params: params(), query }))
      .body
    expect(entries).toMatchObject([
      {
        actorId: scene.tenant.admin.id,
        metadata: { secrets: 2, grants: 2, removed: [{ principalType: 'user', principalId: scene.person.id }] },
      },
    ])
  })

  test('shows in the next resolve of a holder, and ends access for a reader who was left out', async () => {
    const outsider = await newToken(scene.world, scene.tenant)
    await grantKey(scene.world, scene.tenant, scene.envId, outsider)
    const ask = ({ as }: Actor) => scene.world.call(resolve.get, { as, query: { env: scene.envId } })
    const [before] = await Promise.all([ask(scene.holder), ask(outsider)])
    const asked = bodyOf()
    await run(asked)
    const after = await ask(scene.holder)
    expect(after.body.layers[0]).toMatchObject({ wrappedDek: asked.grants[1]?.wrappedDek, secrets: asked.secrets })
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
    expect((await ask(outsider)).status).toBe(403)
  })

  test('has the caller as its author, and leaves the history as it was', async () => {
    const asParams = { ...params(), name: 'B' }
    const history = async () =>
      (await scene.world.call(secrets.versions, { as: scene.tenant.admin.as, params: asParams })).body.versions
    const before = await history()
    const { status } = await run(bodyOf({ kept: [scene.person, scene.tenant.admin] }), scene.person.as)
    expect(status).toBe(200)
    const [newest, ...older] = await history()
    expect(newest).toMatchObject({ version: 3, createdByType: 'user', createdById: scene.person.id })
    expect(older).toEqual(before)
  })

  test('makes earlier versions impossible to restore, for a machine client too, but not later ones', async () => {
    await run()
    const restore = (version: number, as = scene.tenant.admin.as) =>
      scene.world.call(secrets.restore, { as, params: { ...params(), name: 'B' }, body: { version } })
    for (const as of [scene.tenant.admin.as, scene.tenant.machine.as]) {
      const { status, error } = await restore(2, as)
      expect([status, error?.message]).toEqual([400, 'B version 2 is from before the environment was re-keyed'])
    }
    await putSecret(scene.world, scene.tenant, scene.envId, 'B')
    expect((await restore(3)).status).toBe(200)
    expect((await restore(9)).status).toBe(404)
  })

  test('of a renamed secret takes it under its present name, and removes the record of names whose key is gone', async () => {
    const { as } = scene.tenant.admin
    const body = { newName: 'C', ciphertext: ciphertext(), formerNames: sealedFormerNames(), expectedVersion: 2 }
    const renamed = await scene.world.call(secrets.rename, { as, params: { ...params(), name: 'B' }, body })
    expect(renamed.status).toBe(200)
    expect((await run()).status).toBe(409)
    expect((await run(bodyOf({ expectedVersions: { A: 1, C: 3 } }))).status).toBe(200)
    const history = await scene.world.call(secrets.versions, { as, params: { ...params(), name: 'C' } })
    expect(history.body).toMatchObject({ formerNames: null, keySinceVersion: 4 })
    expect(history.body.versions.map(({ formerName }) => formerName)).toEqual([null, null, 'B', 'B'])
  })

  test('does not limit the new history of a secret that is deleted and created again', async () => {
    await run()
    const asParams = { ...params(), name: 'B' }
    await scene.world.call(secrets.delete, { as: scene.tenant.admin.as, params: asParams })
    for (let version = 1; version <= 2; version++) await putSecret(scene.world, scene.tenant, scene.envId, 'B')
    const answer = await scene.world.call(secrets.restore, {
      as: scene.tenant.admin.as,
      params: asParams,
      body: { version: 1 },
    })
    expect(answer.status).toBe(200)
  })

  test('can be repeated by a holder of the new key', async () => {
    await run()
    expect((await run(bodyOf({ expectedVersions: { A: 2, B: 3 } }))).status).toBe(200)
    expect((await listed()).map(({ version }) => version).sort()).toEqual([3, 4])
  })

  test('of an environment without secrets replaces the wrapped keys', async () => {
    scene.envId = (await newEnv(scene.world, scene.tenant, (await newApp(scene.world, scene.tenant)).id)).id
    const asked = bodyOf({ expectedVersions: {}, kept: [scene.tenant.admin] })
    expect((await run(asked)).body).toMatchObject({ rekeyedSecrets: 0, grants: 1 })
    expect((await grantsNow()).map(({ wrappedDek }) => wrappedDek)).toEqual([asked.grants[0]?.wrappedDek])
  })

  test('of a group’s environment, or of a branch, changes that one alone', async () => {
    const group = await newGroup(scene.world, scene.tenant)
    const groupEnvId = (await newGroupEnv(scene.world, scene.tenant, group.id)).id
    const fork = { slug: 'fork', wrappedDek: wrappedKey() }
    const branch = await scene.world.call(branches.create, { as: scene.tenant.admin.as, params: params(), body: fork })
    for (const id of [groupEnvId, branch.body.branch.id]) {
      const parent = await listed()
      const home = scene.envId
      scene.envId = id
      await putSecret(scene.world, scene.tenant, scene.envId, 'A')
      expect((await run(bodyOf({ expectedVersions: { A: 1 }, kept: [scene.tenant.admin] }))).status).toBe(200)
      scene.envId = home
      expect(await listed()).toEqual(parent)
    }
  })
})

describe('a re-key is refused, and changes nothing', () => {
  const refusals: [string, () => object, number, RegExp][] = [
    [
      'a secret has a newer version',
      () => bodyOf({ expectedVersions: { A: 1, B: 1 } }),
      409,
      /^B is not at version 1$/,
    ],
    ['a secret is gone', () => bodyOf({ expectedVersions: { A: 1, B: 2, C: 1 } }), 409, /^C is gone$/],
    ['a secret has been added', () => bodyOf({ expectedVersions: { B: 2 } }), 409, /^A has been added$/],
    [
      'several secrets differ, and the error names the first',
      () => bodyOf({ expectedVersions: { B: 7, A: 7 } }),
      409,
      /^A is not at/,
    ],
    ['a name is toString, which every object has', () => bodyOf({ names: ['toString'] }), 400, /toString is not in/],
    ['a ciphertext is missing', () => bodyOf({ names: ['A'] }), 400, /^body\.secrets: B is missing$/],
    ['a ciphertext is not expected', () => bodyOf({ names: ['A', 'B', 'C'] }), 400, /^body\.secrets\.2: C is not in/],
    ['a ciphertext comes twice', () => bodyOf({ names: ['A', 'B', 'A'] }), 400, /^body\.secrets\.2: A is named twice$/],
    ['the caller is not among the grants', () => bodyOf({ kept: [scene.holder] }), 400, /^body\.grants: you must keep/],
    ['there are no grants', () => bodyOf({ kept: [] }), 400, /^body\.grants: /],
    [
      'a grantee comes twice',
      () => bodyOf({ kept: [scene.tenant.admin, scene.holder, scene.holder] }),
      400,
      /^body\.grants\.2: skt_\w+ is named twice$/,
    ],
    [
      'there are too many grants',
      () => bodyOf({ kept: Array(limits.rekeyGrantsMax + 1).fill(scene.holder) }),
      400,
      /grants/,
    ],
    [
      'there are too many secrets',
      () => ({ ...bodyOf(), secrets: Array(limits.rekeySecretsMax + 1).fill({ name: 'A', ciphertext: ciphertext() }) }),
      400,
      /^body\.secrets: /,
    ],
    [
      'a ciphertext is malformed',
      () => ({ ...bodyOf(), secrets: [{ name: 'A', ciphertext: 'plain' }] }),
      400,
      /^body\.secrets\.0\.ciphertext: /,
    ],
  ]
  test.each(refusals)('when %s', async (_, body, status, message) => {
    expect(await refusedUnchanged(body())).toEqual([status, expect.stringMatching(message)])
  })

  test.each<[string, () => Promise<Actor>]>([
    ['holds no grant', () => newToken(scene.world, scene.tenant)],
    ['is of another organization', async () => newToken(scene.world, await signUp(scene.world))],
    [
      'lost the grant since',
      async () => {
        const row = (await grantsNow()).find(({ principalId }) => principalId === scene.person.id)
        await scene.world.call(grants.delete, {
          as: scene.tenant.admin.as,
          params: { ...params(), grantId: row?.id as string },
        })
        return scene.person
      },
    ],
    [
      'is a token that was revoked since',
      async () => {
        const revoked = { ...params(), tokenId: scene.holder.id }
        await scene.world.call(tokens.revoke, { as: scene.tenant.admin.as, params: revoked })
        return scene.holder
      },
    ],
  ])('when a named grantee %s, and gives them no access', async (_, actor) => {
    const body = bodyOf({ kept: [scene.tenant.admin, await actor()] })
    expect(await refusedUnchanged(body)).toEqual([409, expect.stringMatching(/^body\.grants\.1: .* of use$/)])
  })

  test('to a holder who is no admin, an admin who is no holder, a machine client and a stranger', async () => {
    const admin = await newToken(scene.world, scene.tenant, { role: 'admin' })
    const elsewhere = await signUp(scene.world)
    const callers = [scene.holder, admin, scene.tenant.machine, elsewhere.admin]
    const answers = []
    for (const { as } of callers) answers.push((await refusedUnchanged(bodyOf(), as))[0])
    expect(answers).toEqual([403, 403, 403, 404])
  })

  test('while the environment is protected, because it would bypass every approval', async () => {
    await protect(scene.world, scene.tenant, scene.envId, { requiredApprovals: 2 })
    expect(await refusedUnchanged(bodyOf())).toEqual([409, expect.stringMatching(/^this environment is protected: /)])
    await unprotect(scene.world, scene.tenant, scene.envId)
    expect((await run()).status).toBe(200)
  })

  test('to an admin who invents a key and grants it to a confederate or to themselves', async () => {
    const [intruder, other] = [
      await newMember(scene.world, scene.tenant, 'admin'),
      await newToken(scene.world, scene.tenant),
    ]
    const before = await stateOf(scene.world)
    for (const to of [intruder, other]) {
      const principalType = to === intruder ? 'user' : 'service_token'
      const body = { principalType, principalId: to.id, wrappedDek: wrappedKey() }
      const invented = await scene.world.call(grants.create, { as: intruder.as, params: params(), body })
      expect(invented.status).toBe(403)
    }
    expect(await stateOf(scene.world)).toEqual(before)
    expect((await refusedUnchanged(bodyOf({ kept: [intruder] }), intruder.as))[0]).toBe(403)
  })
})

test('an environment that is gone is not found', async () => {
  await scene.world.call(envs.delete, { as: scene.tenant.admin.as, params: params() })
  expect((await run()).status).toBe(404)
})
