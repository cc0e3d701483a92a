import { accessRequests } from '@skerry/contract/access-requests/endpoints'
import { notifications } from '@skerry/contract/notifications/endpoints'
import { offboardings } from '@skerry/contract/offboardings/endpoints'
import { describe, expect, test } from 'vitest'
import { openMailed } from '../../../test/scene.ts'
import { textOf } from '../../../test/services/smtp.ts'
import { mailsWritten, newEntries, stateOf } from '../../../test/state.ts'
import { type Actor, grantKey, newApp, newEnv, newMember, putSecret, signUp } from '../../../test/tenant.ts'
import { attemptRules } from '../../identity/throttle.ts'

// People are told that a row of an offboarding, or a request for access, waits for them.

const { mails, world, tenant } = await openMailed()

/** The texts of the mails that arrived at an address, without the invitation. */
async function mailsTo(address: string): Promise<string[]> {
  await mailsWritten(world)
  const texts = mails.received.filter(({ to }) => to.includes(address)).map(({ source }) => textOf(source))
  return texts.filter((text) => !text.includes('invited you'))
}

let count = 0
const newAdmin = async () => {
  const email = `admin-${++count}@example.com`
  return { email, ...(await newMember(world, tenant, 'admin', { email })) }
}

/** Starts the offboarding of a person who could read one environment with one value. */
async function begin() {
  const params = { orgId: tenant.orgId }
  const email = `leaver-${++count}@example.com`
  const person = await newMember(world, tenant, 'member', { email })
  const app = await newApp(world, tenant)
  const env = await newEnv(world, tenant, app.id)
  await grantKey(world, tenant, env.id, person)
  await putSecret(world, tenant, env.id, 'API_KEY')
  const { as } = tenant.admin
  const started = await world.call(offboardings.start, { as, params, body: { userId: person.id } })
  const offboardingId = started.body.offboarding.id
  const { rows } = (await world.call(offboardings.rows, { as, params: { ...params, offboardingId } })).body
  const at = (kind: string) => {
    const offboardingRowId = rows.find((row) => row.kind === kind)?.id as string
    return { ...params, offboardingId, offboardingRowId }
  }
  return { email, offboardingId, label: rows[0]?.label as string, rekey: at('rekey'), value: at('rotate_value') }
}

type At = Awaited<ReturnType<typeof begin>>['rekey']
const change = (params: At, body: object, { as }: Pick<Actor, 'as'> = tenant.admin) =>
  world.call(offboardings.change, { as, params, body })
const remind = (params: At, { as }: Pick<Actor, 'as'> = tenant.admin) => world.call(offboardings.remind, { as, params })

describe('an admin to whom a row is handed', () => {
  test('gets a mail that names the task, the person and the sender, and links to the offboarding', async () => {
    const [admin, sender, begun] = [await newAdmin(), await newAdmin(), await begin()]
    await change(begun.rekey, { assigneeId: admin.id, note: 'before Friday' }, sender)
    const [text, ...more] = await mailsTo(admin.email)
    expect(more).toEqual([])
    for (const told of [begun.email, `re-key ${begun.label}`, sender.email, '“before Friday”'])
      expect(text).toContain(told)
    expect(text).toMatch(
      new RegExp(`https://skerry\\.example/orgs/${tenant.slug}/offboardings/${begun.offboardingId}\\b`),
    )
    expect(await mailsTo(sender.email)).toEqual([])
  })

  test('gets one mail for the rows of a minute', async () => {
    const [admin, begun] = [await newAdmin(), await begin()]
    await change(begun.rekey, { assigneeId: admin.id })
    await change(begun.value, { assigneeId: admin.id })
    const [text, ...more] = await mailsTo(admin.email)
    expect(more).toEqual([])
    expect(text).toContain(`replace the value of API_KEY in ${begun.label}`)
    expect(text).toContain(`re-key ${begun.label}`)
  })

  test('gets none about a row that they took themselves, that is done, or that only got a note', async () => {
    const [admin, begun] = [await newAdmin(), await begin()]
    await change(begun.rekey, { assigneeId: admin.id }, admin)
    await change(begun.rekey, { note: 'tomorrow' })
    await change(begun.value, { assigneeId: admin.id, state: 'done' })
    expect(await mailsTo(admin.email)).toEqual([])
  })

  test('gets none if they do not want this kind of mail', async () => {
    const [admin, begun] = [await newAdmin(), await begin()]
    await world.call(notifications.put, { as: admin.as, body: { prefs: { offboarding_row_handed: false } } })
    await change(begun.rekey, { assigneeId: admin.id })
    expect(await mailsTo(admin.email)).toEqual([])
  })
})

