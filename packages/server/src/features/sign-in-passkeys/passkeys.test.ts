import { limits } from '@skerry/contract/limits'
import { me } from '@skerry/contract/me/endpoints'
import { secondFactor } from '@skerry/contract/second-factor/endpoints'
import { signIn } from '@skerry/contract/sign-in/endpoints'
import { signInPasskeys } from '@skerry/contract/sign-in-passkeys/endpoints'
import { describe, expect, test } from 'vitest'
import { assert, newPasskey, type Passkey, register } from '../../../test/authenticator.ts'
import { browserOf, setUp, signInByLink } from '../../../test/people.ts'
import { openTenant } from '../../../test/scene.ts'
import { invitePerson } from '../../../test/tenant.ts'
import { builtIn } from '../../../test/world.ts'

const here = { origin: 'https://skerry.example', rpId: 'skerry.example' }
const { world, tenant } = await openTenant({ ...builtIn, SKERRY_BASE_URL: here.origin })
await setUp(world)
for (const email of ['ada@example.com', 'eve@example.com']) await invitePerson(world, tenant, email)
let ada = (await signInByLink(world, 'ada@example.com')).as
let eve = (await signInByLink(world, 'eve@example.com')).as
let passkey = newPasskey()

async function enroll(as: string, made: Passkey, where = here, label = 'a passkey') {
  const { body } = await world.call(signInPasskeys.options, { as })
  const response = register(made, body.options, where)
  return world.call(signInPasskeys.create, { as, body: { challengeId: body.challengeId, label, response } })
}

async function signInWith(held: Passkey, where = here, more = {}) {
  const { body } = await world.call(signIn.passkeyOptions)
  const response = assert(held, body.options, where, more)
  return world.call(signIn.passkey, { body: { challengeId: body.challengeId, response } })
}

async function stepUp(as: string, held: Passkey) {
  const { body } = await world.call(secondFactor.stepUpOptions, { as })
  const response = assert(held, body.options, here)
  return world.call(secondFactor.stepUp, { as, body: { passkey: { challengeId: body.challengeId, response } } })
}

describe('a passkey for signing in', () => {
  test('is enrolled with an answer to our challenge, and counts as a second factor just entered', async () => {
    const { status, body } = await enroll(ada, passkey)
    expect([status, body.passkey.credentialId]).toEqual([201, passkey.credentialId])
    const { session } = (await world.call(me.get, { as: ada })).body
    expect([session?.secondFactor, session?.mfaAt === null]).toEqual([true, false])
    expect((await world.call(signInPasskeys.list, { as: ada })).body.passkeys).toHaveLength(1)
  })

  test('signs its person in, with the second factor entered', async () => {
    const answer = await signInWith(passkey)
    expect(answer.status).toBe(200)
    expect(answer.body.session.mfaAt).not.toBeNull()
    const { user } = (await world.call(me.get, { as: browserOf(answer).as })).body
    expect(user?.email).toBe('ada@example.com')
  })

  test('does not sign in from a page of another site', async () => {
    const elsewhere = { origin: 'https://skerry.example.evil.example', rpId: 'skerry.example' }
    expect((await signInWith(passkey, elsewhere)).status).toBe(401)
    expect((await signInWith(passkey, { ...here, rpId: 'evil.example' })).status).toBe(401)
  })

  test('does not sign in unless it has verified its user', async () => {
    expect((await signInWith(passkey, here, { isVerified: false })).status).toBe(401)
  })

  test('does not sign in with the signature of another key', async () => {
    expect((await signInWith({ ...newPasskey(), credentialId: passkey.credentialId })).status).toBe(401)
    expect((await signInWith(newPasskey())).status).toBe(401)
  })

  test('can answer a challenge once, even if the answer is sent twenty times at once', async () => {
    const { body } = await world.call(signIn.passkeyOptions)
    const answer = { challengeId: body.challengeId, response: assert(passkey, body.options, here) }
    const all = await Promise.all(Array.from({ length: 20 }, () => world.call(signIn.passkey, { body: answer })))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('must answer a challenge within five minutes', async () => {
    const { body } = await world.call(signIn.passkeyOptions)
    world.clock.advance(limits.challengeTtlSeconds + 1)
    const answer = { challengeId: body.challengeId, response: assert(passkey, body.options, here) }
    expect((await world.call(signIn.passkey, { body: answer })).status).toBe(401)
  })

  test('does not answer a challenge that was given for another purpose', async () => {
    const as = browserOf(await signInWith(passkey)).as
    const { body } = await world.call(secondFactor.stepUpOptions, { as })
    const answer = { challengeId: body.challengeId, response: assert(passkey, body.options, here) }
    expect((await world.call(signIn.passkey, { body: answer })).status).toBe(401)
  })

  test('whose count of signatures goes back is refused as a copy', async () => {
    world.clock.advance(601)
    const counting = { ...passkey, signCount: 9 }
    expect((await signInWith(counting)).status).toBe(200)
    expect((await signInWith({ ...counting, signCount: 5 })).status).toBe(401)
    passkey = { ...counting, signCount: 10 }
    expect((await signInWith(passkey)).status).toBe(200)
    passkey.signCount = 11
  })

  test('belongs to one person: nobody else can enroll it or enter it as a second factor', async () => {
    eve = (await signInByLink(world, 'eve@example.com')).as
    expect((await enroll(eve, passkey)).error?.code).toBe('conflict')
    const own = newPasskey()
    expect((await enroll(eve, own)).status).toBe(201)
    expect((await stepUp(eve, passkey)).error?.code).toBe('forbidden')
    expect((await stepUp(eve, own)).status).toBe(200)
  })

  test('that answers wrongly two hundred times at once is checked thirty times for each IP address', async () => {
    world.clock.advance(601)
    const challengeId = (await world.call(signIn.passkeyOptions)).body.challengeId
    const response = assert(newPasskey(), { challenge: 'AAAA' }, here)
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => world.call(signIn.passkey, { body: { challengeId, response } })),
    )
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(30)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(170)
    world.clock.advance(601)
  })

  test('is removed by a person who has just entered the second factor, and then signs in no more', async () => {
    const fresh = (await signInWith(passkey)).body.session.token
    passkey.signCount++
    ada = (await signInByLink(world, 'ada@example.com')).as
    const { body } = await world.call(signInPasskeys.list, { as: `Bearer ${fresh}` })
    const params = { signInPasskeyId: body.passkeys[0]?.id as string }
    const remove = (as: string) => world.call(signInPasskeys.delete, { as, params })
    expect((await remove(ada)).error?.code).toBe('mfa_required')
    const other = (await signInByLink(world, 'eve@example.com')).as
    expect((await remove(other)).status).toBe(403)
    expect((await remove(`Bearer ${fresh}`)).status).toBe(200)
    expect((await remove(`Bearer ${fresh}`)).status).toBe(404)
    expect((await signInWith(passkey)).status).toBe(401)
  })

  test('can be enrolled ten times by a person, and not eleven', async () => {
    await invitePerson(world, tenant, 'many@example.com')
    const { as } = await signInByLink(world, 'many@example.com')
    const statuses = []
    for (let i = 0; i < limits.passkeysMax + 1; i++) statuses.push((await enroll(as, newPasskey())).status)
    expect(statuses).toEqual([...Array(limits.passkeysMax).fill(201), 409])
  })
})
