import { agents } from '@skerry/contract/agents/endpoints'
import { leases } from '@skerry/contract/leases/endpoints'
import { machineClients } from '@skerry/contract/machine-clients/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { ownInvites } from '@skerry/contract/members/own-invites'
import { offboardings } from '@skerry/contract/offboardings/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { describe, expect, test } from 'vitest'
import { publicKeyJwk, wrappedKey } from '../../../test/blobs.ts'
import { engine } from '../../../test/engine.ts'
import { held, waiting } from '../../../test/held.ts'
import { newSshTarget, sshLease } from '../../../test/lease-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import {
  type Actor,
  acceptInvites,
  grantKey,
  invitePerson,
  newApp,
  newEnv,
  newMember,
  newPerson,
  newToken,
} from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { newProject } from '../../../test/vault-scene.ts'
import { newId } from '../../kernel/context.ts'
import { giveGrants } from '../../model/grants/write.ts'
import { lockOrg } from '../../model/organizations/table.ts'
import { lockMaker } from '../../model/people/made.ts'
import { acceptMembership } from '../../model/people/memberships.ts'
import { insertToken } from '../../model/tokens/write.ts'

const { world, tenant } = await openTenant()
const { db } = world.server.context
const { orgId } = tenant
const { as } = tenant.admin
const params = { orgId }
const org = { id: orgId }
const target = await newSshTarget(world, tenant)
const project = await newProject(world, tenant)
const now = () => world.clock.now().toISOString()

let count = 0
const start = (userId: string) => world.call(offboardings.start, { as, params, body: { userId } })
const rowsOf = async (offboardingId: string) =>
  (await world.call(offboardings.rows, { as, params: { orgId, offboardingId } })).body.rows

/** Sends the request while the transaction is open. On PostgreSQL the request must wait for it. */
async function meanwhile<T>(open: Awaited<ReturnType<typeof held>>, request: () => Promise<T>): Promise<T> {
  const pending = request()
  if (engine() === 'postgres')
    await until('the request waits', async () => (await waiting(db)) > 0).finally(open.commit)
  await open.commit()
  return pending
}

const tokenBody = () => ({
  name: 'made in a hurry',
  tokenId: newId('serviceToken'),
  tokenHash: `${String(++count).padStart(4, '0')}${'A'.repeat(39)}`,
  publicKeyJwk: publicKeyJwk(),
})

const makers: [string, (by: Actor) => Promise<{ status: number }>][] = [
  ['a service token', (by) => world.call(tokens.create, { as: by.as, params, body: tokenBody() })],
  ['a machine client', (by) => world.call(machineClients.create, { as: by.as, params, body: { name: 'late' } })],
  [
    'an agent',
    (by) => world.call(agents.create, { as: by.as, params, body: { name: 'late', slug: `late-${++count}` } }),
  ],
  ['a lease', (by) => world.call(leases.create, { as: by.as, params, body: sshLease(target.id) })],
  [
    'an invitation',
    (by) => world.call(invites.create, { as: by.as, params, body: { email: `late-${++count}@example.com` } }),
  ],
]

test.each(makers)('%s is refused to a person whose removal is being stored', async (_, make) => {
  const person = await newMember(world, tenant, 'admin')
  const removal = await held(db, (tx) =>
    tx.rows('delete from memberships where org_id = $1 and user_id = $2', [orgId, person.id]),
  )
  expect((await meanwhile(removal, () => make(person))).status).toBe(404)
})

// A token makes no machine client.
test.each(makers.filter(([what]) => what !== 'a machine client'))(
  '%s is refused to a token whose revocation is being stored',
  async (_, make) => {
    const person = await newMember(world, tenant, 'admin')
    const token = await newToken(world, { orgId, machine: person }, { role: 'admin' })
    const revocation = await held(db, (tx) =>
      tx.rows('update service_tokens set revoked_at = $3 where org_id = $1 and id = $2', [orgId, token.id, now()]),
    )
    expect((await meanwhile(revocation, () => make(token))).status).toBe(401)
  },
)

test('a platform key is refused to a person whose removal is being stored', async () => {
  const person = await newMember(world, tenant, 'admin')
  const removal = await held(db, (tx) =>
    tx.rows('delete from memberships where org_id = $1 and user_id = $2', [orgId, person.id]),
  )
  const made = { as: person.as, params: { orgId, projectId: project.id }, body: { name: 'late' } }
  expect((await meanwhile(removal, () => world.call(vaultProjects.createKey, made))).status).toBe(404)
})

