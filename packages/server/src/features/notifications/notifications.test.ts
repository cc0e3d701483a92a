import { audit } from '@skerry/contract/audit/endpoints'
import { changes, protection } from '@skerry/contract/changes/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { notifications } from '@skerry/contract/notifications/endpoints'
import { type NotificationType, notificationTypes } from '@skerry/contract/notifications/types'
import { recoveryRequests } from '@skerry/contract/recovery/endpoints'
import { describe, expect, test } from 'vitest'
import { publicKeyJwk, sealedPrivateKey, wrappedKey } from '../../../test/blobs.ts'
import { newGuarded, proposePut } from '../../../test/guarded.ts'
import { openRequest, setUpRecovery } from '../../../test/recovery-steps.ts'
import { openMailed } from '../../../test/scene.ts'
import { textOf } from '../../../test/services/smtp.ts'
import { mailsWritten } from '../../../test/state.ts'
import {
  type Actor,
  grantKey,
  newApp,
  newCliSession,
  newEnv,
  newMember,
  newPerson,
  signUp,
} from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import type { Sql } from '../../db/database.ts'
import type { EventOf } from '../../events/events.ts'
import type { NoticeFacts } from '../../events/notices.ts'
import type { Context } from '../../http/context.ts'
import type { Job } from '../../jobs/job.ts'
import { letterOf } from './mails.ts'

const { mails, world, tenant } = await openMailed()

const get = async ({ as }: Actor) => (await world.call(notifications.get, { as })).body.prefs
const put = ({ as }: Actor, prefs: object) => world.call(notifications.put, { as, body: { prefs } })
const subjects = (address: string) =>
  mails.received.filter(({ to }) => to.includes(address)).map(({ source }) => /^Subject: (.*)$/m.exec(source)?.[1])
const mailTo = (address: string, subject: string) =>
  until(`“${subject}” to ${address}`, () =>
    mails.received.find(({ to, source }) => to.includes(address) && source.includes(`Subject: ${subject}`)),
  )
const invite = (email: string) =>
  world.call(invites.create, { as: tenant.admin.as, params: { orgId: tenant.orgId }, body: { email } })

/** The facts of a change that a person proposed. `decided` adds the decision. */
const change = ({ id }: Actor) => ({
  changeRequestId: 'chr_x',
  environmentId: 'env_x',
  environment: 'production',
  secretName: 'KEY',
  others: 0,
  proposedByType: 'user',
  proposedById: id,
})
const decided = (proposer: Actor) => ({ ...change(proposer), status: 'applied', decidedById: tenant.admin.id })

/** Waits until this many notices are queued, and postpones them, so that none is sent before all are there. */
const untilGathered = (count: number) =>
  until(`${count} notices wait`, async () => {
    const waiting = await world.server.context.db.rows(
      `update jobs set due_at = now() + interval '1 day' where name = 'mail.gather' and state = 'waiting' returning 1`,
    )
    return waiting.length === count
  })

const defaults = Object.fromEntries(Object.entries(notificationTypes).map(([type, row]) => [type, row.byDefault]))

describe('preferences', () => {
  test('are the defaults at first, for every type', async () => {
    expect(await get(await newPerson(world, 'defaults@example.com'))).toEqual(defaults)
  })

  test('are changed one by one, without a change to the rest or to another person’s', async () => {
    const [person, other] = [await newPerson(world, 'partial@example.com'), await newPerson(world, 'whole@example.com')]
    expect((await put(person, { invitation: false })).body.prefs).toEqual({ ...defaults, invitation: false })
    const merged = { ...defaults, invitation: false, sync_failed: false }
    expect((await put(person, { sync_failed: false })).body.prefs).toEqual(merged)
    expect((await put(person, {})).body.prefs).toEqual(merged)
    expect((await put(person, { invitation: true })).body.prefs).toEqual({ ...merged, invitation: true })
    expect(await get(other)).toEqual(defaults)
  })

  test.each([
    [{ marketing: true }, 'body.prefs: unknown field "marketing"'],
    [{ invitation: 'no' }, expect.stringMatching(/^body\.prefs\.invitation: /)],
    [{ invitation: null }, expect.stringMatching(/^body\.prefs\.invitation: /)],
  ])(
    'of an unknown type or with another value (%j) are refused, and the error names the field',
    async (prefs, message) => {
      const person = await newPerson(world, 'unknown-type@example.com')
      const { status, error } = await put(person, { ...prefs, cli_session_approved: false })
      expect([status, error?.message]).toEqual([400, message])
      expect(await get(person)).toEqual(defaults)
    },
  )

  test('can be read and changed by people only', async () => {
    for (const actor of [tenant.admin, tenant.machine]) {
      expect((await put(actor, {})).status).toBe(403)
      expect((await world.call(notifications.get, { as: actor.as })).status).toBe(403)
    }
  })

  test('that change are recorded in the audit log', async () => {
    const person = await newMember(world, tenant)
    await put(person, { honey_token_tripped: false })
    await put(person, {})
    const query = { action: 'user.notifications_updated', resourceId: person.id }
    const trail = await world.call(audit.list, { as: tenant.admin.as, params: { orgId: tenant.orgId }, query })
    expect(trail.body.entries.map(({ metadata }) => metadata)).toEqual([{ prefs: { honey_token_tripped: false } }])
  })
})

