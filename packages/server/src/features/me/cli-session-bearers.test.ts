import { cliLogin } from '@skerry/contract/cli-login/endpoints'
import { cliSessions } from '@skerry/contract/me/cli-sessions'
import { me } from '@skerry/contract/me/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { describe, expect, test } from 'vitest'
import { bearerSecret } from '../../../test/blobs.ts'
import { engine } from '../../../test/engine.ts'
import { openTenant } from '../../../test/scene.ts'
import { askForCliSession, newCliSession, sessionOf, withFactor } from '../../../test/tenant.ts'
import { call, start } from '../../../test/world.ts'
import { newId } from '../../kernel/context.ts'

// People sign in at the test issuer, which makes claims about second factors and follows the clock of the tests.

const { world } = await openTenant()

const revoke = (cliSessionId: string, as: string) => world.call(cliSessions.revoke, { as, params: { cliSessionId } })

describe('a bearer that does not work', () => {
  async function seen(as: string) {
    const response = await fetch(`${world.url}/v1/me`, { headers: { authorization: as } })
    const headers = [...response.headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
    return JSON.stringify([response.status, headers, await response.text()])
  }

  test('gets the same bytes, whether unknown, pending, denied, revoked or expired', async () => {
    const expired = await newCliSession(world, { as: await sessionOf(world, 'expires@example.com') })
    world.clock.advance(90 * 86_400 + 1)
    const as = await sessionOf(world, 'dead-bearers@example.com')
    const revoked = await newCliSession(world, { as })
    await revoke(revoked.id, as)
    const pending = await askForCliSession(world)
    const denied = await askForCliSession(world)
    await world.call(cliLogin.deny, { as, params: { code: denied.code } })
    const unknown = `Bearer ${newId('cliSession')}_${bearerSecret()}`
    const answers = await Promise.all([expired.as, revoked.as, pending.as, denied.as, unknown, 'Bearer skc_'].map(seen))
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toContain('unknown CLI session')
  })
})

describe('the second factor of a CLI session', () => {
  test('is the one that the approver had entered, and keeps its time', async () => {
    const as = await sessionOf(world, 'fixed@example.com', withFactor(world, 300))
    const session = await newCliSession(world, { as })
    const facts = async (bearer: string) => (await world.call(me.get, { as: bearer })).body.session
    const before = await facts(as)
    expect(before).toMatchObject({ kind: 'browser', secondFactor: true })
    world.clock.advance(3600)
    expect(await facts(session.as)).toEqual({ ...before, kind: 'cli', id: session.id })
  })

  test('is missing if the approver had none', async () => {
    const session = await newCliSession(world, { as: await sessionOf(world, 'none@example.com') })
    const { body } = await world.call(me.get, { as: session.as })
    expect(body.session).toMatchObject({ secondFactor: false, mfaAt: null })
  })
})

describe.runIf(engine() === 'postgres')('two servers on one PostgreSQL', () => {
  test('a session revoked on one is refused by the other on its next request', async () => {
    const other = await start({ ...world.server.context.config, port: 0 }, world.log, world.clock.now)
    const as = await sessionOf(world, 'two-servers@example.com')
    const session = await newCliSession(world, { as })
    const ask = async () => (await call(other.url, world.answers, orgs.list, { as: session.as })).status
    expect([await ask(), await ask()]).toEqual([200, 200])
    await revoke(session.id, as)
    expect(await ask()).toBe(401)
    await other.close()
  })
})
