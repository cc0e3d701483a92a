import { audit } from '@skerry/contract/audit/endpoints'
import { changes } from '@skerry/contract/changes/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test } from 'vitest'
import { ciphertext } from '../../../test/blobs.ts'
import { decide, newGuarded, proposePut, protect, queuedIn, unprotect } from '../../../test/guarded.ts'
import { readPages } from '../../../test/read-pages.ts'
import { openTenant } from '../../../test/scene.ts'
import { stateOf } from '../../../test/state.ts'
import { type Actor, grantKey, newMember, newToken, putSecret, signUp } from '../../../test/tenant.ts'

const { world, tenant } = await openTenant()
const reviewer = await newMember(world, tenant, 'admin')
const envId = await newGuarded(world, tenant, null)
for (const name of ['WRITTEN', 'RESTORED', 'DELETED'])
  for (const _ of [1, 2]) await putSecret(world, tenant, envId, name)
await protect(world, tenant, envId)

const org = () => ({ orgId: tenant.orgId })
const at = (name: string) => ({ ...org(), envId, name })
const by = (actor: Actor = tenant.admin) => ({ as: actor.as })
const put = (name: string, body: Record<string, unknown>, headers: Record<string, string> = {}) =>
  world.call(secrets.put, { ...by(), params: at(name), body: { ciphertext: ciphertext(), ...body }, headers })
const restore = (name: string, body: Record<string, unknown>, actor = tenant.admin) =>
  world.call(secrets.restore, { ...by(actor), params: at(name), body })
const remove = (name: string, query = {}, actor = tenant.admin) =>
  world.call(secrets.delete, { ...by(actor), params: at(name), query })
const stored = async () => (await world.call(secrets.list, { ...by(), params: { ...org(), envId } })).body.secrets
const list = async (query: Record<string, unknown>, actor = tenant.admin) =>
  (await world.call(changes.list, { ...by(actor), params: org(), query })).body
/** What a change shows of a proposer who has access. */
const hasAccess = { proposerEnded: null, proposerEndedAt: null }
const show = (changeRequestId: string, actor: Actor = tenant.admin) =>
  world.call(changes.get, { ...by(actor), params: { ...org(), changeRequestId } })

describe('in a protected environment', () => {
  test('a write is queued as it was proposed, and the secret keeps its value', async () => {
    const before = await stored()
    const text = ciphertext()
    const changeRequest = queuedIn(await put('WRITTEN', { ciphertext: text }))
    expect(changeRequest).toEqual({
      id: expect.stringMatching(/^chg_/),
      groupId: null,
      groupSize: 1,
      environmentId: envId,
      secretName: 'WRITTEN',
      action: 'put',
      ciphertext: text,
      restoreVersion: null,
      keepFor: null,
      deletedSecretId: null,
      baseVersion: 2,
      note: null,
      proposedByType: 'service_token',
      proposedById: tenant.admin.id,
      requiredApprovals: 1,
      allowSelfApproval: false,
      status: 'open',
      createdAt: changeRequest.createdAt,
      closedAt: null,
    })
    expect((await show(changeRequest.id)).body).toEqual({
      changeRequest: { ...changeRequest, ...hasAccess },
      reviews: [],
    })
    expect(await stored()).toEqual(before)
    const resolved = await world.call(resolve.get, { ...by(), query: { env: envId } })
    const layer = resolved.body.layers.find((one) => one.environmentId === envId)
    expect(layer?.secrets.find((one) => one.name === 'WRITTEN')?.ciphertext).not.toBe(text)
  })

  test('a restore is queued with its version and without a ciphertext', async () => {
    const changeRequest = queuedIn(await restore('RESTORED', { version: 1 }))
    expect(changeRequest).toMatchObject({ action: 'restore', restoreVersion: 1, baseVersion: 2, ciphertext: null })
    expect((await stored()).find(({ name }) => name === 'RESTORED')?.version).toBe(2)
  })

  test('a deletion is queued', async () => {
    const changeRequest = queuedIn(await remove('DELETED'))
    expect(changeRequest).toMatchObject({ action: 'delete', restoreVersion: null, baseVersion: 2, ciphertext: null })
    expect((await stored()).map(({ name }) => name)).toContain('DELETED')
  })

  test('a new secret is proposed on version 0', async () => {
    expect(queuedIn(await put('BRAND_NEW', {})).baseVersion).toBe(0)
    expect((await stored()).map(({ name }) => name)).not.toContain('BRAND_NEW')
  })

  test('a change that could not be made directly is refused, and nothing is queued', async () => {
    const stranger = await newMember(world, tenant, 'admin')
    const before = await stateOf(world)
    const answers = [
      await put('WRITTEN', { expectedVersion: 1 }),
      await put('WRITTEN', { expectedVersion: 0 }),
      await put('ABSENT', { expectedVersion: 1 }),
      await restore('RESTORED', { version: 1, expectedVersion: 1 }),
      await remove('DELETED', { expectedVersion: 1 }),
      await restore('RESTORED', { version: 9 }),
      await restore('ABSENT', { version: 1 }),
      await remove('ABSENT'),
      await restore('RESTORED', { version: 2 }),
      await put('WRITTEN', { ciphertext: 'plain' }),
      await remove('DELETED', {}, stranger),
      await restore('RESTORED', { version: 1 }, stranger),
    ]
    expect(answers.map(({ status }) => status)).toEqual([409, 409, 409, 409, 409, 404, 404, 404, 400, 400, 403, 403])
    expect(await stateOf(world)).toEqual(before)
  })

  test('a machine client may propose changes that need no key', async () => {
    const restored = queuedIn(await restore('RESTORED', { version: 1 }, tenant.machine))
    const removed = queuedIn(await remove('DELETED', {}, tenant.machine))
    for (const one of [restored, removed])
      expect([one.proposedByType, one.proposedById]).toEqual(['m2m', tenant.machine.id])
  })

  test('a proposal leaves one audit entry about it, without the value and the note', async () => {
    const note = 'because of the incident on Tuesday'
    const { id, ciphertext: text } = await proposePut(world, tenant, envId, 'WRITTEN', { note })
    const { body } = await world.call(audit.list, { ...by(), params: org(), query: { resourceId: id } })
    expect(body.entries).toMatchObject([
      {
        action: 'change_request.opened',
        resourceType: 'change_request',
        metadata: { environmentId: envId, name: 'WRITTEN', action: 'put', baseVersion: 2 },
      },
    ])
    expect(JSON.stringify(body.entries)).not.toContain(text)
    expect(JSON.stringify(body.entries)).not.toContain(note)
  })

  test('the audit entry of a proposed restore names the version to restore', async () => {
    const { id } = queuedIn(await restore('RESTORED', { version: 1 }))
    const { body } = await world.call(audit.list, { ...by(), params: org(), query: { resourceId: id } })
    const about = { environmentId: envId, name: 'RESTORED', action: 'restore', baseVersion: 2, restoreVersion: 1 }
    expect(body.entries.map(({ metadata }) => metadata)).toEqual([about])
  })
})

