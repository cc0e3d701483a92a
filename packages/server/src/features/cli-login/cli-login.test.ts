import { audit } from '@skerry/contract/audit/endpoints'
import { cliLogin } from '@skerry/contract/cli-login/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { describe, expect, test } from 'vitest'
import { bearerSecret } from '../../../test/blobs.ts'
import { openTenant } from '../../../test/scene.ts'
import {
  type Actor,
  askForCliSession,
  newCliSession,
  newMember,
  newPerson,
  newToken,
  sessionOf,
  withFactor,
} from '../../../test/tenant.ts'
import { newId, sha256 } from '../../kernel/context.ts'
import { sweepCliLogins } from './jobs.ts'
import { decided, loginLifecycle, type Status, type Stored, statusOf, type Trigger } from './lifecycle.ts'

const { world, tenant } = await openTenant({ SKERRY_BASE_URL: 'https://skerry.example' })
const person = await newMember(world, tenant)

const ask = (more = {}) => askForCliSession(world, more)
const poll = (code: string) => world.call(cliLogin.poll, { body: { code } })
const approve = (code: string, actor: Pick<Actor, 'as'> = person) =>
  world.call(cliLogin.approve, { as: actor.as, params: { code } })
const deny = (code: string, actor = person) => world.call(cliLogin.deny, { as: actor.as, params: { code } })
const read = (code: string, actor = person) => world.call(cliLogin.get, { as: actor.as, params: { code } })
const whoAmI = (as: string) => world.call(me.get, { as })
const create = (body: Record<string, unknown>) => world.call(cliLogin.create, { body })
const body = (id = newId('cliSession')) => ({ sessionId: id, tokenHash: sha256(bearerSecret()), deviceLabel: 'laptop' })
const statusNow = async (code: string) => (await poll(code)).body.status

describe('asking', () => {
  test('returns a code, where to approve it, until when, and how often to poll', async () => {
    const asked = await ask()
    expect(asked.code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    expect(asked.verifyUrl).toBe(`https://skerry.example/cli/${asked.code}`)
    const lives = Date.parse(asked.requestExpiresAt) - world.clock.now().getTime()
    expect(lives).toBeGreaterThan(590_000)
    expect(lives).toBeLessThanOrEqual(600_000)
    expect(asked.pollIntervalSeconds).toBe(2)
  })

  test('makes no credential: the hash is useless until somebody approves', async () => {
    const asked = await ask()
    expect((await whoAmI(asked.as)).status).toBe(401)
    expect(await statusNow(asked.code)).toBe('pending')
  })

  test('with the session id or hash of another request or session is a conflict', async () => {
    const waiting = body()
    await create(waiting)
    const session = await newCliSession(world, person)
    await world.server.context.db.rows('delete from cli_login_requests where session_id = $1', [session.id])
    const hash = sha256(session.as.slice('Bearer '.length))
    for (const taken of [
      { ...body(), sessionId: waiting.sessionId },
      { ...body(), tokenHash: waiting.tokenHash },
      { ...body(), sessionId: session.id },
      { ...body(), tokenHash: hash },
    ])
      expect([(await create(taken)).status, taken]).toEqual([409, taken])
  })

  test('ten times at once for one session succeeds once', async () => {
    const id = newId('cliSession')
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(body(id))))
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(9).fill(409)])
  })

  test('draws codes from all letters of the alphabet, each about as often', async () => {
    const { newCode } = await import('./code.ts')
    const counts = new Map<string, number>()
    for (let draw = 0; draw < 5000; draw++)
      for (const letter of newCode().replace('-', '')) counts.set(letter, (counts.get(letter) ?? 0) + 1)
    expect([...counts.keys()].sort().join('')).toBe('BCDFGHJKLMNPQRSTVWXZ')
    // 2000 of each on average, with a standard deviation of 44.
    for (const count of counts.values()) expect(Math.abs(count - 2000)).toBeLessThan(350)
  })
})

