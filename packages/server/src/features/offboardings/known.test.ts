import { branches } from '@skerry/contract/branches/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { offboardings } from '@skerry/contract/offboardings/endpoints'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { teams } from '@skerry/contract/teams/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { describe, expect, test } from 'vitest'
import { ciphertext, publicKeyJwk, sealedPrivateKey, wrappedKey } from '../../../test/blobs.ts'
import { openTenant } from '../../../test/scene.ts'
import {
  type Actor,
  deletedSecret,
  grantKey,
  newApp,
  newEnv,
  newMember,
  newTeam,
  newToken,
  putSecret,
} from '../../../test/tenant.ts'
import { newPlatformKey, newProject } from '../../../test/vault-scene.ts'
import { endGrants } from '../grants/jobs.ts'
import { purgeDeleted } from '../secrets/jobs.ts'

const { world, tenant } = await openTenant()
const { orgId } = tenant
const { as } = tenant.admin
const params = { orgId }
const appId = (await newApp(world, tenant)).id

let count = 0
const newPlace = async () => (await newEnv(world, tenant, appId, `place-${++count}`)).id
const revoke = (envId: string, grantId: string) => world.call(grants.delete, { as, params: { orgId, envId, grantId } })
const reKey = (envId: string, expectedVersions: Record<string, number> = {}) =>
  world.call(rekey.run, {
    as,
    params: { orgId, envId },
    body: {
      expectedVersions,
      secrets: Object.keys(expectedVersions).map((name) => ({ name, ciphertext: ciphertext() })),
      grants: [{ principalType: 'service_token', principalId: tenant.admin.id, wrappedDek: wrappedKey() }],
    },
  })
const start = async (person: Actor) => {
  const answer = await world.call(offboardings.start, { as, params, body: { userId: person.id } })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return answer.body.offboarding
}
const rowsOf = async (offboardingId: string) =>
  (await world.call(offboardings.rows, { as, params: { orgId, offboardingId } })).body.rows
const offboarded = async (person: Actor) =>
  (await rowsOf((await start(person)).id)).map(({ environmentId, kind, via, state }) => [
    environmentId,
    kind,
    via,
    state,
  ])

