import { me } from '@skerry/contract/me/endpoints'
import { secondFactor } from '@skerry/contract/second-factor/endpoints'
import { afterAll, describe, expect, test } from 'vitest'
import { openWorld } from '../../test/world.ts'

// What an external issuer says of a second factor, and what is believed of it.

const world = await openWorld()
afterAll(() => world.close())

const seconds = (offset = 0) => Math.floor(world.clock.now().getTime() / 1000) + offset
const present = async (claims: object) => {
  const as = `Bearer ${await world.issuer.token({ sub: 'someone', ...claims })}`
  const { body } = await world.call(me.get, { as })
  return { as, session: body.session }
}
const at = (time: number) => new Date(time * 1000).toISOString()

describe('an issuer', () => {
  test.each(['mfa', 'otp', 'hwk', 'swk', 'pop', 'sms'])(
    'tells of a second factor by amr %s, entered at auth_time',
    async (method) => {
      const time = seconds(-60)
      const { session } = await present({ amr: ['pwd', method], auth_time: time })
      expect(session).toEqual({ kind: 'browser', id: null, secondFactor: true, mfaAt: at(time) })
    },
  )

  test('tells by mfa_enrolled that there is one, and by mfa_time when it was entered', async () => {
    const time = seconds(-60)
    expect((await present({ mfa_enrolled: true })).session).toMatchObject({ secondFactor: true, mfaAt: null })
    expect((await present({ mfa_enrolled: true, mfa_time: time, auth_time: seconds() })).session).toMatchObject({
      secondFactor: true,
      mfaAt: at(time),
    })
  })

  test.each([
    ['a password alone', { amr: ['pwd'], auth_time: 1 }],
    ['methods that are no list', { amr: 'mfa', auth_time: 1 }],
    ['mfa_enrolled as a text', { mfa_enrolled: 'true' }],
    ['nothing', {}],
  ])('tells of none by %s', async (_, claims) => {
    expect((await present(claims)).session).toMatchObject({ secondFactor: false, mfaAt: null })
  })

  test('is not believed an instant in the future, which would stay fresh for ever', async () => {
    for (const mfa_time of [seconds(600), 1e300, -5, '1'])
      expect((await present({ mfa_enrolled: true, mfa_time })).session).toMatchObject({
        secondFactor: true,
        mfaAt: null,
      })
  })

  test('asks for the second factor itself, so a session without it is whole; what asks for a fresh one still does', async () => {
    const { as } = await present({ mfa_enrolled: true })
    expect((await world.call(me.getKeys, { as })).status).toBe(200)
    expect((await world.call(secondFactor.removeTotp, { as })).error?.code).toBe('mfa_required')
    const fresh = await present({ amr: ['mfa'], auth_time: seconds(-590) })
    expect((await world.call(secondFactor.removeTotp, { as: fresh.as })).error?.code).toBe('not_found')
    const stale = await present({ amr: ['mfa'], auth_time: seconds(-610) })
    expect((await world.call(secondFactor.removeTotp, { as: stale.as })).error?.code).toBe('mfa_required')
  })
})
