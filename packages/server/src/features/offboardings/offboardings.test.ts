import { agents } from '@skerry/contract/agents/endpoints'
import { protection } from '@skerry/contract/changes/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { leases } from '@skerry/contract/leases/endpoints'
import { machineClients } from '@skerry/contract/machine-clients/endpoints'
import { invites, members } from '@skerry/contract/members/endpoints'
import { offboardings } from '@skerry/contract/offboardings/endpoints'
import { recovery } from '@skerry/contract/recovery/endpoints'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test } from 'vitest'
import { newAgent } from '../../../test/agent-steps.ts'
import { ciphertext, sealedFormerNames, wrappedKey } from '../../../test/blobs.ts'
import { decide, proposeRekey, protect } from '../../../test/guarded.ts'
import { newSshTarget, sshLease } from '../../../test/lease-steps.ts'
import { recoveryBody, setUpRecovery } from '../../../test/recovery-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { newEntries, stateOf } from '../../../test/state.ts'
import {
  type Actor,
  acceptInvites,
  grantKey,
  invitePerson,
  newApp,
  newEnv,
  newGroup,
  newGroupEnv,
  newMember,
  newPerson,
  newToken,
  putSecret,
  signUp,
} from '../../../test/tenant.ts'
import { settleRows } from './settled.ts'

const { world, tenant } = await openTenant()
const { as } = tenant.admin
const params = { orgId: tenant.orgId }

let count = 0
const newEmail = () => `leaver-${++count}@example.com`
const newKeyOf = async (...holders: Actor[]) => {
  const env = await newEnv(world, tenant, (await newApp(world, tenant)).id)
  for (const holder of holders) await grantKey(world, tenant, env.id, holder)
  return env.id
}
const start = (userId: string, more: object = {}, by = as) =>
  world.call(offboardings.start, { as: by, params, body: { userId, ...more } })
const preview = (userId: string) => world.call(offboardings.preview, { as, params: { ...params, userId } })
const rowsOf = async (offboardingId: string, by = as) =>
  (await world.call(offboardings.rows, { as: by, params: { ...params, offboardingId } })).body.rows
const statesOf = async (offboardingId: string) =>
  (await rowsOf(offboardingId)).map(({ kind, secretName, state }) => [secretName ?? kind, state])
const get = async (offboardingId: string) =>
  (await world.call(offboardings.get, { as, params: { ...params, offboardingId } })).body.offboarding
const change = (offboardingId: string, offboardingRowId: string, body: object, by = as) =>
  world.call(offboardings.change, { as: by, params: { ...params, offboardingId, offboardingRowId }, body })
const finish = (offboardingId: string, body: object = {}) =>
  world.call(offboardings.finish, { as, params: { ...params, offboardingId }, body })
const reKey = (envId: string, expectedVersions: Record<string, number>, by: Actor = tenant.admin) =>
  world.call(rekey.run, {
    as: by.as,
    params: { ...params, envId },
    body: {
      expectedVersions,
      grants: [{ principalType: principalTypeOf(by), principalId: by.id, wrappedDek: wrappedKey() }],
      secrets: Object.keys(expectedVersions).map((name) => ({ name, ciphertext: ciphertext() })),
    },
  })
const principalTypeOf = ({ id }: Actor) => (id.startsWith('usr_') ? ('user' as const) : ('service_token' as const))
const inEnv = (envId: string, name: string) => ({ ...params, envId, name })