describe('a mail', () => {
  test('reports a CLI session that was approved in a person’s name, with the device’s own words and no secret', async () => {
    const person = await newPerson(world, 'approves@example.com')
    const session = await newCliSession(world, person)
    const { source } = await mailTo('approves@example.com', 'A CLI session was approved')
    expect(source).toContain('laptop')
    expect(source).toContain('127.0.0.1')
    expect(source).not.toContain(session.as.slice('Bearer '.length))
    expect(source).not.toContain(session.code)
  })

  test('is not sent to a person who does not want that type', async () => {
    const person = await newPerson(world, 'quiet@example.com')
    await put(person, { cli_session_approved: false, invitation: false })
    await newCliSession(world, person)
    expect((await invite('quiet@example.com')).status).toBe(201)
    await mailsWritten(world)
    expect(subjects('quiet@example.com')).toEqual([])
  })

  test('is not sent if there is no address, and the event still happens', async () => {
    const as = `Bearer ${await world.issuer.token({ sub: 'no-address' })}`
    const before = mails.received.length
    const session = await newCliSession(world, { as })
    expect(session.id).toMatch(/^skc_/)
    await mailsWritten(world)
    expect(mails.received.slice(before).filter(({ source }) => source.includes('A CLI session'))).toEqual([])
  })

  test('is not sent when the event is rolled back', async () => {
    const person = await newPerson(world, 'rolled-back@example.com')
    const { context } = world.server
    const undone = context.db.transaction(async (tx) => {
      await context.events.emit(tx, 'change_request.decided', tenant.orgId, decided(person))
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    await mailsWritten(world)
    expect(subjects('rolled-back@example.com')).toEqual([])
  })

  test('to the admins of an organization goes to each owner and admin who wants it, except the one whom it is about', async () => {
    const own = await signUp(world)
    const person = (email: string, role: 'admin' | 'member') => newMember(world, own, role, { email })
    await person('admin-a@example.com', 'admin')
    const proposer = await person('admin-b@example.com', 'admin')
    await put(await person('admin-c@example.com', 'admin'), { change_request_opened: false })
    await person('member-d@example.com', 'member')
    const { context } = world.server
    await context.events.emit(context.db, 'change_request.opened', own.orgId, change(proposer))
    await mailsWritten(world)
    const { to, source } = await mailTo('admin-a@example.com', 'A change waits for your review in Acme')
    expect([to, source.includes('production')]).toEqual([['admin-a@example.com'], true])
    for (const address of ['admin-b', 'admin-c', 'member-d'])
      expect(subjects(`${address}@example.com`).filter((subject) => subject?.startsWith('A change'))).toEqual([])
  })

  test('about a proposed change names its proposer, place and note, and links to it; the decision names its reviewer and comment', async () => {
    const own = await signUp(world)
    const reviewer = await newMember(world, own, 'admin', { email: 'reviewer@example.com' })
    const proposer = await newMember(world, own, 'admin', { email: 'proposer@example.com' })
    const envId = await newGuarded(world, own)
    await grantKey(world, own, envId, proposer)
    const { id } = await proposePut(world, own, envId, 'API_KEY', { by: proposer, note: 'the old key expires' })
    await mailsWritten(world)
    const link = new RegExp(`https://skerry\\.example/orgs/[a-z0-9-]+/changes/${id}`)
    const opened = textOf((await mailTo('reviewer@example.com', 'A change waits for your review in Acme')).source)
    expect(opened).toMatch(
      /proposer@example\.com\)? proposed a change of API_KEY in the protected environment “[\w-]+\/production”/,
    )
    for (const told of ['It needs 1 approval.', '“the old key expires”', link]) expect(opened).toMatch(told)
    const params = { orgId: own.orgId, changeRequestId: id }
    await world.call(changes.reject, { as: reviewer.as, params, body: { comment: 'not this week' } })
    await mailsWritten(world)
    const rejected = textOf((await mailTo('proposer@example.com', 'Your change in Acme is rejected')).source)
    expect(rejected).toMatch(/Rejected by: .*reviewer@example\.com/)
    for (const told of ['Comment: “not this week”', link]) expect(rejected).toMatch(told)
  })

  test('about removed protection goes to every admin, even the one who removed it, and names that admin and the IP address', async () => {
    const own = await signUp(world)
    const [one] = [
      await newMember(world, own, 'admin', { email: 'guard-a@example.com' }),
      await newMember(world, own, 'admin', { email: 'guard-b@example.com' }),
    ]
    const params = { orgId: own.orgId, envId: await newGuarded(world, own) }
    await world.call(protection.delete, { as: one.as, params, headers: { 'user-agent': 'curl/8' } })
    for (const address of ['guard-a@example.com', 'guard-b@example.com']) {
      const { source } = await mailTo(address, 'An environment in Acme is no longer protected')
      for (const told of ['guard-a@example.com', '127.0.0.1', 'curl/8', 'production']) expect(source).toContain(told)
    }
    await world.call(protection.delete, { as: one.as, params })
    await mailsWritten(world)
    expect(subjects('guard-b@example.com').filter((subject) => subject?.startsWith('An environment'))).toHaveLength(1)
  })

  test('about a recovery goes to each admin and each custodian, when it is opened and when it is completed', async () => {
    const own = await signUp(world)
    const person = (email: string, role: 'admin' | 'member' = 'member') =>
      newMember(world, own, role, { email: `${email}@example.com` })
    await person('party-admin', 'admin')
    const custodians = [await person('party-a'), await person('party-b'), await person('party-c')]
    await put(custodians[2] as Actor, { recovery_opened: false })
    const target = await person('party-target')
    const envId = (await newEnv(world, own, (await newApp(world, own)).id)).id
    await setUpRecovery(world, own, custodians, 2, [envId])
    const { id: recoveryRequestId } = await openRequest(world, own, target)
    const params = { orgId: own.orgId, recoveryRequestId }
    for (const [index, { as }] of custodians.slice(0, 2).entries()) {
      const body = { shareIndex: index + 1, contributedShare: wrappedKey() }
      await world.call(recoveryRequests.contribute, { as, params, body })
    }
    const body = { principalId: target.id, grants: [{ environmentId: envId, wrappedDek: wrappedKey() }] }
    await world.call(recoveryRequests.complete, { as: target.as, params, body: { principalType: 'user', ...body } })
    await mailsWritten(world)
    for (const address of ['party-admin', 'party-a', 'party-b']) {
      const { source } = await mailTo(`${address}@example.com`, 'A recovery was opened in Acme')
      expect(source).toContain(recoveryRequestId)
    }
    for (const address of ['party-admin', 'party-a', 'party-b', 'party-c'])
      await mailTo(`${address}@example.com`, 'A recovery was completed in Acme')
    const about = (address: string) =>
      subjects(`${address}@example.com`).filter((subject) => subject?.startsWith('A recovery'))
    expect([about('party-c').length, about('party-target').length]).toEqual([1, 0])
  })

  test('about an organization names it, and goes to nobody who is no longer a member', async () => {
    const own = await signUp(world)
    const stays = await newMember(world, own, 'member', { email: 'stays@example.com' })
    const left = await newPerson(world, 'left@example.com')
    const { context } = world.server
    for (const person of [left, stays])
      await context.events.emit(context.db, 'change_request.decided', own.orgId, decided(person))
    await mailsWritten(world)
    await mailTo('stays@example.com', 'Your change in Acme is applied')
    expect(subjects('left@example.com')).toEqual([])
  })
})

describe('several notices', () => {
  test('to one person within a minute become one mail for each organization and kind', async () => {
    const [own, other] = [await signUp(world), await signUp(world)]
    await newMember(world, other, 'member', { email: 'busy@example.com' })
    const person = await newMember(world, own, 'member', { email: 'busy@example.com', keys: false })
    await mailsWritten(world)
    mails.received.length = 0
    const { context } = world.server
    const names = Array.from({ length: 120 }, (_, number) => `KEY_${number}`)
    for (const secretName of names)
      await context.events.emit(context.db, 'change_request.decided', own.orgId, { ...decided(person), secretName })
    await context.events.emit(context.db, 'change_request.decided', other.orgId, decided(person))
    await untilGathered(121)
    await mailsWritten(world)
    expect(subjects('busy@example.com').toSorted()).toEqual([
      '120 of your changes in Acme have been decided',
      'Your change in Acme is applied',
    ])
    const { source } = await mailTo('busy@example.com', '120 of your changes')
    expect(source.match(/^- KEY_\d+ in the environment/gm)).toHaveLength(50)
    expect(source).toContain('- and 70 more')
  })

  test('are never gathered for an alarm, which is mailed at once', async () => {
    const own = await signUp(world)
    await newMember(world, own, 'admin', { email: 'alarmed@example.com' })
    const { context } = world.server
    const facts = { tokenId: 'skt_x', at: '2026-01-02T03:04:05.000Z', ipAddress: null, userAgent: null }
    await context.events.emit(context.db, 'honey_token.tripped', own.orgId, facts)
    await mailTo('alarmed@example.com', 'Somebody used a decoy token of Acme')
  })

  test('of an event that is delivered twice become one mail', async () => {
    const person = await newPerson(world, 'once@example.com')
    const { context } = world.server
    const facts = { deviceLabel: 'laptop', client: null, ipAddress: null, expiresAt: '2026-04-02T03:04:05.000Z' }
    const emit = (db: Sql) =>
      context.events.emit(db, 'cli_session.approved', null, { ...facts, sessionId: 'skc_x', userId: person.id })
    const [job] = (await emit(context.db)) as [Job<EventOf<'cli_session.approved'>, Context>]
    await mailTo('once@example.com', 'A CLI session')
    const [delivered] = await context.db.rows<{ data: EventOf<'cli_session.approved'> }>(
      `select data from jobs where name = $1 and data->'facts'->>'userId' = $2`,
      [job.name, person.id],
    )
    await job.run(context, (delivered as { data: EventOf<'cli_session.approved'> }).data)
    await mailsWritten(world)
    expect(subjects('once@example.com')).toHaveLength(1)
  })
})

describe('a replaced key pair', () => {
  test('is reported to the admins of each organization, and not to the person', async () => {
    const admin = await newMember(world, tenant, 'admin', { email: 'told@example.com' })
    const person = await newMember(world, tenant, 'admin', { email: 'replaces@example.com' })
    expect(admin.id).not.toBe(person.id)
    const body = { publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() }
    expect((await world.call(me.replaceKeys, { as: person.as, body })).status).toBe(200)
    const { source } = await mailTo('told@example.com', 'A member of Acme has a new key pair')
    expect(source).toContain('replaces@example.com')
    await mailsWritten(world)
    expect(subjects('replaces@example.com').filter((subject) => subject?.includes('key pair'))).toEqual([])
  })
})

describe('letters', () => {
  const evil = 'one\r\nBcc: mallory@example.com\u2028two\u202ethree'
  const changeOf = (environment: string) => ({
    changeRequestId: 'chr_x',
    environment,
    secretName: 'KEY',
    others: 2,
  })
  const place = { baseUrl: 'https://skerry.example', orgName: 'Acme', orgSlug: 'acme' }
  const samples: { [T in NotificationType]: NoticeFacts[T] } = {
    invitation: { inviteId: 'inv_x', orgName: evil, until: '2026-01-02T03:04:05.000Z', invitedBy: evil, hasCode: true },
    offboarding_row_handed: {
      offboardingId: 'ofb_x',
      person: evil,
      task: evil,
      by: evil,
      note: evil,
      reminder: true,
    },
    change_request_opened: { ...changeOf(evil), proposedBy: evil, note: evil, requiredApprovals: 2 },
    change_request_decided: { ...changeOf(evil), status: 'rejected', decidedBy: evil, comment: evil },
    protection_disabled: {
      environment: evil,
      environmentId: 'env_x',
      by: evil,
      at: '2026-01-02T03:04:05.000Z',
      ipAddress: null,
      userAgent: evil,
    },
    honey_token_tripped: {
      tokenId: 'skt_x',
      placement: evil,
      at: '2026-01-02T03:04:05.000Z',
      ipAddress: null,
      userAgent: evil,
    },
    token_exposed: { tokenId: 'skt_x', name: evil, at: '2026-01-02T03:04:05.000Z', ipAddress: null, userAgent: null },
    access_requested: { requestId: 'acr_x', person: evil, environments: ['shop/staging'], reason: evil },
    access_decided: { status: 'declined', environments: ['shop/staging'], closedBy: evil, answer: evil },
    keys_replaced: { person: evil, environments: 2 },
    rotation_failed: { environment: evil, secretName: 'KEY' },
    secret_expiring: { environment: evil, secretName: 'KEY', expiresAt: '2026-01-02T03:04:05.000Z', hasExpired: false },
    sync_failed: { connection: evil, cause: 'credential' },
    lease_orphaned: { leaseId: 'lse_x', target: evil, account: evil },
    lease_target_paused: { target: evil, reason: evil },
    log_sink_disabled: { endpoint: evil, error: evil },
    vault_webhook_disabled: { host: evil, error: evil },
    cli_session_approved: {
      deviceLabel: evil,
      client: evil.repeat(100),
      ipAddress: null,
      at: '2026-01-02T03:04:05.000Z',
      expiresAt: '2026-04-02T03:04:05.000Z',
    },
    recovery_opened: { requestId: evil, drill: false, target: evil, reason: evil },
    recovery_completed: { requestId: evil, target: evil, environments: 1 },
  }

  test.each(Object.keys(notificationTypes) as NotificationType[])(
    'of type %s have a subject of one line, and no fact starts a new line',
    (type) => {
      const { subject, text } = letterOf(type, [samples[type]], { ...place, orgName: evil })
      expect(subject).toMatch(/^[\x20-\x7e’“”]+$/)
      expect(text).not.toMatch(/^(?:Bcc|two|three)/m)
      expect(text).not.toMatch(/[\r\u2028\u202e]/)
      // Words of a stranger are also broken up where a mail program would make a link.
      expect(text).toMatch(/one Bcc: mallory[@ ]example[. ]com two three/)
      expect(text).not.toMatch(/undefined|null|\[object/)
      expect(text).toContain(notificationTypes[type].when)
      expect(text.length).toBeLessThan(2000)
    },
  )

  test('make no link of words that a person wrote', () => {
    const note = 'see https://evil.example/x, or ask mallory@evil.example'
    const { text } = letterOf('change_request_opened', [{ ...samples.change_request_opened, note }], place)
    expect(text).toContain('Note of the proposer: “see https   evil example x, or ask mallory evil example”')
    expect(text.match(/https:\/\/\S+/g)).toEqual(['https://skerry.example/orgs/acme/changes/chr_x'])
  })

  test('of a re-key name the key, because it is about no single secret', () => {
    const { text } = letterOf(
      'change_request_opened',
      [{ ...samples.change_request_opened, secretName: null, others: 0 }],
      place,
    )
    expect(text).toContain('proposed a change of the key in the protected environment')
  })

  test('lead to the page of what they are about', () => {
    const linksIn = <T extends NotificationType>(type: T, facts: Partial<NoticeFacts[T]> = {}) =>
      letterOf(type, [{ ...samples[type], ...facts }], place).text.match(/https:\/\/skerry\.example[^\s,]*/g)
    const org = 'https://skerry.example/orgs/acme'
    expect(linksIn('access_requested')).toEqual([`${org}/requests`])
    expect(linksIn('access_decided')).toEqual([`${org}/requests?answered=true`])
    const environments = ['shop/staging', 'shop/production@pr-7', 'shared:staging']
    expect(linksIn('access_decided', { status: 'granted', environments })).toEqual([
      `${org}/apps/shop`,
      `${org}/groups/shared`,
    ])
    expect(linksIn('secret_expiring', { environment: 'shop/production@pr-7' })).toEqual([
      `${org}/apps/shop?secret=KEY&in=pr-7`,
    ])
    expect(linksIn('protection_disabled')).toEqual([`${org}/envs/env_x/protection`])
    expect(linksIn('keys_replaced')).toEqual([`${org}/members`])
    expect(linksIn('cli_session_approved')).toEqual(['https://skerry.example/account/cli-sessions'])
  })

  test('of a change from an earlier release lead to the dashboard', () => {
    const old = {
      ...samples.change_request_opened,
      proposedBy: null,
      note: null,
      requiredApprovals: null,
    }
    const { text } = letterOf('change_request_opened', [old], { ...place, orgSlug: null })
    expect(text).toMatch(
      /^Somebody proposed a change of KEY and 2 other secrets [^\n]*\n\nReview the change at https:\/\/skerry\.example\n/,
    )
  })
})