describe('a reminder', () => {
  test('is a mail, at most once an hour for a row, and again at once for another admin', async () => {
    const [admin, other, begun] = [await newAdmin(), await newAdmin(), await begin()]
    await change(begun.rekey, { assigneeId: admin.id })
    await mailsWritten(world)
    const entries = await newEntries(world, async () => {
      expect((await remind(begun.rekey)).status).toBe(200)
      const { error } = await remind(begun.rekey)
      expect([error?.code, error?.message]).toEqual(['rate_limited', expect.stringContaining('about this row')])
    })
    expect(entries).toMatchObject([
      { action: 'offboarding.row_reminded', resourceId: begun.offboardingId, metadata: { assigneeId: admin.id } },
    ])
    expect((await mailsTo(admin.email)).map((text) => text.includes('reminds you of a task'))).toEqual([false, true])
    world.clock.advance(attemptRules.offboarding_reminder.seconds)
    expect((await remind(begun.rekey)).status).toBe(200)
    await change(begun.rekey, { assigneeId: other.id })
    expect((await remind(begun.rekey)).status).toBe(200)
  })

  test('by two admins at once is one mail', async () => {
    const [admin, begun] = [await newAdmin(), await begin()]
    await change(begun.rekey, { assigneeId: admin.id })
    await mailsWritten(world)
    const answers = await Promise.all([remind(begun.rekey), remind(begun.rekey)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429])
    expect(await mailsTo(admin.email)).toHaveLength(2)
  })

  test('is refused for a row of nobody, of oneself, of a former admin, that is done, or of a finished offboarding', async () => {
    const [admin, former, begun] = [await newAdmin(), await newAdmin(), await begin()]
    const refusals = [await remind(begun.rekey)]
    await change(begun.rekey, { assigneeId: admin.id })
    refusals.push(await remind(begun.rekey, admin))
    await change(begun.rekey, { assigneeId: former.id })
    await world.server.context.db.rows(`update memberships set role = 'member' where user_id = $1`, [former.id])
    refusals.push(await remind(begun.rekey))
    await change(begun.rekey, { assigneeId: admin.id, state: 'not_needed' })
    refusals.push(await remind(begun.rekey))
    const { offboardingId } = begun
    const params = { orgId: tenant.orgId, offboardingId }
    await world.call(offboardings.finish, { as: tenant.admin.as, params, body: { acceptOpen: true } })
    refusals.push(await remind(begun.rekey))
    expect(refusals.map(({ error }) => [error?.code, error?.message])).toEqual([
      ['conflict', expect.stringContaining('handed to nobody')],
      ['conflict', expect.stringContaining('handed to you')],
      ['conflict', expect.stringContaining('no longer an admin')],
      ['conflict', 'this row is done'],
      ['conflict', 'this offboarding is finished'],
    ])
  })

  test('changes nothing for a member, a stranger, and a row of another offboarding', async () => {
    const [admin, mine, other] = [await newAdmin(), await begin(), await begin()]
    await change(mine.rekey, { assigneeId: admin.id })
    const [member, stranger] = [await newMember(world, tenant), await signUp(world)]
    await mailsWritten(world)
    const before = await stateOf(world)
    const elsewhere = { ...mine.rekey, offboardingId: other.offboardingId }
    const answers = [
      await remind(mine.rekey, member),
      await remind(mine.rekey, stranger.admin),
      await remind({ ...mine.rekey, orgId: stranger.orgId }, stranger.admin),
      await remind(elsewhere),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 404, 404, 404])
    expect((await stateOf(world)).offboarding_rows).toEqual(before.offboarding_rows)
  })
})

describe('an access request', () => {
  test('is mailed to the admins with a link to the requests, and its answer to the person', async () => {
    const params = { orgId: tenant.orgId }
    const admin = await newAdmin()
    const email = 'asks@example.com'
    const person = await newMember(world, tenant, 'member', { email })
    const env = await newEnv(world, tenant, (await newApp(world, tenant)).id)
    const body = { environmentIds: [env.id], reason: 'to fix the checkout' }
    const { request } = (await world.call(accessRequests.create, { as: person.as, params, body })).body
    const [asked] = await mailsTo(admin.email)
    expect(asked).toContain(`https://skerry.example/orgs/${tenant.slug}/requests`)
    const at = { ...params, accessRequestId: request.id }
    await world.call(accessRequests.decline, { as: admin.as, params: at, body: {} })
    const [answered] = await mailsTo(email)
    expect(answered).toContain(`https://skerry.example/orgs/${tenant.slug}/requests`)
  })
})
