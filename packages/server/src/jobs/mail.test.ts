import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { invites } from '@skerry/contract/members/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../test/services/free-port.ts'
import { type MailServer, startMailServer, textOf } from '../../test/services/smtp.ts'
import { mailsWritten } from '../../test/state.ts'
import { newMember, signUp, type Tenant } from '../../test/tenant.ts'
import { until } from '../../test/until.ts'
import { builtIn, openWorld, type World } from '../../test/world.ts'
import { mail as mailJob } from '../features/notifications/jobs.ts'
import { signInLink } from '../features/sign-in/jobs.ts'
import { listDeadLetters, retryDeadLetters } from './dead-letters.ts'
import { ordinaryMailsAtOnce } from './mail.ts'

const invite = (world: World, tenant: Tenant, email: string) =>
  world.call(invites.create, { as: tenant.admin.as, params: { orgId: tenant.orgId }, body: { email } })

const headersOf = (source: string) =>
  source
    .slice(0, source.indexOf('\n\n'))
    .replace(/\n[ \t]+/g, ' ')
    .split('\n')

describe('with an SMTP server', () => {
  let mails: MailServer
  let world: World
  let tenant: Tenant
  beforeAll(async () => {
    mails = await startMailServer()
    world = await openWorld({
      SKERRY_SMTP_URL: mails.url,
      SKERRY_MAIL_FROM: 'Skerry <secrets@skerry.example>',
      SKERRY_BASE_URL: 'https://skerry.example/',
    })
    tenant = await signUp(world)
  })
  afterAll(async () => {
    await world.close()
    await mails.close()
  })
  const mailTo = (address: string) =>
    until(`a mail to ${address}`, () => mails.received.find(({ to }) => to.includes(address)))

  test('an invitation is mailed to its address, with the organization, the server and the expiry date', async () => {
    await world.call(orgs.update, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId },
      body: { name: 'Acme & Søns <Ltd>' },
    })
    const { body } = await invite(world, tenant, 'Guest@Example.com')
    const { from, to, source } = await mailTo('guest@example.com')
    expect([from, to]).toEqual(['secrets@skerry.example', ['guest@example.com']])
    expect(headersOf(source)).toContain('From: Skerry <secrets@skerry.example>')
    const text = textOf(source)
    expect(text).toContain('“Acme & Søns <Ltd>”')
    expect(text).toContain(
      `at https://skerry.example, and accept the invitation. It expires on ${body.invite.expiresAt.slice(0, 10)}`,
    )
  })

  test('an invitation by an organization that a program signed up has a fixed subject, and links only to this server', async () => {
    const phishing = await signUp(world)
    const name = 'Your bank: verify at https://evil.example/x or www。evil．example, mallory@evil.example'
    await world.call(orgs.update, { as: phishing.admin.as, params: { orgId: phishing.orgId }, body: { name } })
    await invite(world, phishing, 'victim@example.com')
    const { source } = await mailTo('victim@example.com')
    expect(headersOf(source)).toContain('Subject: You are invited to an organization on Skerry')
    const text = textOf(source)
    expect(text).toContain('“Your bank: verify at https ')
    expect(text).not.toMatch(/evil[.。．]example|@evil|https:\/\/(?!skerry\.example)/)
  })

  test('a mail that the SMTP server rejects is sent again later, and arrives once', async () => {
    mails.turnAway = 1
    await invite(world, tenant, 'later@example.com')
    await until(
      'the first attempt',
      () => mails.turnAway === 0 && world.log.some((line) => line.includes('job failed')),
    )
    await endPause(world)
    await mailTo('later@example.com')
    expect(mails.received.filter(({ to }) => to.includes('later@example.com'))).toHaveLength(1)
  })

  test('a failed mail is logged without its address and text', async () => {
    const lines = world.log.filter((line) => line.includes('job failed'))
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) expect(line).not.toMatch(/example\.com|invited/)
  })

  test('a text that a mail header would read as several addresses is refused', async () => {
    for (const email of ['x<mallory@example.com>', 'victim@example.com,mallory.example', 'x:mallory@example.com;'])
      expect((await invite(world, tenant, email)).status).toBe(400)
    const { context } = world.server
    const send = mailJob.run(context, { to: 'x, mallory@example.com', subject: 'A subject', text: 'A text' })
    await expect(send).rejects.toThrow()
    expect(mails.received.flatMap(({ to }) => to)).not.toContain('mallory@example.com')
  })

  test('the name of an organization cannot add a mail header, because the server refuses line breaks in it', async () => {
    const params = { orgId: tenant.orgId }
    for (const name of ['Acme\r\nBcc: mallory@example.com', 'Acme\nBcc: mallory@example.com'])
      expect((await world.call(orgs.update, { as: tenant.admin.as, params, body: { name } })).status).toBe(400)
    const lineSeparator = 'Acme\u2028Bcc: mallory@example.com'
    await world.call(orgs.update, { as: tenant.admin.as, params, body: { name: lineSeparator } })
    await invite(world, tenant, 'header@example.com')
    const { to, source } = await mailTo('header@example.com')
    expect(to).toEqual(['header@example.com'])
    expect(headersOf(source).filter((line) => /^bcc:/i.test(line))).toEqual([])
  })

  test('a mail is sent only if its transaction was committed', async () => {
    const { queue, db } = world.server.context
    const mail = (to: string) => ({ to, subject: 'A subject', text: 'A text' })
    const undone = db.transaction(async (tx) => {
      await queue.enqueue(tx, mailJob, mail('undone@example.com'))
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    await db.transaction((tx) => queue.enqueue(tx, mailJob, mail('done@example.com')))
    await mailTo('done@example.com')
    expect(mails.received.flatMap(({ to }) => to)).not.toContain('undone@example.com')
  })

  test('a refused invitation sends no mail', async () => {
    await invite(world, tenant, 'twice@example.com')
    expect((await invite(world, tenant, 'twice@example.com')).status).toBe(409)
    await mailTo('twice@example.com')
    await invite(world, tenant, 'last@example.com')
    await mailTo('last@example.com')
    expect(mails.received.filter(({ to }) => to.includes('twice@example.com'))).toHaveLength(1)
  })
})

