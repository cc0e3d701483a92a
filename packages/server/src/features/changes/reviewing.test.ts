import { audit } from '@skerry/contract/audit/endpoints'
import { changes } from '@skerry/contract/changes/endpoints'
import { members } from '@skerry/contract/members/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { describe, expect, test } from 'vitest'
import { ciphertext } from '../../../test/blobs.ts'
import { type Decision, decide, newGuarded, proposePut, protect, queuedIn, unprotect } from '../../../test/guarded.ts'
import { openTenant } from '../../../test/scene.ts'
import { type Actor, grantKey, newMember, newToken, putSecret } from '../../../test/tenant.ts'
import { changeLifecycle } from './lifecycle.ts'
import type { Status } from './store.ts'

const { world, tenant } = await openTenant()
const alice = await newMember(world, tenant, 'admin')
const bob = await newMember(world, tenant, 'admin')
const envId = await newGuarded(world, tenant)

const org = () => ({ orgId: tenant.orgId })
const by = (actor: Actor = tenant.admin) => ({ as: actor.as })
const propose = (name: string, more: { by?: Actor; text?: string } = {}) => proposePut(world, tenant, envId, name, more)
const approve = (id: string, who = alice, comment?: string) =>
  decide(world, tenant, 'approve', id, who, comment === undefined ? {} : { comment })
const versions = async (name: string, env = envId) =>
  (await world.call(secrets.versions, { ...by(), params: { ...org(), envId: env, name } })).body
const statusOf = async (changeRequestId: string) =>
  (await world.call(changes.get, { ...by(), params: { ...org(), changeRequestId } })).body.changeRequest.status
const reviewsOf = async (changeRequestId: string) =>
  (await world.call(changes.get, { ...by(), params: { ...org(), changeRequestId } })).body.reviews

/** Makes a secret with `count` versions in a protected environment. */
async function secretOf(name: string, count: number) {
  for (let n = 0; n < count; n++) await approve((await propose(name)).id)
}

