import { me } from '@skerry/contract/me/endpoints'
import { secondFactor } from '@skerry/contract/second-factor/endpoints'
import { afterAll, describe, expect, test } from 'vitest'
import { openWorld } from '../../test/world.ts'

// How the server uses what an external identity provider reports about a second factor.

const world = await openWorld()
afterAll(() => world.close())

const seconds = (offset = 0) => Math.floor(world.clock.now().getTime() / 1000) + offset
const present = async (claims: object) => {
  const as = `Bearer ${await world.issuer.token({ sub: 'someone', ...claims })}`
  const { body } = await world.call(me.get, { as })
  return { as, session: body.session }
}
const at = (time: number) => new Date(time * 1000).toISOString()

describe('an identity provider', () => {
  test.each(['mfa', 'otp', 'hwk', 'swk', 'pop', 'sms'])(
    'reports a second factor with amr %s, entered at auth_time',
    async (method) => {
      const time = seconds(-60)
      const { session } = await present({ amr: ['pwd', method], auth_time: time })
      expect(session).toEqual({ kind: 'browser', id: null, secondFactor: true, mfaAt: at(time) })
    },
  )

  test('reports with mfa_enrolled that there is one, and with mfa_time when it was entered', async () => {
    const time = seconds(-60)
    expect((await present({ mfa_enrolled: true })).session).toMatchObject({ secondFactor: true, mfaAt: null })
    expect((await present({ mfa_enrolled: true, mfa_time: time, auth_time: seconds() })).session).toMatchObject({
      secondFactor: true,
      mfaAt: at(time),
    })
  })

  test.each([
    ['a password alone', { amr: ['pwd'], auth_time: 1 }],
    ['amr that is not a list', { amr: 'mfa', auth_time: 1 }],
    ['mfa_enrolled as a string', { mfa_enrolled: 'true' }],
    ['no claims', {}],
  ])('reports no second factor with %s', async (_, claims) => {
    expect((await present(claims)).session).toMatchObject({ secondFactor: false, mfaAt: null })
  })

  test('cannot report a time in the future, which would count as fresh for too long', async () => {
    for (const mfa_time of [seconds(600), 1e300, -5, '1'])
      expect((await present({ mfa_enrolled: true, mfa_time })).session).toMatchObject({
        secondFactor: true,
        mfaAt: null,
      })
  })

  test('checks the factor itself, so a session without one is valid, but some endpoints require a fresh one', async () => {
    const { as } = await present({ mfa_enrolled: true })
    expect((await world.call(me.getKeys, { as })).status).toBe(200)
    expect((await world.call(secondFactor.removeTotp, { as })).error?.code).toBe('mfa_required')
    const fresh = await present({ amr: ['mfa'], auth_time: seconds(-590) })
    expect((await world.call(secondFactor.removeTotp, { as: fresh.as })).error?.code).toBe('not_found')
    const stale = await present({ amr: ['mfa'], auth_time: seconds(-610) })
    expect((await world.call(secondFactor.removeTotp, { as: stale.as })).error?.code).toBe('mfa_required')
  })
})
