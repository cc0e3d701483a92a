import { live } from '@skerry/contract/live/endpoints'
import type { LiveEvent } from '@skerry/contract/live/events'
import { cliSessions } from '@skerry/contract/me/cli-sessions'
import { members } from '@skerry/contract/members/endpoints'
import { mfaPolicy } from '@skerry/contract/orgs/endpoints'
import { secondFactor } from '@skerry/contract/second-factor/endpoints'
import { sessions } from '@skerry/contract/sessions/endpoints'
import { signIn } from '@skerry/contract/sign-in/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { closeStreams, openStream } from '../../../test/live-stream.ts'
import { fromOwnPage, signInByLink } from '../../../test/people.ts'
import { openEnv } from '../../../test/scene.ts'
import { type Actor, newCliSession, newMember, newToken } from '../../../test/tenant.ts'
import { totpCode } from '../../../test/totp.ts'
import { until } from '../../../test/until.ts'
import { builtIn } from '../../../test/world.ts'

// The server looks up all streams every five seconds. Its timer never fires here, so the change itself ends each stream.
vi.useFakeTimers({ toFake: ['setInterval'] })
afterAll(() => void vi.useRealTimers())

const { world, tenant, appId } = await openEnv(builtIn)
const { orgId } = tenant

afterEach(closeStreams)

let people = 0
/** A member, who signs in with one or more browsers. */
async function member(role: 'admin' | 'member' = 'member') {
  const email = `ends-${++people}@example.com`
  const person = await newMember(world, tenant, role, { email })
  return { ...person, browser: () => signInByLink(world, email) }
}

const watch = ({ as }: Pick<Actor, 'as'>) => openStream(world.url, orgId, as)

async function withAuthenticator(as: string): Promise<void> {
  const { body } = await world.call(secondFactor.enrollTotp, { as })
  const code = totpCode(body.secret, world.clock.now())
  const { error } = await world.call(secondFactor.confirmTotp, { as, body: { code } })
  expect(error).toBeUndefined()
}

const requireFactor = (required: boolean) =>
  world.call(mfaPolicy.update, { as: tenant.admin.as, params: { orgId }, body: { required } })

describe('a stream ends at once when', () => {
  test('its session is ended from another browser', async () => {
    const person = await member()
    const [one, other] = [await person.browser(), await person.browser()]
    const stream = await watch(one)
    await world.call(sessions.end, { as: other.as, params: { webSessionId: one.sessionId } })
    await until('the end', stream.isEnded)
    expect((await watch(one)).status).toBe(401)
  })

  test('its person signs out', async () => {
    const browser = await (await member()).browser()
    const stream = await watch(browser)
    await world.call(signIn.signOut, { headers: { cookie: browser.cookie, ...fromOwnPage } })
    await until('the end', stream.isEnded)
  })

  test('its CLI session is revoked, and the stream of the browser goes on', async () => {
    const browser = await (await member()).browser()
    const terminal = await newCliSession(world, browser)
    const [ofTerminal, ofBrowser] = [await watch(terminal), await watch(browser)]
    await world.call(cliSessions.revoke, { as: browser.as, params: { cliSessionId: terminal.id } })
    await until('the end', ofTerminal.isEnded)
    expect(ofBrowser.isEnded()).toBe(false)
  })

  test('the organization requires a second factor that its session lacks, and a token’s stream goes on', async () => {
    const [with_, without] = [await (await member()).browser(), await (await member()).browser()]
    await withAuthenticator(with_.as)
    const [entered, lacking, token] = [await watch(with_), await watch(without), await watch(tenant.admin)]
    await requireFactor(true)
    await until('the end', lacking.isEnded)
    expect([entered.isEnded(), token.isEnded()]).toEqual([false, false])
    expect((await watch(without)).status).toBe(403)
    await requireFactor(false)
  })

  test('its person removes the second factor that the organization requires', async () => {
    const browser = await (await member()).browser()
    await withAuthenticator(browser.as)
    await requireFactor(true)
    const stream = await watch(browser)
    await world.call(secondFactor.removeTotp, { as: browser.as })
    await until('the end', stream.isEnded)
    await requireFactor(false)
  })

  test('its person sets up a second factor in another browser, which this one has not entered', async () => {
    const person = await member()
    const [one, other] = [await person.browser(), await person.browser()]
    const stream = await watch(one)
    await withAuthenticator(other.as)
    await until('the end', stream.isEnded)
    expect((await watch(one)).status).toBe(403)
  })

  test('its member is removed, and the streams of others go on', async () => {
    const [removed, other] = [await member(), await member()]
    const [ended, going] = [await watch(removed), await watch(other)]
    await world.call(members.remove, { as: tenant.admin.as, params: { orgId, userId: removed.id } })
    await until('the end', ended.isEnded)
    expect(going.isEnded()).toBe(false)
  })

  test('its person gets another role', async () => {
    const person = await member('admin')
    const stream = await watch(person)
    const params = { orgId, userId: person.id }
    await world.call(members.update, { as: tenant.admin.as, params, body: { role: 'member' } })
    await until('the end', stream.isEnded)
  })

  test('its token is revoked', async () => {
    const token = await newToken(world, tenant)
    const stream = await watch(token)
    await world.call(tokens.revoke, { as: tenant.admin.as, params: { orgId, tokenId: token.id } })
    await until('the end', stream.isEnded)
  })
})

describe('presence', () => {
  const people = (event: LiveEvent) => (event.type === 'presence' ? event.data.people : [])

  test('ends with the membership', async () => {
    const [removed, other] = [await member(), await member()]
    const stream = await watch(other)
    await world.call(live.look, { as: removed.as, params: { orgId, appId } })
    await stream.find('the person', (event) => people(event).some(({ id }) => id === removed.id))
    await world.call(members.remove, { as: tenant.admin.as, params: { orgId, userId: removed.id } })
    await stream.find('nobody', (event) => event.type === 'presence' && people(event).length === 0)
    const late = await watch(other)
    expect(late.events.filter(({ type }) => type === 'presence')).toEqual([])
  })

  test('shows no address of a person without a name', async () => {
    const [nameless, other] = [await member(), await member()]
    await world.server.context.db.rows('update users set name = null where id = $1', [nameless.id])
    const stream = await watch(other)
    await world.call(live.look, { as: nameless.as, params: { orgId, appId } })
    const { data } = await stream.find('the person', (event) => people(event).length === 1)
    expect(data).toEqual({ applicationId: appId, people: [{ id: nameless.id, name: 'A member' }] })
    expect(stream.text()).not.toContain('@example.com')
  })
})
