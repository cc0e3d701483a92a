import { audit } from '@skerry/contract/audit/endpoints'
import { identityLinks } from '@skerry/contract/identity-links/endpoints'
import { cliSessions } from '@skerry/contract/me/cli-sessions'
import { me } from '@skerry/contract/me/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { secondFactor } from '@skerry/contract/second-factor/endpoints'
import { signIn } from '@skerry/contract/sign-in/endpoints'
import { signInPasskeys } from '@skerry/contract/sign-in-passkeys/endpoints'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { assert, newPasskey, register } from '../../../test/authenticator.ts'
import { publicKeyJwk, sealedPrivateKey } from '../../../test/blobs.ts'
import { browserOf, cookieOf, fromOwnPage, setUp } from '../../../test/people.ts'
import { Browser } from '../../../test/services/browser.ts'
import { client, type IdentityProvider, startProvider } from '../../../test/services/provider.ts'
import { type MailServer, startMailServer } from '../../../test/services/smtp.ts'
import { newCliSession } from '../../../test/tenant.ts'
import { totpCode } from '../../../test/totp.ts'
import { until } from '../../../test/until.ts'
import { builtIn, openWorld, start, type World } from '../../../test/world.ts'

// A server changes from the built-in sign-in to an issuer, to another issuer, and back. The issuers are real providers with
// their pages, which warn that they are for development.
for (const level of ['info', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => {})

const baseUrl = 'http://localhost:9'
const callback = `${baseUrl}/sign-in/external/callback`
let [one, two]: IdentityProvider[] = []
let mails: MailServer
let world: World
beforeAll(async () => {
  ;[one, two] = [await startProvider('ES256', { baseUrl }), await startProvider('ES256', { baseUrl })]
  mails = await startMailServer()
})
afterAll(async () => {
  for (const { close } of [one, two, mails] as { close: () => Promise<void> }[]) await close()
})

/** A server with the built-in sign-in, on which a test makes its people. */
async function open(): Promise<void> {
  world = await openWorld({ ...builtIn, SKERRY_BASE_URL: baseUrl, SKERRY_SMTP_URL: mails.url })
}
afterEach(async () => {
  await world.server.context.mailer.close()
  await world.close()
})

/** Starts the same server and data with another sign-in; undefined means the built-in one. */
async function changeTo(provider?: IdentityProvider): Promise<void> {
  const { config, mailer } = world.server.context
  await world.server.close()
  await mailer.close()
  const oidc = provider && { issuer: provider.url, audience: client.id, clientId: client.id, clientSecret: null }
  world.server = await start({ ...config, oidc: oidc ?? null }, world.log, world.clock.now)
  world.url = world.server.url
}

const go = (path: string, cookie = '') => fetch(`${world.url}${path}`, { redirect: 'manual', headers: { cookie } })

/** Signs in at the issuer and comes back. Returns where the browser is sent, and the cookie that it got. */
async function comeBack(login: string, query = '') {
  const begun = await go(`/sign-in/external${query}`)
  const browser = new Browser()
  const page = await browser.open(begun.headers.get('location') as string, callback)
  const consent = await browser.submit(page, { login, password: 'any' }, callback)
  const back = new URL((consent.url.startsWith(callback) ? consent : await browser.submit(consent, {}, callback)).url)
  const answer = await go(back.pathname + back.search, cookieOf(begun.headers))
  const [, line] = answer.headers.getSetCookie()
  return { to: answer.headers.get('location'), cookie: line?.split(';')[0] as string, line }
}

const asked = '/sign-in/identity'
/** A call of a page of this server, with the cookie of a browser. */
const from = (cookie: string) => ({ headers: { cookie, ...fromOwnPage } })

const textOf = ({ source }: { source: string }) => source.replaceAll('=\n', '').replaceAll('=3D', '=')
const mailsTo = (email: string) => mails.received.filter(({ to }) => to.includes(email)).map(textOf)
/** Asks for a confirmation in a browser, and returns the token from the mail. */
async function askForMail(cookie: string, email: string): Promise<string> {
  const before = mailsTo(email).length
  const answer = await world.call(identityLinks.requestMail, from(cookie))
  expect(answer.error).toBeUndefined()
  // The notice about an earlier link may arrive meanwhile.
  const received = () => mailsTo(email).slice(before).join('\n')
  return until('the mail', () => /\/sign-in\/identity#([\w-]{43})\s/.exec(received())?.[1])
}
const confirm = (cookie: string, token: string) =>
  world.call(identityLinks.confirm, { ...from(cookie), body: { token } })
const enterFactor = (cookie: string, body: object) =>
  world.call(identityLinks.enterSecondFactor, { ...from(cookie), body: { ...body } })

const bearer = (answer: { body: { session: { token: string } | null } }) => `Bearer ${answer.body.session?.token}`
const whoIs = async (as: string) => (await world.call(me.get, { as })).body
const signedInAs = async (cookie: string) => {
  const answer = await world.call(signIn.refresh, from(cookie))
  return whoIs(bearer(answer))
}
const idOf = async (as: string) => (await whoIs(as)).user?.id as string

/** The first person, with a keyring. */
async function firstPerson(email = 'ada@example.com') {
  const first = await setUp(world, email)
  const keys = { publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() }
  expect((await world.call(me.putKeys, { as: first.as, body: keys })).status).toBe(200)
  return { ...first, email, keys, id: await idOf(first.as) }
}

async function enrollTotp(as: string) {
  const { secret } = (await world.call(secondFactor.enrollTotp, { as })).body
  const code = totpCode(secret, world.clock.now())
  const { recoveryCodes } = (await world.call(secondFactor.confirmTotp, { as, body: { code } })).body
  return { secret, recoveryCodes }
}

const provider = () => one as IdentityProvider

describe('a person who comes from the new issuer', () => {
  test('confirms by mail and stays who they were, with memberships, keys and sessions', async () => {
    await open()
    const ada = await firstPerson()
    const cli = await newCliSession(world, ada)
    await changeTo(provider())
    expect((await world.call(me.get, { as: cli.as })).status).toBe(401)
    const { to, cookie, line } = await comeBack('ada@example.com', '?returnTo=/account/keyring')
    expect([to, line]).toEqual([asked, expect.stringMatching(/^skerry-identity=.*; HttpOnly; SameSite=Strict$/)])
    const { link } = (await world.call(identityLinks.get, from(cookie))).body
    expect(link).toMatchObject({ issuer: provider().url, email: ada.email, name: 'ada', secondFactor: null })
    const answer = await confirm(cookie, await askForMail(cookie, ada.email))
    expect(answer.body).toMatchObject({ secondFactor: null, returnTo: '/account/keyring' })
    const now = await whoIs(bearer(answer))
    expect([now.user?.id, now.user?.publicKeyJwk]).toEqual([ada.id, ada.keys.publicKeyJwk])
    expect(now.orgs.map(({ slug, role }) => [slug, role])).toEqual([['first', 'owner']])
    expect((await world.call(me.get, { as: cli.as })).status).toBe(200)
    expect((await world.call(cliSessions.list, { as: bearer(answer) })).body.sessions).toHaveLength(1)
    const told = await until('the notice', () => mailsTo(ada.email).find((text) => text.includes('has a new sign-in')))
    expect(told).toContain(`You now sign in to Skerry at ${provider().url}.`)
    // From now on the issuer's sign-in is enough.
    expect((await signedInAs((await comeBack('ada@example.com')).cookie)).user?.id).toBe(ada.id)
    const params = { orgId: now.orgs[0]?.id as string }
    const { entries } = (
      await world.call(audit.list, { as: bearer(answer), params, query: { action: 'user.identity_linked' } })
    ).body
    expect(entries).toMatchObject([
      {
        actorType: 'user',
        actorId: ada.id,
        resourceId: ada.id,
        metadata: { issuer: provider().url, formerIssuer: 'skerry', mergedUserId: null },
      },
    ])
  })

  test('has no session before the answer, and nothing of the account', async () => {
    await open()
    const ada = await firstPerson()
    await changeTo(provider())
    const { cookie } = await comeBack(ada.email)
    expect((await world.call(signIn.refresh, from(cookie))).status).toBe(401)
    await askForMail(cookie, ada.email)
    expect((await world.call(signIn.refresh, from(cookie))).status).toBe(401)
    const people = await world.server.context.db.rows('select id, issuer from users')
    expect(people).toEqual([{ id: ada.id, issuer: 'skerry' }])
  })

  test('becomes another person by saying that the account is not theirs', async () => {
    await open()
    const ada = await firstPerson()
    await changeTo(provider())
    const { cookie } = await comeBack(ada.email, '?returnTo=/account/keyring')
    const answer = await world.call(identityLinks.decline, from(cookie))
    expect(answer.body.returnTo).toBe('/account/keyring')
    const separate = await whoIs(bearer(answer))
    expect(separate.user?.id).not.toBe(ada.id)
    expect(separate.orgs).toEqual([])
    expect((await confirm(cookie, 'A'.repeat(43))).status).toBe(401)
  })

  test('who became a separate person without memberships and keys is asked again and becomes the first one', async () => {
    await open()
    const ada = await firstPerson()
    await changeTo(provider())
    const before = await comeBack(ada.email)
    const separate = await world.call(identityLinks.decline, from(before.cookie))
    const separateId = await idOf(bearer(separate))
    const { to, cookie } = await comeBack(ada.email)
    expect(to).toBe(asked)
    const answer = await confirm(cookie, await askForMail(cookie, ada.email))
    expect(await idOf(bearer(answer))).toBe(ada.id)
    expect((await world.call(me.get, { as: bearer(separate) })).status).toBe(401)
    expect(await world.server.context.db.rows('select id from users where id = $1', [separateId])).toEqual([])
  })

  test('who became a separate person with an organization is not merged, and the error names the operator’s command', async () => {
    await open()
    const ada = await firstPerson()
    await changeTo(provider())
    const separate = await world.call(identityLinks.decline, from((await comeBack(ada.email)).cookie))
    const { cookie } = await comeBack(ada.email)
    const body = { name: 'Own', slug: 'own' }
    expect((await world.call(orgs.create, { as: bearer(separate), body })).status).toBe(201)
    const { status, error } = await confirm(cookie, await askForMail(cookie, ada.email))
    expect([status, error?.message]).toEqual([409, expect.stringContaining('skerry-server people link')])
    // The person is not asked again.
    expect((await comeBack(ada.email)).to).toBe('/')
  })

  test('whose address two people have is not asked to confirm, because nobody can tell which one it is', async () => {
    await open()
    const ada = await firstPerson()
    await world.server.context.db.rows(
      `insert into users (id, issuer, subject, email, verified_email, public_key_jwk, created_at)
       select 'usr_0000000000000000000000', 'https://before.example', 'ada', email, verified_email, public_key_jwk, now()
         from users where id = $1`,
      [ada.id],
    )
    await changeTo(provider())
    expect((await comeBack(ada.email)).to).toBe('/')
  })
})

describe('the second factor of the existing account', () => {
  test('is required after the mail, and a recovery code is accepted', async () => {
    await open()
    const ada = await firstPerson()
    const { secret, recoveryCodes } = await enrollTotp(ada.as)
    await changeTo(provider())
    const { cookie } = await comeBack(ada.email)
    // Before the mail, a second factor is refused without a check.
    const early = await enterFactor(cookie, { recoveryCode: recoveryCodes[0] })
    expect([early.status, early.error?.code]).toEqual([409, 'conflict'])
    const token = await askForMail(cookie, ada.email)
    const half = await confirm(cookie, token)
    expect(half.body).toEqual({ session: null, secondFactor: { totp: true, passkeys: false }, returnTo: '/' })
    expect(half.headers.getSetCookie()).toEqual([])
    expect((await world.call(identityLinks.get, from(cookie))).body.link?.secondFactor).toEqual({
      totp: true,
      passkeys: false,
    })
    // The mail alone links nothing, even if its token is sent again.
    expect((await confirm(cookie, token)).status).toBe(401)
    expect(await world.server.context.db.rows('select issuer from users')).toEqual([{ issuer: 'skerry' }])
    const wrong = await enterFactor(cookie, { code: totpCode(secret, new Date(0)) })
    expect([wrong.status, wrong.error?.code]).toEqual([403, 'forbidden'])
    const answer = await enterFactor(cookie, { recoveryCode: recoveryCodes[0] })
    expect(await idOf(bearer(answer))).toBe(ada.id)
    expect((await enterFactor(cookie, { recoveryCode: recoveryCodes[1] })).status).toBe(401)
  })

  test('can be guessed at most five times', async () => {
    await open()
    const ada = await firstPerson()
    await enrollTotp(ada.as)
    await changeTo(provider())
    const { cookie } = await comeBack(ada.email)
    await confirm(cookie, await askForMail(cookie, ada.email))
    const tries = []
    for (let turn = 0; turn < 6; turn++) tries.push((await enterFactor(cookie, { recoveryCode: 'AAAAA-AAAAA' })).status)
    expect(tries).toEqual([403, 403, 403, 403, 403, 429])
  })

  test('may be a passkey of the built-in sign-in', async () => {
    await open()
    const ada = await firstPerson()
    const here = { origin: baseUrl, rpId: 'localhost' }
    const passkey = newPasskey()
    const enrolling = (await world.call(signInPasskeys.options, { as: ada.as })).body
    const made = register(passkey, enrolling.options, here)
    const body = { challengeId: enrolling.challengeId, label: 'Laptop', response: made }
    expect((await world.call(signInPasskeys.create, { as: ada.as, body })).status).toBe(201)
    await changeTo(provider())
    const { cookie } = await comeBack(ada.email)
    expect((await world.call(identityLinks.passkeyOptions, from(cookie))).status).toBe(409)
    const half = await confirm(cookie, await askForMail(cookie, ada.email))
    expect(half.body.secondFactor).toEqual({ totp: false, passkeys: true })
    const { challengeId, options } = (await world.call(identityLinks.passkeyOptions, from(cookie))).body
    const response = assert(passkey, options, here)
    expect(await idOf(bearer(await enterFactor(cookie, { passkey: { challengeId, response } })))).toBe(ada.id)
  })
})

describe('an attacker', () => {
  test('whose account at the identity provider has the unverified address does not become the person', async () => {
    await open()
    await firstPerson('unverified-ada@example.com')
    await changeTo(provider())
    const { to, cookie } = await comeBack('unverified-ada@example.com')
    expect(to).toBe('/')
    expect((await signedInAs(cookie)).orgs).toEqual([])
  })

  test('with the verified address, but without access to the mailbox, links nothing', async () => {
    await open()
    const ada = await firstPerson()
    await changeTo(provider())
    const { cookie } = await comeBack(ada.email)
    await askForMail(cookie, ada.email)
    const { status, error } = await confirm(cookie, 'A'.repeat(43))
    expect([status, error?.message]).toEqual([401, 'this link has expired or was already used; ask for a new one'])
    expect(await world.server.context.db.rows('select issuer from users')).toEqual([{ issuer: 'skerry' }])
  })

  test('who makes the person open the mailed link in another browser links nothing', async () => {
    await open()
    const ada = await firstPerson()
    await changeTo(provider())
    const attacker = await comeBack(ada.email)
    const token = await askForMail(attacker.cookie, ada.email)
    const victim = await comeBack(ada.email)
    for (const cookie of ['', 'skerry-identity=', `skerry-identity=${'A'.repeat(43)}`]) {
      const { status, error } = await confirm(cookie, token)
      expect([status, error?.message]).toEqual([401, expect.stringContaining('this browser has no sign-in to confirm')])
    }
    // The browser of the person waits for a mail of its own.
    expect((await confirm(victim.cookie, token)).status).toBe(401)
    expect(await world.server.context.db.rows('select issuer from users')).toEqual([{ issuer: 'skerry' }])
  })

  test('on a page of another site cannot use the person’s cookie', async () => {
    await open()
    const ada = await firstPerson()
    await changeTo(provider())
    const { cookie } = await comeBack(ada.email)
    const token = await askForMail(cookie, ada.email)
    const headers = { cookie, 'sec-fetch-site': 'cross-site' }
    const answers = [
      await world.call(identityLinks.confirm, { headers, body: { token } }),
      await world.call(identityLinks.decline, { headers }),
      await world.call(identityLinks.requestMail, { headers }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403])
  })

  test('with the token and cookie of a finished confirmation starts no second session', async () => {
    await open()
    const ada = await firstPerson()
    await changeTo(provider())
    const { cookie } = await comeBack(ada.email)
    const token = await askForMail(cookie, ada.email)
    const answers = await Promise.all([confirm(cookie, token), confirm(cookie, token), confirm(cookie, token)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401])
    expect((await confirm(cookie, token)).status).toBe(401)
    expect((await world.call(identityLinks.decline, from(cookie))).status).toBe(401)
  })

  test('with a link that has expired or was replaced links nothing', async () => {
    await open()
    const ada = await firstPerson()
    await changeTo(provider())
    const { cookie } = await comeBack(ada.email)
    const first = await askForMail(cookie, ada.email)
    const second = await askForMail(cookie, ada.email)
    expect((await confirm(cookie, first)).status).toBe(401)
    world.clock.advance(901)
    expect((await confirm(cookie, second)).status).toBe(401)
    const third = await askForMail(cookie, ada.email)
    world.clock.advance(2700)
    expect((await confirm(cookie, third)).error?.message).toContain('this browser has no sign-in to confirm')
  })

  test('whose account at the identity provider is named like a link sends no mail with that link', async () => {
    await open()
    const ada = await firstPerson()
    await changeTo(provider())
    const { cookie } = await comeBack(ada.email)
    await world.server.context.db.rows(`update identity_links set name = 'Confirm at https://evil.example/'`)
    await askForMail(cookie, ada.email)
    const [mail = ''] = mailsTo(ada.email).slice(-1)
    expect(mail).toContain(`with your address ${ada.email}.`)
    expect(mail).not.toContain('evil.example')
  })

  test('cannot fill the mailbox', async () => {
    await open()
    const ada = await firstPerson()
    await changeTo(provider())
    const { cookie } = await comeBack(ada.email)
    const statuses = []
    for (let turn = 0; turn < 6; turn++)
      statuses.push((await world.call(identityLinks.requestMail, from(cookie))).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  })

  test('with the person’s address in capital letters must confirm it by mail, and gets no further', async () => {
    await open()
    const ada = await firstPerson()
    await changeTo(provider())
    const { to, cookie } = await comeBack('ADA@Example.com')
    expect(to).toBe(asked)
    expect((await confirm(cookie, 'A'.repeat(43))).status).toBe(401)
    const token = await askForMail(cookie, ada.email)
    expect(await idOf(bearer(await confirm(cookie, token)))).toBe(ada.id)
    // Subjects are compared exactly: the one in capitals is linked, the other is not.
    const other = await comeBack(ada.email)
    expect(other.to).toBe('/')
    expect((await signedInAs(other.cookie)).user?.id).not.toBe(ada.id)
  })

  test('with a sign-in at the former identity provider links nothing after another one was configured', async () => {
    await open()
    const ada = await firstPerson()
    await changeTo(provider())
    const { cookie } = await comeBack(ada.email)
    const token = await askForMail(cookie, ada.email)
    await changeTo(two)
    expect((await world.call(identityLinks.get, from(cookie))).body.link).toBeNull()
    for (const answer of [await confirm(cookie, token), await world.call(identityLinks.decline, from(cookie))])
      expect([answer.status, answer.error?.message]).toEqual([
        401,
        expect.stringContaining('this browser has no sign-in to confirm'),
      ])
    expect(await world.server.context.db.rows('select issuer from users')).toEqual([{ issuer: 'skerry' }])
  })
})

describe('after another change', () => {
  test('of the issuer the same person confirms again, and sessions of the former issuer end', async () => {
    await open()
    const ada = await firstPerson()
    await changeTo(provider())
    const linking = await comeBack(ada.email)
    const first = await confirm(linking.cookie, await askForMail(linking.cookie, ada.email))
    const cli = await newCliSession(world, { as: bearer(first) })
    await changeTo(two)
    const { to, cookie } = await comeBack(ada.email)
    expect(to).toBe(asked)
    const answer = await confirm(cookie, await askForMail(cookie, ada.email))
    expect(await idOf(bearer(answer))).toBe(ada.id)
    for (const as of [bearer(first), cli.as]) expect((await world.call(me.get, { as })).status).toBe(401)
  })

  test('to the built-in sign-in the mailed link finds the same person, who enters the second factor', async () => {
    await open()
    const ada = await firstPerson()
    const { recoveryCodes } = await enrollTotp(ada.as)
    await changeTo(provider())
    const { cookie } = await comeBack(ada.email)
    await confirm(cookie, await askForMail(cookie, ada.email))
    expect((await enterFactor(cookie, { recoveryCode: recoveryCodes[0] })).status).toBe(200)
    await changeTo()
    const before = mailsTo(ada.email).length
    await world.call(signIn.requestLink, { body: { email: ada.email } })
    const token = await until('the mail', () =>
      mailsTo(ada.email)
        .slice(before)
        .map((text) => /\/sign-in\/link#([\w-]{43})\s/.exec(text)?.[1])
        .find((found) => found !== undefined),
    )
    const { as } = browserOf(await world.call(signIn.redeemLink, { body: { token } }))
    expect(await idOf(as)).toBe(ada.id)
    const notice = 'You now sign in to Skerry with a link to this address.'
    await until('the notice', () => mailsTo(ada.email).find((text) => text.includes(notice)))
    expect((await world.call(me.getKeys, { as })).error?.code).toBe('mfa_required')
    expect((await world.call(secondFactor.stepUp, { as, body: { recoveryCode: recoveryCodes[1] } })).status).toBe(200)
    expect((await whoIs(as)).orgs).toHaveLength(1)
  })
})

test('waiting sign-ins are deleted when they expire, and no token is in the database or the log', async () => {
  await open()
  const ada = await firstPerson()
  await changeTo(provider())
  const { cookie } = await comeBack(ada.email)
  const token = await askForMail(cookie, ada.email)
  const { db } = world.server.context
  const stored = JSON.stringify([await db.rows('select * from identity_links'), await db.rows('select data from jobs')])
  for (const secret of [token, cookie.split('=')[1] as string]) {
    expect(stored).not.toContain(secret)
    expect(world.log.join('')).not.toContain(secret)
  }
  const { jobs } = await import('./jobs.ts')
  world.clock.advance(3601)
  await jobs.find(({ name }) => name === 'identity_links.sweep')?.run(world.server.context, {} as never)
  expect(await db.rows('select 1 from identity_links')).toEqual([])
})