describe('approving', () => {
  test('writes the ciphertext byte for byte, as a new version by the proposer', async () => {
    await secretOf('PUT', 1)
    const text = ciphertext(700_000)
    const { id } = await propose('PUT', { text })
    const { status, body } = await approve(id)
    expect([status, body.status, body.approvals, body.required]).toEqual([200, 'applied', 1, 1])
    expect(body.changeRequest).toMatchObject({ id, status: 'applied', closedAt: expect.any(String) })
    const after = await versions('PUT')
    expect(after.currentVersion).toBe(2)
    expect(after.versions[0]).toMatchObject({
      ciphertext: text,
      createdByType: 'service_token',
      createdById: tenant.admin.id,
      restoredFromVersion: null,
    })
  })

  test('a restore adds a version that names the restored one', async () => {
    await secretOf('RESTORE', 2)
    const [second, first] = (await versions('RESTORE')).versions
    const params = { ...org(), envId, name: 'RESTORE' }
    const { id } = queuedIn(await world.call(secrets.restore, { ...by(tenant.machine), params, body: { version: 1 } }))
    expect((await approve(id)).body.status).toBe('applied')
    const [restored] = (await versions('RESTORE')).versions
    expect(restored).toMatchObject({
      version: 3,
      ciphertext: first?.ciphertext,
      restoredFromVersion: 1,
      createdByType: 'm2m',
      createdById: tenant.machine.id,
    })
    expect(restored?.ciphertext).not.toBe(second?.ciphertext)
  })

  test('a deletion deletes the secret and its whole history', async () => {
    await secretOf('DELETE', 2)
    const params = { ...org(), envId, name: 'DELETE' }
    const { id } = queuedIn(await world.call(secrets.delete, { ...by(), params }))
    expect((await approve(id)).body.status).toBe('applied')
    expect((await world.call(secrets.versions, { ...by(), params })).status).toBe(404)
  })

  test('changes the answer of the next resolve', async () => {
    const ask = async () => {
      const { body } = await world.call(resolve.get, { ...by(), query: { env: envId } })
      return body.layers.flatMap((layer) => layer.secrets).find(({ name }) => name === 'RESOLVED')?.ciphertext
    }
    const text = ciphertext()
    const { id } = await propose('RESOLVED', { text })
    expect([await ask(), await ask()]).toEqual([undefined, undefined])
    await approve(id)
    expect(await ask()).toBe(text)
  })

  test('needs as many reviewers as are required, and counts each once', async () => {
    const own = await newGuarded(world, tenant, { requiredApprovals: 2 })
    const { id } = await proposePut(world, tenant, own, 'TWO')
    for (const _ of [1, 2]) {
      const { body } = await approve(id)
      expect([body.status, body.approvals, body.required]).toEqual(['open', 1, 2])
    }
    const last = await approve(id, bob)
    expect([last.body.status, last.body.approvals]).toEqual(['applied', 2])
  })

  test('again replaces the vote and the comment of the reviewer', async () => {
    const own = await newGuarded(world, tenant, { requiredApprovals: 2 })
    const { id } = await proposePut(world, tenant, own, 'VOTES')
    await approve(id, alice, 'first thought')
    await approve(id, alice, 'second\nthought')
    expect(await reviewsOf(id)).toMatchObject([
      { reviewerId: alice?.id, decision: 'approve', comment: 'second\nthought' },
    ])
    await decide(world, tenant, 'reject', id, alice)
    expect(await reviewsOf(id)).toMatchObject([{ reviewerId: alice?.id, decision: 'reject', comment: null }])
    expect(await statusOf(id)).toBe('rejected')
  })

  test('does not count reviewers who have lost the admin role or left', async () => {
    const own = await newGuarded(world, tenant, { requiredApprovals: 2 })
    const { db } = world.server.context
    const [demoted, gone] = [await newMember(world, tenant, 'admin'), await newMember(world, tenant, 'admin')]
    const { id } = await proposePut(world, tenant, own, 'LOST')
    await approve(id, demoted)
    await db.rows(`update memberships set role = 'member' where user_id = $1`, [demoted.id])
    expect((await approve(id, gone)).body).toMatchObject({ status: 'open', approvals: 1 })
    await db.rows('delete from memberships where user_id = $1', [gone.id])
    expect((await approve(id)).body).toMatchObject({ status: 'open', approvals: 1 })
    expect((await approve(id, bob)).body).toMatchObject({ status: 'applied', approvals: 2 })
  })

  test('by the proposer is refused, unless the environment allowed it at the time of the proposal', async () => {
    await grantKey(world, tenant, envId, alice)
    const { id } = await propose('SELF', { by: alice })
    const { status, error } = await approve(id)
    expect([status, error?.code]).toEqual([403, 'forbidden'])
    expect(await reviewsOf(id)).toEqual([])
    await protect(world, tenant, envId, { allowSelfApproval: true })
    expect((await approve(id)).status).toBe(403)
    const { id: later } = await propose('SELF', { by: alice })
    await protect(world, tenant, envId, { allowSelfApproval: false })
    expect((await approve(later)).body.status).toBe('applied')
    expect((await versions('SELF')).versions[0]).toMatchObject({ createdByType: 'user', createdById: alice?.id })
  })

  test('is only for admins in person, not for members, service tokens or machine clients', async () => {
    const { id } = await propose('PERSONS')
    const others = [await newMember(world, tenant), await newToken(world, tenant), tenant.admin, tenant.machine]
    for (const who of others)
      for (const decision of ['approve', 'reject'] as const) {
        const { status, error } = await decide(world, tenant, decision, id, who)
        expect([status, error?.code]).toEqual([403, 'forbidden'])
      }
    expect([await statusOf(id), await reviewsOf(id)]).toEqual(['open', []])
  })

  test('leaves audit entries of the approval, the change and the secret, which name proposer and approver', async () => {
    const { id } = await propose('TRAIL')
    await approve(id)
    const entries = async (query: Record<string, unknown>) =>
      (await world.call(audit.list, { ...by(), params: org(), query })).body.entries
    expect((await entries({ resourceId: id })).map(({ action }) => action).sort()).toEqual([
      'change_request.applied',
      'change_request.approved',
      'change_request.opened',
    ])
    const people = {
      proposedByType: 'service_token',
      proposedById: tenant.admin.id,
      approvedByIds: [alice?.id],
    }
    const [written] = await entries({ action: 'secret.written' })
    expect(written).toMatchObject({
      actorId: alice?.id,
      metadata: { environmentId: envId, name: 'TRAIL', version: 1, changeRequestId: id, ...people },
    })
    const [applied] = await entries({ action: 'change_request.applied' })
    expect(applied).toMatchObject({ resourceId: id, metadata: { name: 'TRAIL', ...people } })
  })
})

