import { audit } from '@skerry/contract/audit/endpoints'
import { limits } from '@skerry/contract/limits'
import { me } from '@skerry/contract/me/endpoints'
import { mfaPolicy, orgs } from '@skerry/contract/orgs/endpoints'
import { secondFactor } from '@skerry/contract/second-factor/endpoints'
import { sessions } from '@skerry/contract/sessions/endpoints'
import { Secret, TOTP } from 'otpauth'
import { describe, expect, test } from 'vitest'
import { setUp, signInByLink } from '../../../test/people.ts'
import { openTenant } from '../../../test/scene.ts'
import { newCliSession, newMember, signUp } from '../../../test/tenant.ts'
import { builtIn, openWorld } from '../../../test/world.ts'

const { world, tenant } = await openTenant(builtIn)
await setUp(world)

const email = 'first@example.com'
const signIn = () => signInByLink(world, email)
const orgId = (await world.call(me.get, { as: (await signIn()).as })).body.orgs[0]?.id as string
/** Moves the clock past the limit on tries, so that one test does not use up the tries of the next. */
const pause = () => world.clock.advance(901)
/** Moves the clock to the beginning of the next 30-second code. */
const toNextCode = () => world.clock.advance((30_001 - (world.clock.now().getTime() % 30_000)) / 1000)

const codeOf = (secret: string, offsetSeconds = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: world.clock.now().getTime() + offsetSeconds * 1000,
  })
const enter = (as: string, body: object) => world.call(secondFactor.stepUp, { as, body: { ...body } })
const factors = async (as: string) => (await world.call(secondFactor.get, { as })).body

async function enroll(as: string) {
  const begun = await world.call(secondFactor.enrollTotp, { as })
  expect(begun.status).toBe(201)
  const confirmed = await world.call(secondFactor.confirmTotp, { as, body: { code: codeOf(begun.body.secret) } })
  expect(confirmed.status).toBe(200)
  return { secret: begun.body.secret, recoveryCodes: confirmed.body.recoveryCodes }
}

/** Enrols an authenticator app, and signs in again, so that the factor has to be entered. */
async function withApp() {
  pause()
  const first = await signIn()
  if ((await factors(first.as)).totp) throw new Error('removed by the test before')
  const enrolled = await enroll(first.as)
  pause()
  const later = await signIn()
  return {
    ...enrolled,
    as: later.as,
    remove: async () => {
      await world.server.context.db.rows('delete from totp_factors')
      await world.server.context.db.rows('delete from recovery_codes')
    },
  }
}

describe('an authenticator app', () => {
  test('counts only after a code has confirmed it, and then as entered', async () => {
    const { as } = await signIn()
    const begun = await world.call(secondFactor.enrollTotp, { as })
    expect(begun.body.uri).toMatch(/^otpauth:\/\/totp\/Skerry:first%40example\.com\?/)
    expect(await factors(as)).toMatchObject({ enrolled: false, managed: true, totp: false, recoveryCodesLeft: 0 })
    const wrong = await world.call(secondFactor.confirmTotp, { as, body: { code: codeOf(begun.body.secret, 300) } })
    expect([wrong.status, wrong.error?.code]).toEqual([403, 'forbidden'])
    const { body } = await world.call(secondFactor.confirmTotp, { as, body: { code: codeOf(begun.body.secret) } })
    expect(new Set(body.recoveryCodes).size).toBe(limits.recoveryCodes)
    const after = await factors(as)
    expect(after).toMatchObject({ enrolled: true, totp: true, recoveryCodesLeft: 10 })
    expect(after.mfaAt).not.toBeNull()
    await world.server.context.db.rows('delete from totp_factors')
  })

  test('is entered by its code, which marks the session and gives a new token', async () => {
    const { as, secret, remove } = await withApp()
    expect((await world.call(me.get, { as })).body.session).toMatchObject({ secondFactor: true, mfaAt: null })
    const { status, body } = await enter(as, { code: codeOf(secret) })
    expect([status, body.session.mfaAt === null]).toEqual([200, false])
    const again = await world.call(me.get, { as: `Bearer ${body.session.token}` })
    expect(again.body.session?.mfaAt).toBe(body.session.mfaAt)
    await remove()
  })

  test('accepts the previous, the current and the next code, and no other', async () => {
    const { as, secret, remove } = await withApp()
    // The test starts at the beginning of a code’s 30 seconds, so that the accepted codes do not change while it runs.
    toNextCode()
    const results = []
    for (const offset of [-30, 0, 30, 60, -60]) {
      results.push((await enter(as, { code: codeOf(secret, offset) })).status)
    }
    expect(results).toEqual([200, 200, 200, 403, 403])
    await remove()
  })

  test('accepts each code once: not again, not an earlier one, and not two hundred at once', async () => {
    const { as, secret, remove } = await withApp()
    const now = codeOf(secret)
    const storm = await Promise.all(Array.from({ length: 200 }, () => enter(as, { code: now })))
    expect(storm.filter(({ status }) => status === 200)).toHaveLength(1)
    pause()
    const next = (await signIn()).as
    const before = codeOf(secret, -30)
    expect((await enter(next, { code: codeOf(secret) })).status).toBe(200)
    expect((await enter(next, { code: before })).status).toBe(403)
    await remove()
  })

  test('is stored encrypted', async () => {
    const { secret, remove } = await withApp()
    const rows = JSON.stringify(await world.server.context.db.rows('select * from totp_factors'))
    expect(rows).toContain('sk1.')
    for (const form of [secret, Buffer.from(Secret.fromBase32(secret).bytes).toString('base64url')])
      expect(rows).not.toContain(form)
    await remove()
  })
})