/** Makes jobs due that wait for their retry. */
const endPause = ({ server }: World) =>
  server.context.db.foreign(`update jobs set due_at = now() where state = 'waiting' and attempts > 0`)

describe('while two hundred invitations wait', () => {
  const count = 200
  const invited = { inviteId: 'inv_x', orgName: 'Acme', expiresAt: '2026-01-02T03:04:05.000Z' }
  const subjectOf = ({ source }: { source: string }) => /^Subject: (.*)$/m.exec(source)?.[1] ?? ''

  test('a sign-in link is sent at once, and an alarm among the next mails', async () => {
    const mails = await startMailServer()
    const world = await openWorld({ SKERRY_SMTP_URL: mails.url })
    const tenant = await signUp(world)
    await newMember(world, tenant, 'admin', { email: 'alarmed@example.com' })
    await invite(world, tenant, 'welcome@example.com')
    await mailsWritten(world)
    mails.received.length = 0
    mails.hold()
    const { context } = world.server
    await context.db.transaction(async (tx) => {
      for (let number = 0; number < count; number++)
        await context.events.emit(tx, 'invite.created', tenant.orgId, {
          ...invited,
          email: `guest-${number}@example.com`,
        })
    })
    await until('mails on their way', () => mails.held.length === ordinaryMailsAtOnce)

    await context.queue.enqueue(context.db, signInLink, { email: 'welcome@example.com', returnTo: null })
    context.queue.nudge(signInLink)
    await until('the link', () => mails.held.some((mail) => subjectOf(mail) === 'Sign in to Skerry'))
    expect(mails.received).toEqual([])

    const facts = { tokenId: 'skt_x', at: '2026-01-02T03:04:05.000Z', ipAddress: null, userAgent: null }
    await context.events.emit(context.db, 'honey_token.tripped', tenant.orgId, facts)
    await until('the alarm waits', async () =>
      context.db.row(`select 1 from jobs where name = 'mail' and due_at = '-infinity'`),
    )
    await until('the invitations wait, too', async () => {
      const waiting = `select count(*)::int as n from jobs where name = 'mail' and state = 'waiting' and due_at > '-infinity'`
      return (await context.db.row<{ n: number }>(waiting))?.n === count - ordinaryMailsAtOnce
    })
    mails.release()
    await until('all mails', () => mails.received.length === count + 2, 60_000)
    const onTheirWay = ordinaryMailsAtOnce + 1
    const place = mails.received.findIndex((mail) => subjectOf(mail).startsWith('Somebody used a decoy token'))
    expect(place).toBeGreaterThanOrEqual(onTheirWay)
    expect(place).toBeLessThan(onTheirWay + ordinaryMailsAtOnce)
    await world.close()
    await mails.close()
  })
})