describe('the note', () => {
  const header = (value: string) => ({ 'x-skerry-change-note': value })
  const noteOf = async (value: string) => queuedIn(await put('NOTED', {}, header(value))).note

  test.each([
    ['plain text', 'rotate the key', 'rotate the key'],
    ['text with percent signs', '100 % sure, 50%', '100 % sure, 50%'],
    ['percent-encoded UTF-8', encodeURIComponent('Schlüssel 🔑 100 %'), 'Schlüssel 🔑 100 %'],
    ['several lines', encodeURIComponent('one\ntwo'), 'one\ntwo'],
    ['bytes of UTF-8', Buffer.from('Schlüssel').toString('latin1'), 'Schlüssel'],
    ['bytes of Latin-1', 'Schlüssel', 'Schlüssel'],
    ['blanks', '   ', null],
  ])('is decoded from %s', async (_, sent, note) => {
    expect(await noteOf(sent)).toBe(note)
  })

  test('is shown with the change', async () => {
    const { id } = await proposePut(world, tenant, envId, 'NOTED', { note: 'why' })
    expect((await show(id)).body.changeRequest.note).toBe('why')
  })

  test('has at most 2,000 characters, and no control characters', async () => {
    const longest = '🔑'.repeat(2000)
    expect(await noteOf(encodeURIComponent(longest))).toBe(longest)
    for (const value of ['x'.repeat(2001), 'a%00b', 'a%1B[2Jb', 'a%7Fb']) {
      const { status, error } = await put('NOTED', {}, header(value))
      expect([status, error?.code]).toEqual([400, 'invalid_request'])
      expect(error?.message).toContain('x-skerry-change-note')
    }
  })

  test('is ignored if nothing is queued, whatever it contains', async () => {
    const open = await newGuarded(world, tenant, null)
    const body = { ciphertext: ciphertext() }
    const params = { ...org(), envId: open, name: 'A' }
    expect((await world.call(secrets.put, { ...by(), params, body, headers: header('a%00b') })).status).toBe(201)
  })
})