describe('the start of an offboarding', () => {
  test('removes the member, revokes what they made, and lists what they could read', async () => {
    const [email, holder] = [newEmail(), await newMember(world, tenant, 'admin')]
    const person = await newMember(world, tenant, 'admin', { email })
    const envId = await newKeyOf(person, holder)
    for (const name of ['B', 'A', 'A', 'DELETED']) await putSecret(world, tenant, envId, name)
    await world.call(secrets.delete, { as, params: inEnv(envId, 'DELETED'), query: { keepFor: '1d' } })
    const group = await newGroupEnv(world, tenant, (await newGroup(world, tenant)).id)
    const byPerson = { orgId: tenant.orgId, machine: person }
    const token = await newToken(world, byPerson)
    await grantKey(world, tenant, group.id, token)
    const client = await world.call(machineClients.create, { as: person.as, params, body: { name: 'deploy' } })
    const agent = await newAgent(world, { ...tenant, admin: person })
    const target = await newSshTarget(world, tenant)
    const lease = await world.call(leases.create, { as: person.as, params, body: sshLease(target.id) })
    await world.call(invites.create, { as: person.as, params, body: { email: newEmail() } })

    const seen = (await preview(person.id)).body.preview
    expect(seen).toMatchObject({ email, role: 'admin', recovery: null, runningId: null })
    expect(seen.environments.map(({ via, secrets, deleted }) => [via, secrets, deleted])).toEqual([
      ['grant', 2, 1],
      ['token', 0, 0],
    ])
    expect(seen.revokes.map(({ kind }) => kind)).toEqual([
      'service_token',
      'machine_client',
      'agent',
      'lease',
      'invitation',
    ])

    const entries = await newEntries(world, async () => {
      expect((await start(person.id, { confirmEmail: email.toUpperCase() })).status).toBe(201)
    })
    expect(entries.map(({ action }) => action).sort()).toEqual([
      'agent.updated',
      'invite.revoked',
      'lease.revoked',
      'machine_client.revoked',
      'member.removed',
      'offboarding.started',
      'token.revoked',
    ])
    const [offboarding] = (await world.call(offboardings.list, { as, params, query: { status: 'running' } })).body
      .offboardings
    if (!offboarding) throw new Error('an offboarding runs')
    expect(offboarding).toMatchObject({ userId: person.id, email, rows: 4, open: 4, finishedAt: null })
    expect(offboarding.revoked.map(({ id }) => id)).toEqual(expect.arrayContaining([token.id, agent.id]))
    expect(await statesOf(offboarding.id)).toEqual([
      ['rekey', 'waiting'],
      ['rekey', 'waiting'],
      ['A', 'waiting'],
      ['B', 'waiting'],
    ])
    expect((await rowsOf(offboarding.id))[0]).toMatchObject({
      via: 'grant',
      held: true,
      protected: false,
      holderIds: [holder.id],
    })

    expect((await world.call(offboardings.list, { as: person.as, params })).status).toBe(404)
    expect((await world.call(offboardings.list, { as: token.as, params })).status).toBe(401)
    const basic = `Basic ${Buffer.from(`${client.body.client.id}:${client.body.clientSecret}`).toString('base64')}`
    expect((await world.call(offboardings.list, { as: basic, params })).status).toBe(401)
    const shown = await world.call(agents.get, { as, params: { ...params, agentId: agent.id } })
    expect(shown.body.agent.enabled).toBe(false)
    const ended = await world.call(leases.get, { as, params: { ...params, leaseId: lease.body.lease.id } })
    expect(ended.body.lease.status).toBeOneOf(['revoking', 'revoked'])
  })

  test('names the share of a custodian, which a new sharing of the recovery key replaces', async () => {
    const other = await signUp(world)
    const people = [await newMember(world, other), await newMember(world, other), await newMember(world, other)]
    const [leaver, ...left] = people as [Actor, Actor, Actor]
    await setUpRecovery(world, other, people, 2)
    const scope = { as: other.admin.as, params: { orgId: other.orgId } }
    const answer = await world.call(offboardings.start, { ...scope, body: { userId: leaver.id } })
    const { id: offboardingId, ...started } = answer.body.offboarding
    expect(started).toMatchObject({ rows: 1, open: 1, recovery: { sharesLeft: 2, threshold: 2 } })
    await world.call(recovery.rotate, { ...scope, body: recoveryBody(left, 2) })
    const at = { ...scope, params: { ...scope.params, offboardingId } }
    expect((await world.call(offboardings.rows, at)).body.rows).toMatchObject([
      { kind: 'recovery_share', state: 'done' },
    ])
    expect((await world.call(offboardings.get, at)).body.offboarding.open).toBe(0)
  })

  test('is refused for oneself, the last owner, an owner by an admin, another address, and whoever is no member', async () => {
    const other = await signUp(world)
    const [owner, admin] = [await newMember(world, other, 'admin'), await newMember(world, other, 'admin')]
    const member = await newMember(world, other)
    await world.server.context.db.rows(`update memberships set role = 'owner' where user_id = $1`, [owner.id])
    const byAdmin = await newToken(world, { orgId: other.orgId, machine: admin }, { role: 'admin' })
    const begin = (by: Actor, body: { userId: string; confirmEmail?: string }) =>
      world.call(offboardings.start, { as: by.as, params: { orgId: other.orgId }, body })
    const before = await stateOf(world)
    const refusals = [
      await begin(admin, { userId: admin.id }),
      await begin(owner, { userId: owner.id }),
      await begin(admin, { userId: owner.id }),
      await begin(byAdmin, { userId: admin.id }),
      await begin(admin, { userId: member.id, confirmEmail: 'other@example.com' }),
      await begin(admin, { userId: (await newPerson(world, newEmail(), { keys: false })).id }),
      await begin(member, { userId: admin.id }),
    ]
    expect(refusals.map(({ status }) => status)).toEqual([409, 409, 403, 409, 400, 404, 403])
    expect(refusals[0]?.error?.message).toContain('ask another admin')
    expect(refusals[3]?.error?.message).toContain('use another one')
    const after = await stateOf(world)
    for (const table of ['offboardings', 'memberships', 'service_tokens']) expect(after[table]).toEqual(before[table])
  })

  test('twice at once makes one offboarding, and the other caller is told which one runs', async () => {
    const person = await newMember(world, tenant)
    const answers = await Promise.all([start(person.id), start(person.id)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
    const [made, refused] = answers[0]?.status === 201 ? answers : [answers[1], answers[0]]
    expect(refused?.error?.message).toContain(made?.body.offboarding.id)
  })

  test('finds what a member could read who was removed before, and which keys were replaced since', async () => {
    const email = newEmail()
    const person = await newMember(world, tenant, 'member', { email })
    const [first, second] = [await newKeyOf(person), await newKeyOf(person)]
    await putSecret(world, tenant, first, 'A')
    await world.call(members.remove, { as, params: { ...params, userId: person.id } })
    await reKey(second, {})
    expect((await preview(person.id)).body.preview).toMatchObject({ email, role: null })
    const entries = await newEntries(world, () => start(person.id))
    expect(entries.map(({ action }) => action)).toEqual(['offboarding.started'])
    const id = entries[0]?.resourceId as string
    const rows = await rowsOf(id)
    expect(rows.map(({ environmentId, kind, state }) => [environmentId, kind, state])).toEqual(
      expect.arrayContaining([
        [first, 'rekey', 'waiting'],
        [second, 'rekey', 'done'],
        [first, 'rotate_value', 'waiting'],
      ]),
    )
    expect(rows).toHaveLength(3)
  })

  test('of a person who was invited again keeps the earlier offboarding as history', async () => {
    const email = newEmail()
    const person = await newMember(world, tenant, 'member', { email })
    const first = (await start(person.id)).body.offboarding.id
    await invitePerson(world, tenant, email)
    await acceptInvites(world, person)
    expect((await start(person.id)).error?.message).toContain(first)
    await finish(first)
    const second = (await start(person.id)).body.offboarding.id
    expect([(await get(first)).finishedAt, (await get(second)).finishedAt]).toEqual([expect.any(String), null])
  })
})

describe('a row', () => {
  const begun = async (names: string[] = ['A']) => {
    const person = await newMember(world, tenant)
    const envId = await newKeyOf(person)
    for (const name of names) await putSecret(world, tenant, envId, name)
    const id = (await start(person.id)).body.offboarding.id
    return { person, envId, id }
  }

  test('of an environment is done by a re-key, which replaces no value', async () => {
    const { envId, id } = await begun()
    await reKey(envId, { A: 1 })
    const [first] = await rowsOf(id)
    expect(first).toMatchObject({ state: 'done', changedById: tenant.admin.id })
    expect(await statesOf(id)).toEqual([
      ['rekey', 'done'],
      ['A', 'waiting'],
    ])
    await putSecret(world, tenant, envId, 'A')
    expect((await statesOf(id))[1]).toEqual(['A', 'replaced'])
    await reKey(envId, { A: 3 })
    expect((await statesOf(id))[1]).toEqual(['A', 'replaced'])
  })

  test('of an environment is not done by a re-key that the person began before, with their own key or a token of theirs', async () => {
    const person = await newMember(world, tenant, 'admin')
    const token = await newToken(world, { orgId: tenant.orgId, machine: person })
    const envId = await newKeyOf(person, token)
    const { id } = (await start(person.id)).body.offboarding
    const { db, now } = world.server.context
    for (const type of ['user', 'service_token']) {
      const principal = { type, id: type === 'user' ? person.id : token.id }
      await db.transaction((tx) =>
        settleRows({ db: tx, principal, now: now().toISOString() }, { orgId: tenant.orgId, id: envId }),
      )
    }
    expect(await statesOf(id)).toEqual([['rekey', 'waiting']])
  })

  test('of a value stays open when it is renamed, restored, or re-keyed after that', async () => {
    const { envId, id } = await begun(['A', 'B'])
    await world.call(secrets.rename, {
      as,
      params: inEnv(envId, 'A'),
      body: { newName: 'C', ciphertext: ciphertext(), formerNames: sealedFormerNames(), expectedVersion: 1 },
    })
    await putSecret(world, tenant, envId, 'B')
    await world.call(secrets.restore, { as, params: inEnv(envId, 'B'), body: { version: 1 } })
    const open = [
      ['rekey', 'waiting'],
      ['A', 'waiting'],
      ['B', 'waiting'],
    ]
    expect(await statesOf(id)).toEqual(open)
    await reKey(envId, { C: 2, B: 3 })
    expect((await statesOf(id)).slice(1)).toEqual(open.slice(1))
  })

  test('of a deleted environment is closed, and its values still wait for their source', async () => {
    const { envId, id } = await begun()
    await world.call(envs.delete, { as, params: { ...params, envId } })
    expect(await statesOf(id)).toEqual([
      ['rekey', 'deleted'],
      ['A', 'waiting'],
    ])
  })

  test('waits with the proposed re-key of its environment, is open again without it, and done with its approval', async () => {
    const person = await newMember(world, tenant)
    const approver = await newMember(world, tenant, 'admin')
    const envId = await newKeyOf(person)
    await protect(world, tenant, envId)
    const id = (await start(person.id)).body.offboarding.id
    const waits = async () => (await rowsOf(id)).map(({ state, changeRequestId }) => [state, changeRequestId])
    expect(await waits()).toEqual([['waiting', null]])
    const propose = async () => (await proposeRekey(world, tenant, envId)).id
    const rejected = await propose()
    expect(await waits()).toEqual([['waiting', rejected]])
    await decide(world, tenant, 'reject', rejected, approver)
    expect(await waits()).toEqual([['waiting', null]])
    const stale = await propose()
    await grantKey(world, tenant, envId, approver)
    expect(await waits()).toEqual([['waiting', null]])
    const last = await propose()
    expect(last).not.toBe(stale)
    await decide(world, tenant, 'approve', last, approver, { rekey: true })
    expect(await waits()).toEqual([['done', null]])
  })

  test('says that its environment is protected', async () => {
    const { envId, id } = await begun()
    await world.call(protection.put, { as: tenant.machine.as, params: { ...params, envId }, body: {} })
    expect((await rowsOf(id))[0]).toMatchObject({ protected: true, held: true })
    expect((await reKey(envId, { A: 1 })).status).toBe(409)
  })

  test('of a value is ticked by an admin, who may add a note, and waits again for a newer version', async () => {
    const { envId, id } = await begun()
    const rowId = (await rowsOf(id))[1]?.id as string
    const entries = await newEntries(world, async () => {
      const { body } = await change(id, rowId, { state: 'done', note: 'at the bank' })
      expect(body.row).toMatchObject({ state: 'replaced', note: 'at the bank', changedById: tenant.admin.id })
      expect((await change(id, rowId, { state: 'done', note: 'at the bank' })).status).toBe(200)
    })
    expect(entries).toMatchObject([{ action: 'offboarding.row_changed', resourceId: id, metadata: { name: 'A' } }])
    await putSecret(world, tenant, envId, 'A')
    expect((await change(id, rowId, { state: 'waiting' })).body.row.state).toBe('waiting')
    await putSecret(world, tenant, envId, 'A')
    expect((await rowsOf(id))[1]?.state).toBe('replaced')
  })

  test('of an environment cannot be claimed done, but can be left out or handed to another admin', async () => {
    const { id } = await begun()
    const [admin, member] = [await newMember(world, tenant, 'admin'), await newMember(world, tenant)]
    const rowId = (await rowsOf(id))[0]?.id as string
    expect((await change(id, rowId, { state: 'done' })).status).toBe(400)
    expect((await change(id, rowId, {})).status).toBe(400)
    expect((await change(id, rowId, { assigneeId: member.id })).status).toBe(400)
    expect((await change(id, rowId, { assigneeId: admin.id })).body.row.assigneeId).toBe(admin.id)
    expect((await change(id, rowId, { state: 'not_needed' }, admin.as)).body.row.state).toBe('not_needed')
  })

  test('is found through its own offboarding alone, by admins of its organization', async () => {
    const [mine, other] = [await begun(), await begun()]
    const stranger = await signUp(world)
    const rowId = (await rowsOf(mine.id))[0]?.id as string
    const bound = await newToken(world, tenant, { role: 'admin', environmentId: mine.envId })
    const note = { note: 'seen' }
    expect((await change(other.id, rowId, note)).status).toBe(404)
    expect((await change(mine.id, rowId, note, stranger.admin.as)).status).toBe(404)
    expect((await change(mine.id, rowId, note, bound.as)).status).toBe(403)
    expect((await change(mine.id, rowId, note, (await newMember(world, tenant)).as)).status).toBe(403)
    const elsewhere = { as: stranger.admin.as, params: { orgId: stranger.orgId, offboardingId: mine.id } }
    expect((await world.call(offboardings.get, elsewhere)).status).toBe(404)
    expect((await world.call(offboardings.finish, { ...elsewhere, body: {} })).status).toBe(404)
  })
})

describe('finishing', () => {
  test('needs every row done, or the consent to leave rows open, which is recorded', async () => {
    const person = await newMember(world, tenant)
    const envId = await newKeyOf(person)
    const id = (await start(person.id)).body.offboarding.id
    expect((await finish(id)).status).toBe(409)
    const entries = await newEntries(world, async () => {
      const answers = await Promise.all([finish(id, { acceptOpen: true }), finish(id, { acceptOpen: true })])
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
    })
    expect(entries).toMatchObject([
      { action: 'offboarding.finished', resourceId: id, metadata: { open: 1, left: [{ kind: 'rekey', rows: 1 }] } },
    ])
    const rowId = (await rowsOf(id))[0]?.id as string
    expect((await change(id, rowId, { state: 'not_needed' })).status).toBe(409)
    await reKey(envId, {})
    expect((await get(id)).open).toBe(0)
  })
})