describe('an environment whose key the person lost before the offboarding', () => {
  const row = (envId: string, via = 'grant') => [envId, 'rekey', via, 'waiting']

  test('has a row if the grant was revoked, or ended by itself', async () => {
    const [revoked, ended, person] = [await newPlace(), await newPlace(), await newMember(world, tenant)]
    await revoke(revoked, (await grantKey(world, tenant, revoked, person)).id)
    const body = { principalType: 'user' as const, principalId: person.id, wrappedDek: wrappedKey(), seconds: 600 }
    await world.call(grants.create, { as, params: { orgId, envId: ended }, body })
    world.clock.advance(600)
    await endGrants(world.server.context)
    const { preview } = (await world.call(offboardings.preview, { as, params: { orgId, userId: person.id } })).body
    expect(preview.environments.map(({ environmentId }) => environmentId)).toEqual([revoked, ended])
    expect(await offboarded(person)).toEqual([row(revoked), row(ended)])
  })

  test('has a row if a team gave the key, and its branches have one, too', async () => {
    const [place, person] = [await newPlace(), await newMember(world, tenant)]
    const team = await newTeam(world, tenant, [person.id], [place])
    const own = await world.call(grants.own, { as, params: { orgId, envId: place } })
    const keys = await world.call(me.getKeys, { as: person.as })
    const due = { environmentId: place, principalType: 'user' as const, principalId: person.id, direct: false }
    const wrapped = { publicKeyJwk: keys.body.publicKeyJwk, wrappedDek: wrappedKey() }
    const given = { ...due, ...wrapped, ownWrappedDek: own.body.wrappedDek }
    await world.call(grants.createMany, { as, params, body: { grants: [given] } })
    const holder = { principalType: 'user' as const, principalId: person.id, wrappedDek: wrappedKey() }
    const forked = await world.call(branches.create, {
      as,
      params: { orgId, envId: place },
      body: { slug: 'fork', wrappedDek: wrappedKey(), grants: [holder] },
    })
    const leaving = { as, params: { orgId, teamId: team.id, userId: person.id } }
    expect((await world.call(teams.removeMember, leaving)).body.lost).toHaveLength(2)
    const rows = await offboarded(person)
    expect(rows).toHaveLength(2)
    expect(rows).toEqual(expect.arrayContaining([row(place), row(forked.body.branch.id)]))
  })

  test('has a row if a token of theirs had the key, or a key pair that they replaced', async () => {
    const person = await newMember(world, tenant, 'admin')
    const byPerson = { orgId, machine: person }
    const [one, two, three] = [await newPlace(), await newPlace(), await newPlace()]
    const token = await newToken(world, byPerson)
    await revoke(one, (await grantKey(world, tenant, one, token)).id)
    const deleted = await newToken(world, byPerson)
    await grantKey(world, tenant, two, deleted)
    for (const endpoint of [tokens.revoke, tokens.delete])
      await world.call(endpoint, { as, params: { orgId, tokenId: deleted.id } })
    await grantKey(world, tenant, three, person)
    const keys = { publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() }
    await world.call(me.replaceKeys, { as: person.as, body: keys })
    expect(await offboarded(person)).toEqual([row(one, 'token'), row(two, 'token'), row(three)])
  })

  test('has none if it was re-keyed since, and has no value that the person may know', async () => {
    const [place, person, other] = [await newPlace(), await newMember(world, tenant), await newMember(world, tenant)]
    await revoke(place, (await grantKey(world, tenant, place, person)).id)
    await grantKey(world, tenant, place, other)
    await reKey(place)
    expect(await offboarded(person)).toEqual([])
    expect(await offboarded(await newMember(world, tenant))).toEqual([])
  })

  test('keeps a row for each value that stayed the same since, although it was re-keyed', async () => {
    const [place, person] = [await newPlace(), await newMember(world, tenant)]
    const grant = await grantKey(world, tenant, place, person)
    for (const name of ['SAME', 'REPLACED', 'BETWEEN']) await putSecret(world, tenant, place, name)
    await revoke(place, grant.id)
    // The person may have kept the old key, so a value from before the re-key counts as known.
    await putSecret(world, tenant, place, 'BETWEEN')
    const versions = { SAME: 1, REPLACED: 1, BETWEEN: 2 }
    await reKey(place, versions)
    for (const name of ['REPLACED', 'NEW']) await putSecret(world, tenant, place, name)
    const { preview } = (await world.call(offboardings.preview, { as, params: { orgId, userId: person.id } })).body
    expect(preview.environments).toMatchObject([{ environmentId: place, via: 'grant', rekeyed: true, secrets: 2 }])
    const { id } = await start(person)
    const rows = async () => (await rowsOf(id)).map(({ kind, secretName, state }) => [kind, secretName, state])
    expect(await rows()).toEqual([
      ['rekey', null, 'done'],
      ['rotate_value', 'BETWEEN', 'waiting'],
      ['rotate_value', 'SAME', 'waiting'],
    ])
    await putSecret(world, tenant, place, 'SAME')
    expect((await rows())[2]).toEqual(['rotate_value', 'SAME', 'replaced'])
  })
})

test('an offboarding revokes the platform keys that the person made, and no other', async () => {
  const [person, other] = [await newMember(world, tenant, 'admin'), await newMember(world, tenant, 'admin')]
  const project = await newProject(world, tenant)
  const key = await newPlatformKey(world, tenant, project.id, person)
  const left = await newPlatformKey(world, tenant, project.id, other)
  const { preview } = (await world.call(offboardings.preview, { as, params: { orgId, userId: person.id } })).body
  expect(preview.revokes).toEqual([{ kind: 'platform_key', id: key.id, name: 'backend' }])
  expect((await start(person)).revoked).toEqual(preview.revokes)
  const use = async (one: { as: string }) => (await world.call(vaultPlatform.connections, { as: one.as })).status
  expect([await use(key), await use(left)]).toEqual([401, 200])
})

describe('a row of a value', () => {
  const begun = async (name: string) => {
    const [envId, person] = [await newPlace(), await newMember(world, tenant)]
    await grantKey(world, tenant, envId, person)
    await putSecret(world, tenant, envId, name)
    const { id } = await start(person)
    const state = async () => (await rowsOf(id))[1]?.state
    return { envId, id, rowId: (await rowsOf(id))[1]?.id as string, state }
  }

  test('waits while the secret can be restored, and is closed once it is deleted for good', async () => {
    const { envId, state, id, rowId } = await begun('KEPT')
    await deletedSecret(world, tenant, envId, 'KEPT')
    expect(await state()).toBe('waiting')
    world.clock.advance(31 * 86_400)
    await purgeDeleted(world.server.context)
    expect(await state()).toBe('deleted')
    const again = {
      as,
      params: { orgId, offboardingId: id, offboardingRowId: rowId },
      body: { state: 'done' as const },
    }
    expect((await world.call(offboardings.change, again)).error?.code).toBe('conflict')
    const other = await begun('GONE')
    await world.call(secrets.delete, { as, params: { orgId, envId: other.envId, name: 'GONE' } })
    expect(await other.state()).toBe('deleted')
  })
})