describe('approving', () => {
  test('shows what the device reported and the address that it asked from, and never the hash', async () => {
    const asked = await ask()
    const { request } = (await read(asked.code)).body
    expect(request).toMatchObject({ code: asked.code, status: 'pending', deviceLabel: 'laptop', client: 'skerry/1.0' })
    expect(request).toMatchObject({ ipAddress: '127.0.0.1', requestExpiresAt: asked.requestExpiresAt })
    expect(world.answers.join()).not.toContain(sha256(asked.as.slice('Bearer '.length)))
  })

  test('makes the hash a credential of the approver for 90 days, which the device learns when it polls', async () => {
    const asked = await ask()
    const { status, body: approved } = await approve(asked.code)
    expect([status, approved.session.id]).toEqual([200, asked.id])
    const days = (Date.parse(approved.session.expiresAt) - world.clock.now().getTime()) / 86_400_000
    expect(days).toBeGreaterThan(89.99)
    expect(days).toBeLessThanOrEqual(90)
    const { body: polled } = await poll(asked.code)
    const email = (await whoAmI(person.as)).body.user?.email
    expect(polled).toEqual({ status: 'approved', sessionId: asked.id, email, expiresAt: approved.session.expiresAt })
    const { body: who } = await whoAmI(asked.as)
    expect([who.user?.id, who.session?.kind, who.session?.id]).toEqual([person.id, 'cli', asked.id])
  })

  test('is only for a person at a browser: a CLI session, a service token and a machine client are refused', async () => {
    const asked = await ask()
    for (const actor of [await newCliSession(world, person), tenant.admin, tenant.machine])
      for (const answer of [
        await read(asked.code, actor),
        await approve(asked.code, actor),
        await deny(asked.code, actor),
      ])
        expect([answer.status, answer.error?.code]).toEqual([403, 'forbidden'])
    expect(await statusNow(asked.code)).toBe('pending')
  })

  test('needs a second factor within the last ten minutes from a person who has one', async () => {
    const asked = await ask()
    const session = (claims: object) => sessionOf(world, 'factor@example.com', claims).then((as) => ({ as }))
    for (const claims of [{ mfa_enrolled: true }, withFactor(world, 601)]) {
      const { status, error } = await approve(asked.code, await session(claims))
      expect([status, error?.code]).toEqual([403, 'mfa_required'])
    }
    expect(await statusNow(asked.code)).toBe('pending')
    expect((await approve(asked.code, await session(withFactor(world, 590)))).status).toBe(200)
  })

  test('and denying at once, twenty times by two people, succeeds once', async () => {
    const asked = await ask()
    const other = await newMember(world, tenant)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 3 === 2 ? deny : approve)(asked.code, index % 2 ? person : other),
      ),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array(19).fill(409)])
  })

  test('of a code that does not exist is answered with 404', async () => {
    for (const answer of [await read('BBBB-BBBB'), await approve('BBBB-BBBB'), await deny('BBBB-BBBB')])
      expect(answer.status).toBe(404)
    expect((await poll('BBBB-BBBB')).status).toBe(404)
  })

  test('and denying are in the audit log of each organization of the person', async () => {
    const { body: second } = await world.call(orgs.create, { as: person.as, body: { name: 'Two', slug: 'two-trails' } })
    const [yes, no] = [await ask(), await ask()]
    await approve(yes.code)
    await deny(no.code)
    for (const [action, resourceId] of [
      ['cli_session.approved', yes.id],
      ['cli_session.denied', no.id],
    ] as const)
      for (const [orgId, as] of [
        [tenant.orgId, tenant.admin.as],
        [second.org.id, person.as],
      ] as const) {
        const list = await world.call(audit.list, { as, params: { orgId }, query: { action, resourceId } })
        expect(list.body.entries).toMatchObject([{ actorId: person.id, metadata: { deviceLabel: 'laptop' } }])
      }
  })

  test('by a person in no organization is recorded outside of all organizations', async () => {
    const alone = await newPerson(world, 'alone-cli@example.com')
    const { id } = await newCliSession(world, alone)
    const rows = await world.server.context.db.rows<{ orgId: string | null }>(
      `select org_id from audit_entries where action = 'cli_session.approved' and resource_id = $1`,
      [id],
    )
    expect(rows).toEqual([{ orgId: null }])
  })
})