describe('an SMTP server that is down', () => {
  test('leaves a failed sign-in mail without its link to the operator, and a retry sends a new link', async () => {
    const port = await freePort()
    const world = await openWorld({ ...builtIn, SKERRY_SMTP_URL: `smtp://127.0.0.1:${port}` })
    const email = 'stuck@example.com'
    await invite(world, await signUp(world), email)
    const { db, queue } = world.server.context
    await db.transaction(async (tx) => {
      await queue.enqueue(tx, signInLink, { email, returnTo: '/orgs/acme' })
      await tx.rows(`update jobs set attempts = 100 where name = 'sign_in.link' and state = 'waiting'`)
    })
    queue.nudge(signInLink)
    const deadLinks = async () => (await listDeadLetters(db)).filter(({ job }) => job === 'sign_in.link')
    await until('it to be kept', async () => (await deadLinks()).length === 1)
    const [dead] = await deadLinks()
    expect(dead).toMatchObject({ data: { email, returnTo: '/orgs/acme' }, error: { code: 'ESOCKET' } })
    expect(Object.keys(dead?.data ?? {}).sort()).toEqual(['email', 'returnTo'])
    const mails = await startMailServer({ port })
    await retryDeadLetters(db, [dead?.id as string])
    queue.nudge(signInLink)
    const sent = await until('the link', () =>
      mails.received.find(({ to, source }) => to.includes(email) && source.includes('Subject: Sign in to Skerry')),
    )
    expect(textOf(sent.source)).toContain('/sign-in')
    await world.close()
    await mails.close()
  })

  test('does not prevent the invitation, and gets the mail when it is back', async () => {
    const port = await freePort()
    const world = await openWorld({ SKERRY_SMTP_URL: `smtp://127.0.0.1:${port}` })
    const tenant = await signUp(world)
    expect((await invite(world, tenant, 'patient@example.com')).status).toBe(201)
    await until('an attempt', () => world.log.some((line) => line.includes('job failed')))
    // The failure is logged first. Then the job is put back into the queue.
    await until('it to wait for another', async () => {
      const [waiting] = await world.server.context.db.foreign<{ n: number }>(
        `select count(*)::int as n from jobs where name = 'mail' and state = 'waiting' and attempts > 0`,
      )
      return waiting?.n === 1
    })
    const back = await startMailServer({ port })
    await endPause(world)
    await until('the mail', () => back.received.length > 0)
    expect(back.received.map(({ to }) => to)).toEqual([['patient@example.com']])
    await world.close()
    await back.close()
  })
})

describe('without an SMTP server', () => {
  test('a mail is a file in the outbox with the sign-in URL, and only its owner can read it', async () => {
    const world = await openWorld()
    const tenant = await signUp(world)
    await invite(world, tenant, 'outbox@example.com')
    const folder = join(world.server.context.config.dataDir, 'outbox')
    const [name] = await until('a file', async () => {
      const names = await readdir(folder).catch(() => [])
      return names.length > 0 && names
    })
    const path = join(folder, name as string)
    const source = await until('its text', async () => (await readFile(path, 'utf8')) || undefined)
    expect(name).toMatch(/\.eml$/)
    expect(headersOf(source)).toContain('To: outbox@example.com')
    // Unencoded, because a person reads the file with `cat`.
    expect(source).toContain(`at ${world.url}, and accept the invitation`)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    await world.close()
  })
})