describe('settings', () => {
  test('of the proposal stay in force: weaker settings or no protection do not release waiting changes', async () => {
    const own = await newGuarded(world, tenant, { requiredApprovals: 2 })
    const { id } = await proposePut(world, tenant, own, 'WAITS')
    await protect(world, tenant, own, { requiredApprovals: 1 })
    await unprotect(world, tenant, own)
    expect(await statusOf(id)).toBe('open')
    expect((await approve(id)).body).toMatchObject({ status: 'open', approvals: 1, required: 2 })
    expect((await approve(id, bob)).body.status).toBe('applied')
  })

  test('that became stricter do not delay waiting changes', async () => {
    const own = await newGuarded(world, tenant)
    const { id } = await proposePut(world, tenant, own, 'EASY')
    await protect(world, tenant, own, { requiredApprovals: 5 })
    expect((await approve(id)).body).toMatchObject({ status: 'applied', required: 1 })
  })
})

describe('a change is superseded', () => {
  test('if another one was applied before it, and writes nothing', async () => {
    await secretOf('MOVED', 1)
    const [one, two] = [await propose('MOVED'), await propose('MOVED')]
    await approve(one.id)
    const { status, body } = await approve(two.id)
    expect([status, body.status, body.changeRequest.status]).toEqual([200, 'superseded', 'superseded'])
    expect((await versions('MOVED')).versions.map((version) => version.ciphertext)).not.toContain(two.ciphertext)
  })

  test('after it was listed as stale, which an applicable change and a closed one are not', async () => {
    const own = await newGuarded(world, tenant, null)
    for (const name of ['CHANGES', 'GONE', 'STAYS']) await putSecret(world, tenant, own, name)
    await protect(world, tenant, own)
    const names = ['CHANGES', 'GONE', 'STAYS', 'NEW']
    const ids = await Promise.all(names.map(async (name) => (await proposePut(world, tenant, own, name)).id))
    const staleNames = async () => {
      const { body } = await world.call(changes.list, { ...by(), params: org(), query: { envId: own } })
      return body.changeRequests
        .filter(({ stale }) => stale)
        .map(({ secretName }) => secretName)
        .toSorted()
    }
    expect(await staleNames()).toEqual([])
    await unprotect(world, tenant, own)
    for (const name of ['CHANGES', 'NEW']) await putSecret(world, tenant, own, name)
    await world.call(secrets.delete, { ...by(), params: { ...org(), envId: own, name: 'GONE' } })
    expect(await staleNames()).toEqual(['CHANGES', 'GONE', 'NEW'])
    for (const [at, status] of ['superseded', 'superseded', 'applied', 'superseded'].entries())
      expect((await approve(ids[at] as string)).body.status).toBe(status)
    expect(await staleNames()).toEqual([])
  })

  test('if it proposed a new secret that exists by now', async () => {
    const [one, two] = [await propose('CREATED'), await propose('CREATED')]
    await approve(one.id)
    expect((await approve(two.id)).body.status).toBe('superseded')
    expect((await versions('CREATED')).currentVersion).toBe(1)
  })

  test('if the secret was deleted, also if a new one with its name has the same version', async () => {
    const own = await newGuarded(world, tenant, null)
    const params = { ...org(), envId: own, name: 'AGAIN' }
    const begin = async () => {
      await unprotect(world, tenant, own)
      await putSecret(world, tenant, own, 'AGAIN')
      await putSecret(world, tenant, own, 'AGAIN')
      await protect(world, tenant, own)
    }
    const deleteNow = async () => {
      await unprotect(world, tenant, own)
      await world.call(secrets.delete, { ...by(), params })
    }
    await begin()
    const put = await proposePut(world, tenant, own, 'AGAIN')
    const restore = queuedIn(await world.call(secrets.restore, { ...by(), params, body: { version: 1 } }))
    const remove = queuedIn(await world.call(secrets.delete, { ...by(), params }))
    await deleteNow()
    expect((await approve(put.id)).body.status).toBe('superseded')
    await begin()
    const before = await versions('AGAIN', own)
    for (const { id } of [restore, remove]) expect((await approve(id)).body.status).toBe('superseded')
    expect(await versions('AGAIN', own)).toEqual(before)
  })

  test('at the first approval even if it needs more, because it can never be applied', async () => {
    const own = await newGuarded(world, tenant, { requiredApprovals: 2 })
    const [one, two] = [await proposePut(world, tenant, own, 'A'), await proposePut(world, tenant, own, 'A')]
    for (const who of [alice, bob]) await approve(one.id, who)
    expect((await approve(two.id)).body).toMatchObject({ status: 'superseded', approvals: 1, required: 2 })
  })
})