describe('the start of an offboarding', () => {
  const insert = (tx: Parameters<typeof insertToken>[0], maker: { type: string; id: string }) => {
    const { tokenId: id, ...body } = tokenBody()
    const ends = { environmentId: null, expiresAt: null, expiresAtGiven: null }
    return insertToken(tx, org, { id, ...body, ...ends, role: 'admin', createdBy: maker, now: now() })
  }

  test('waits for a token that the person or a token of theirs is making, and revokes it', async () => {
    const person = await newMember(world, tenant, 'admin')
    const own = await newToken(world, { orgId, machine: person }, { role: 'admin' })
    for (const maker of [
      { type: 'service_token', id: own.id },
      { type: 'user', id: (await newMember(world, tenant, 'admin')).id },
    ]) {
      let madeId = ''
      const making = await held(db, async (tx) => {
        await lockMaker(tx, org, maker)
        madeId = (await insert(tx, maker))?.id as string
      })
      const answer = await meanwhile(making, () => start(maker.type === 'user' ? maker.id : person.id))
      expect(answer.status).toBe(201)
      expect(answer.body.offboarding.revoked.map(({ id }) => id)).toContain(madeId)
    }
  })

  test('lists a key that a token of the person is being given', async () => {
    const person = await newMember(world, tenant, 'admin')
    const own = await newToken(world, { orgId, machine: person }, { role: 'admin' })
    const envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
    const giving = await held(db, async (tx) => {
      await tx.rows('select 1 from service_tokens where org_id = $1 and id = $2 for share', [orgId, own.id])
      const by = { type: 'service_token', id: tenant.admin.id }
      const key = {
        environmentId: envId,
        principalType: 'service_token',
        principalId: own.id,
        wrappedDek: wrappedKey(),
      }
      await giveGrants({ db: tx, principal: by, now: now(), newId, audit: () => undefined }, orgId, [key])
    })
    const answer = await meanwhile(giving, () => start(person.id))
    expect(await rowsOf(answer.body.offboarding.id)).toMatchObject([{ environmentId: envId, via: 'token' }])
  })

  test('removes a former member who joins again at the same time', async () => {
    const person = await newMember(world, tenant)
    await world.call(offboardings.start, { as, params, body: { userId: person.id } })
    const { id } = (
      await world.call(offboardings.list, { as, params, query: { status: 'running' } })
    ).body.offboardings.at(-1) as { id: string }
    await world.call(offboardings.finish, { as, params: { orgId, offboardingId: id }, body: { acceptOpen: true } })
    const joining = await held(db, async (tx) => {
      await lockOrg(tx, org)
      await acceptMembership(tx, org, person.id, 'member', now())
    })
    expect((await meanwhile(joining, () => start(person.id))).status).toBe(201)
    expect(await db.rows('select 1 from memberships where user_id = $1', [person.id])).toEqual([])
  })

  test('and an acceptance at once never leave a member who is offboarded', async () => {
    for (let round = 0; round < 5; round++) {
      const email = `again-${++count}@example.com`
      const person = await newPerson(world, email)
      await invitePerson(world, tenant, email)
      await acceptInvites(world, person)
      const first = (await start(person.id)).body.offboarding.id
      await world.call(offboardings.finish, { as, params: { orgId, offboardingId: first }, body: { acceptOpen: true } })
      const { body } = await invitePerson(world, tenant, email)
      const accept = { as: person.as, params: { inviteId: body.invite.id } }
      const [, begun] = await Promise.all([world.call(ownInvites.accept, accept), start(person.id)])
      const isMember = (await db.rows('select 1 from memberships where user_id = $1', [person.id])).length > 0
      expect([begun.status, isMember]).toEqual([201, false])
    }
  })
})

test('a row keeps changes of different fields at the same time', async () => {
  const [person, admin] = [await newMember(world, tenant), await newMember(world, tenant, 'admin')]
  const envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
  await grantKey(world, tenant, envId, person)
  const offboardingId = (await start(person.id)).body.offboarding.id
  const rowId = (await rowsOf(offboardingId))[0]?.id as string
  const change = (body: object) =>
    world.call(offboardings.change, { as, params: { orgId, offboardingId, offboardingRowId: rowId }, body })
  for (let round = 0; round < 6; round++) {
    const isEven = round % 2 === 0
    const wanted = {
      note: `note ${round}`,
      assigneeId: isEven ? admin.id : null,
      state: isEven ? 'not_needed' : 'waiting',
    }
    const answers = await Promise.all(Object.entries(wanted).map(([field, value]) => change({ [field]: value })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await rowsOf(offboardingId)).toMatchObject([wanted])
  }
})