describe('a login request', () => {
  const now = '2026-01-01T00:00:00.000Z'
  const request = (status: Status) => ({
    status: (status === 'expired' ? 'pending' : status) as Stored,
    expiresAt: status === 'expired' ? now : '2026-01-01T00:00:00.001Z',
  })
  const states: Status[] = ['pending', 'approved', 'denied', 'expired']
  const triggers: Trigger[] = ['approve', 'deny', 'time']
  const pairs = states.flatMap((from) => triggers.map((trigger) => [from, trigger] as const))

  test.each(pairs)('that is %s moves on the trigger %s where the table says, and nowhere else', (from, trigger) => {
    const to = loginLifecycle.moves.find(([state, by]) => state === from && by === trigger)?.[2]
    if (trigger === 'time') expect(statusOf({ ...request(from), expiresAt: now }, now)).toBe(to ?? from)
    else if (to) expect(decided(request(from), trigger, now)).toBe(to)
    else expect(() => decided(request(from), trigger, now)).toThrow(`the request is ${from}`)
  })

  /** How a request gets into each state. The tests then make every decision over HTTP. */
  const into: Record<Status, (code: string) => Promise<unknown>> = {
    pending: async () => {},
    approved: (code) => approve(code),
    denied: (code) => deny(code),
    expired: async () => world.clock.advance(601),
  }
  const sessionNow = async () => ({ ...person, as: await sessionOf(world, 'stately@example.com') })

  test.each(pairs.filter(([, trigger]) => trigger !== 'time') as [Status, 'approve' | 'deny'][])(
    'that is %s, on %s, answers 200 and the next state, or 409 without a change',
    async (from, decision) => {
      const asked = await ask()
      await into[from](asked.code)
      expect(await statusNow(asked.code)).toBe(from)
      const actor = await sessionNow()
      const answer = await (decision === 'approve' ? approve : deny)(asked.code, actor)
      const to = loginLifecycle.moves.find(([state, by]) => state === from && by === decision)?.[2]
      expect([answer.status, await statusNow(asked.code)]).toEqual(to ? [200, to] : [409, from])
      expect((await read(asked.code, actor)).body.request.status).toBe(to ?? from)
      expect((await whoAmI(asked.as)).status).toBe((to ?? from) === 'approved' ? 200 : 401)
    },
  )

  test('can be approved in the last second of its ten minutes, but not a second after them', async () => {
    const [early, late] = [await ask(), await ask()]
    world.clock.advance(300)
    const actor = await sessionNow()
    /** Moves the clock to `seconds` after the end of a request, however long the steps before took. */
    const toEndOf = ({ requestExpiresAt }: typeof early, seconds: number) =>
      world.clock.advance((Date.parse(requestExpiresAt) - world.clock.now().getTime()) / 1000 + seconds)
    toEndOf(early, -1)
    expect((await approve(early.code, actor)).status).toBe(200)
    toEndOf(late, 1)
    expect([(await approve(late.code, actor)).status, (await whoAmI(late.as)).status]).toEqual([409, 401])
    expect(await statusNow(early.code)).toBe('approved')
  })

  test('is deleted an hour after its end, but sessions and waiting requests stay', async () => {
    const actor = await sessionNow()
    const approved = await newCliSession(world, actor)
    const old = await ask()
    world.clock.advance(600 + 3601)
    const waiting = await ask()
    await sweepCliLogins(world.server.context)
    for (const { code } of [approved, old]) expect((await poll(code)).status).toBe(404)
    expect(await statusNow(waiting.code)).toBe('pending')
    expect((await whoAmI(approved.as)).status).toBe(200)
  })
})

describe('the bearer token', () => {
  const bearer = async (sub = 'bearer@example.com') => newCliSession(world, { as: await sessionOf(world, sub) })

  test('acts for a person, with the role of that person', async () => {
    const admin = await newMember(world, tenant, 'admin', { claims: { exp: 4_000_000_000 } })
    const session = await newCliSession(world, admin)
    const params = { orgId: tenant.orgId }
    expect((await world.call(orgs.get, { as: session.as, params })).body.org.role).toBe('admin')
    const renamed = await world.call(orgs.update, { as: session.as, params, body: { name: 'By CLI' } })
    expect(renamed.status).toBe(200)
    expect((await newToken(world, tenant)).id).toMatch(/^skt_/)
  })

  test('is valid only as a whole: with another id or with an extra character it is unknown', async () => {
    const { as } = await bearer()
    for (const changed of [`${as}x`, as.slice(0, -1), as.replace(/skc_\w{22}/, newId('cliSession'))])
      expect((await whoAmI(changed)).status).toBe(401)
    const id = newId('cliSession')
    const presented = `${newId('cliSession')}_${bearerSecret()}`
    const answer = await create({ sessionId: id, tokenHash: sha256(presented), deviceLabel: 'odd' })
    await approve(answer.body.code, { as: await sessionOf(world, 'bearer@example.com') })
    expect((await whoAmI(`Bearer ${presented}`)).status).toBe(401)
  })

  test('expires after 90 days', async () => {
    const { as } = await bearer()
    world.clock.advance(90 * 86_400 - 10)
    expect((await whoAmI(as)).status).toBe(200)
    world.clock.advance(11)
    expect((await whoAmI(as)).status).toBe(401)
  })
})