describe('guessing', () => {
  test('two hundred wrong codes at once: five are checked, and then the right one is refused too', async () => {
    const { as, secret, remove } = await withApp()
    const right = codeOf(secret)
    const wrong = right === '000000' ? '111111' : '000000'
    const answers = await Promise.all(Array.from({ length: 200 }, () => enter(as, { code: wrong })))
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(5)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(195)
    for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await enter(as, { code: right })).status).toBe(429)
    world.clock.advance(601)
    const again = (await signIn()).as
    expect((await enter(again, { code: codeOf(secret) })).status).toBe(200)
    await remove()
  })

  test('recovery codes and codes of the app share the five tries', async () => {
    const { as, recoveryCodes, remove } = await withApp()
    const guesses = Array.from({ length: 200 }, (_, i) =>
      i % 2 ? { code: '000000' } : { recoveryCode: 'AAAAA-AAAAA' },
    )
    const answers = await Promise.all(guesses.map((guess) => enter(as, guess)))
    expect(answers.filter(({ status }) => status === 403).length).toBeLessThanOrEqual(5)
    expect((await enter(as, { recoveryCode: recoveryCodes[0] })).status).toBe(429)
    await remove()
  })
})

describe('a recovery code', () => {
  test('works once in place of the app', async () => {
    const { as, recoveryCodes, remove } = await withApp()
    expect((await enter(as, { recoveryCode: recoveryCodes[3] })).status).toBe(200)
    expect((await enter(as, { recoveryCode: recoveryCodes[3] })).status).toBe(403)
    expect((await factors(as)).recoveryCodesLeft).toBe(9)
    await remove()
  })

  test('works once even if it is sent two hundred times at once', async () => {
    const { as, recoveryCodes, remove } = await withApp()
    const answers = await Promise.all(Array.from({ length: 200 }, () => enter(as, { recoveryCode: recoveryCodes[0] })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    await remove()
  })

  test('is replaced together with all others by a person who has just entered the second factor', async () => {
    const { as, secret, recoveryCodes, remove } = await withApp()
    const renew = () => world.call(secondFactor.renewRecoveryCodes, { as })
    expect((await renew()).error?.code).toBe('mfa_required')
    await enter(as, { code: codeOf(secret) })
    const { body } = await renew()
    expect(body.recoveryCodes).toHaveLength(10)
    expect((await enter(as, { recoveryCode: recoveryCodes[0] })).status).toBe(403)
    expect((await enter(as, { recoveryCode: body.recoveryCodes[0] })).status).toBe(200)
    await remove()
  })

  test('is not in the database', async () => {
    const { recoveryCodes, remove } = await withApp()
    const rows = JSON.stringify(await world.server.context.db.rows('select * from recovery_codes'))
    for (const code of recoveryCodes) expect(rows).not.toContain(code.slice(0, 5))
    await remove()
  })
})

describe('a second factor', () => {
  test('can be enrolled or removed only by a person who has just entered the existing one', async () => {
    const { as, secret } = await withApp()
    const attempts = [
      await world.call(secondFactor.enrollTotp, { as }),
      await world.call(secondFactor.removeTotp, { as }),
    ]
    expect(attempts.map(({ error }) => error?.code)).toEqual(['mfa_required', 'mfa_required'])
    await enter(as, { code: codeOf(secret) })
    expect((await world.call(secondFactor.enrollTotp, { as })).error?.code).toBe('conflict')
    world.clock.advance(601)
    const stale = (await signIn()).as
    expect((await world.call(secondFactor.removeTotp, { as: stale })).error?.code).toBe('mfa_required')
    expect((await enter(stale, { code: codeOf(secret) })).status).toBe(200)
    expect((await world.call(secondFactor.removeTotp, { as: stale })).status).toBe(200)
    expect(await factors(stale)).toMatchObject({ enrolled: false, totp: false, recoveryCodesLeft: 0 })
  })

  test('must be entered once in each session, before anything else', async () => {
    const { as, secret, remove } = await withApp()
    const ask = async () => [
      (await world.call(orgs.get, { as, params: { orgId } })).error?.code,
      (await world.call(me.getKeys, { as })).error?.code,
      (await world.call(sessions.list, { as })).error?.code,
    ]
    expect(await ask()).toEqual(['mfa_required', 'mfa_required', 'mfa_required'])
    await enter(as, { code: codeOf(secret) })
    expect(await ask()).toEqual([undefined, undefined, undefined])
    await remove()
  })

  test('is required before the names of organizations too, so a mailbox alone reveals none', async () => {
    const { as, secret, remove } = await withApp()
    const names = async () => (await world.call(me.get, { as })).body.orgs.map(({ id }) => id)
    expect(await names()).toEqual([])
    await enter(as, { code: codeOf(secret) })
    expect(await names()).toEqual([orgId])
    await remove()
  })

  test('that was removed no longer counts, in its session and in a terminal that was approved with it', async () => {
    const { as, secret } = await withApp()
    await enter(as, { code: codeOf(secret) })
    const terminal = await newCliSession(world, { as })
    const params = { orgId }
    const require = (required: boolean) => world.call(mfaPolicy.update, { as, params, body: { required } })
    const ask = async () =>
      Promise.all([as, terminal.as].map(async (bearer) => (await world.call(orgs.get, { as: bearer, params })).status))
    expect((await require(true)).status).toBe(200)
    expect(await ask()).toEqual([200, 200])
    await world.call(secondFactor.removeTotp, { as })
    expect(await ask()).toEqual([403, 403])
    expect((await require(false)).error?.code).toBe('mfa_required')
    await enroll(as)
    expect(await ask()).toEqual([200, 200])
    await require(false)
    await world.call(secondFactor.removeTotp, { as })
    expect((await require(true)).error?.code).toBe('mfa_required')
  })

  test('cannot be entered if there is none, and only one at a time', async () => {
    const { as } = await signIn()
    expect((await enter(as, { code: '000000' })).error?.code).toBe('conflict')
    expect((await enter(as, {})).status).toBe(400)
    expect((await enter(as, { code: '000000', recoveryCode: 'AAAAA-AAAAA' })).status).toBe(400)
  })

  test('is for people: a service token and a machine client are refused', async () => {
    for (const { as } of [tenant.admin, tenant.machine])
      expect((await world.call(secondFactor.get, { as })).status).toBe(403)
  })

  test('is recorded in the audit log of each organization of its person', async () => {
    const { as, secret, remove } = await withApp()
    await enter(as, { code: codeOf(secret) })
    const query = { action: 'user.totp_enrolled' }
    const { body } = await world.call(audit.list, { as, params: { orgId }, query })
    expect(body.entries.length).toBeGreaterThan(0)
    await remove()
  })
})

test('with an external issuer, which has the second factors, none can be enrolled here', async () => {
  const external = await openWorld()
  const member = await newMember(external, await signUp(external))
  const answers = [
    await external.call(secondFactor.enrollTotp, { as: member.as }),
    await external.call(secondFactor.stepUpOptions, { as: member.as }),
  ]
  expect(answers.map(({ error }) => error?.code)).toEqual(['conflict', 'conflict'])
  expect((await external.call(secondFactor.get, { as: member.as })).body.managed).toBe(false)
  await external.close()
})