describe('change requests', () => {
  test('are listed newest first, by status, environment and application, and page by page', async () => {
    const own = await newGuarded(world, tenant)
    const made: string[] = []
    for (const name of ['A', 'B', 'C', 'D', 'E']) made.unshift((await proposePut(world, tenant, own, name)).id)
    const ids = (page: { changeRequests: { id: string }[] }) => page.changeRequests.map(({ id }) => id)
    expect(ids(await list({ envId: own }))).toEqual(made)
    const { body } = await world.call(envs.get, { ...by(), params: { ...org(), envId: own } })
    const { applicationId } = body.environment
    expect(ids(await list({ applicationId }))).toEqual(made)
    expect(ids(await list({ applicationId, envId }))).toEqual([])
    await decide(world, tenant, 'reject', made[1] as string, reviewer)
    expect(ids(await list({ envId: own, status: 'rejected' }))).toEqual([made[1]])
    expect(ids(await list({ envId: own, status: 'open' }))).toEqual(made.filter((_, index) => index !== 1))
    const pages = await readPages(
      async (cursor) => {
        const page = await list({ envId: own, limit: 2, ...cursor })
        return { rows: ids(page), nextCursor: page.nextCursor }
      },
      () => proposePut(world, tenant, own, 'LATER'),
    )
    expect(pages).toEqual([made.slice(0, 2), made.slice(2, 4), made.slice(4)])
  })

  test('show a proposed value only to those who hold the key now, and the rest to every member', async () => {
    const change = await proposePut(world, tenant, envId, 'SEEN')
    const holder = await newToken(world, tenant)
    const grant = await grantKey(world, tenant, envId, holder)
    const one = async (actor: Actor) => (await show(change.id, actor)).body.changeRequest
    const listed = async (actor: Actor) =>
      (await list({ envId }, actor)).changeRequests.find(({ id }) => id === change.id)
    const shown = { ...change, ...hasAccess }
    expect([await one(holder), await listed(holder)]).toEqual([shown, { ...shown, stale: false }])
    await world.call(grants.delete, { ...by(), params: { ...org(), envId, grantId: grant.id } })
    const withheld = { ...shown, ciphertext: null }
    for (const actor of [holder, await newMember(world, tenant), reviewer, tenant.machine])
      expect([await one(actor), await listed(actor)]).toEqual([withheld, { ...withheld, stale: false }])
  })

  test('of another organization are not found', async () => {
    const change = await proposePut(world, tenant, envId, 'FOREIGN')
    const other = await signUp(world)
    const stranger = await newMember(world, other, 'admin')
    const own = { orgId: other.orgId, changeRequestId: change.id }
    expect((await world.call(changes.get, { as: other.admin.as, params: own })).status).toBe(404)
    for (const decision of ['approve', 'reject', 'withdraw'] as const) {
      expect((await decide(world, other, decision, change.id, stranger)).status).toBe(404)
      expect((await decide(world, tenant, decision, change.id, stranger)).status).toBe(404)
    }
    const query = { envId }
    const { body } = await world.call(changes.list, { as: other.admin.as, params: { orgId: other.orgId }, query })
    expect(body.changeRequests).toEqual([])
  })

  test('are deleted with their environment', async () => {
    const own = await newGuarded(world, tenant)
    const change = await proposePut(world, tenant, own, 'A')
    await world.call(envs.delete, { ...by(), params: { ...org(), envId: own } })
    expect((await show(change.id)).status).toBe(404)
    expect((await list({ envId: own })).changeRequests).toEqual([])
    expect((await decide(world, tenant, 'approve', change.id, reviewer)).status).toBe(404)
  })

  test('lose the value when the secret is deleted with its history, unless they can still be applied', async () => {
    const own = await newGuarded(world, tenant, null)
    await putSecret(world, tenant, own, 'A')
    await protect(world, tenant, own)
    const [applied, open] = [await proposePut(world, tenant, own, 'A'), await proposePut(world, tenant, own, 'A')]
    await decide(world, tenant, 'approve', applied.id, reviewer)
    const [other, text] = [await proposePut(world, tenant, own, 'B'), ciphertext()]
    await unprotect(world, tenant, own)
    for (const name of ['A']) await world.call(secrets.delete, { ...by(), params: { ...org(), envId: own, name } })
    for (const { id } of [applied, open]) expect((await show(id)).body.changeRequest.ciphertext).toBeNull()
    expect((await show(other.id)).body.changeRequest.ciphertext).toBe(other.ciphertext)
    expect((await decide(world, tenant, 'approve', open.id, reviewer)).body.status).toBe('superseded')
    await putSecret(world, tenant, own, 'B', text)
    await world.call(secrets.delete, { ...by(), params: { ...org(), envId: own, name: 'B' } })
    expect((await decide(world, tenant, 'approve', other.id, reviewer)).body.status).toBe('applied')
  })
})