describe('withdrawing', () => {
  test('is for the proposer, a person or a token, and for admins', async () => {
    const token = await newToken(world, tenant)
    const person = await newMember(world, tenant)
    for (const holder of [token, person]) {
      await grantKey(world, tenant, envId, holder)
      const { id } = await propose('WITHDRAWN', { by: holder })
      expect((await decide(world, tenant, 'withdraw', id, holder)).body.changeRequest.status).toBe('withdrawn')
    }
    for (const admin of [alice, tenant.admin, tenant.machine]) {
      const { id } = await propose('WITHDRAWN', { by: token })
      expect((await decide(world, tenant, 'withdraw', id, person)).status).toBe(403)
      expect((await decide(world, tenant, 'withdraw', id, admin)).status).toBe(200)
    }
  })
})

test('a change says how and when its proposer lost access, and stays open', async () => {
  const token = await newToken(world, tenant)
  const person = await newMember(world, tenant)
  const shown = async (changeRequestId: string) => {
    const { changeRequest } = (await world.call(changes.get, { ...by(), params: { ...org(), changeRequestId } })).body
    const { body } = await world.call(changes.list, { ...by(), params: org(), query: { status: 'open', envId } })
    const listed = body.changeRequests.find(({ id }) => id === changeRequestId)
    const ends = [changeRequest, listed].map((one) => [one?.status, one?.proposerEnded, one?.proposerEndedAt])
    expect(ends[0]).toEqual(ends[1])
    return ends[0]
  }
  const ids: string[] = []
  for (const holder of [token, person]) {
    await grantKey(world, tenant, envId, holder)
    ids.push((await propose('OF_A_THIEF', { by: holder })).id)
    expect(await shown(ids.at(-1)!)).toEqual(['open', null, null])
  }
  await world.call(tokens.revoke, { ...by(), params: { ...org(), tokenId: token.id } })
  await world.call(members.remove, { ...by(), params: { ...org(), userId: person.id } })
  expect(await shown(ids[0]!)).toEqual(['open', 'revoked', expect.any(String)])
  expect(await shown(ids[1]!)).toEqual(['open', 'removed', expect.any(String)])
})

describe('the states of a change request', () => {
  const statuses: Status[] = ['open', 'applied', 'superseded', 'rejected', 'withdrawn']
  const triggers: Decision[] = ['approve', 'reject', 'withdraw']
  const pairs = statuses.flatMap((from) => triggers.map((trigger) => [from, trigger] as const))

  /** Makes a change in this state. The environment must require two approvals. */
  async function changeIn(status: Status, env: string) {
    const name = `${status}_${crypto.randomUUID().replaceAll('-', '')}`
    const { id } = await proposePut(world, tenant, env, name)
    if (status === 'superseded') {
      const rival = await proposePut(world, tenant, env, name)
      for (const who of [alice, bob]) await approve(rival.id, who)
      await approve(id)
    }
    if (status === 'applied') for (const who of [alice, bob]) await approve(id, who)
    if (status === 'rejected') await decide(world, tenant, 'reject', id, alice)
    if (status === 'withdrawn') await decide(world, tenant, 'withdraw', id, alice)
    expect(await statusOf(id)).toBe(status)
    return id
  }

  test.each(pairs)('%s: the trigger %s leads where the table says, or is refused', async (from, trigger) => {
    const own = await newGuarded(world, tenant, { requiredApprovals: 2 })
    const id = await changeIn(from, own)
    const allowed = changeLifecycle.moves
      .filter(([status, by]) => status === from && by === trigger)
      .map(([, , to]) => to)
    const before = await reviewsOf(id)
    const { status, error } = await decide(world, tenant, trigger, id, bob)
    if (allowed.length > 0) {
      expect(status).toBe(200)
      return expect(allowed).toContain(await statusOf(id))
    }
    expect([status, error?.code]).toEqual([409, 'conflict'])
    expect([await statusOf(id), await reviewsOf(id)]).toEqual([from, before])
  })

  test('can all be reached, and a closed one is never left', () => {
    expect(new Set(changeLifecycle.moves.map(([, , to]) => to))).toEqual(new Set(statuses))
    expect(new Set(changeLifecycle.moves.map(([from]) => from))).toEqual(new Set(['open']))
  })
})
