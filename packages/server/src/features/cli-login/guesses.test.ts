import { cliLogin } from '@skerry/contract/cli-login/endpoints'
import { afterAll, describe, expect, test } from 'vitest'
import { type Actor, askForCliSession, newPerson, sessionOf } from '../../../test/tenant.ts'
import { call, openWorld, start } from '../../../test/world.ts'
import { attemptRules } from '../../identity/throttle.ts'
import { rates } from '../../kernel/rate-limits.ts'
import { newCode } from './code.ts'

const { max: wrongCodesMax } = attemptRules.cli_code

const world = await openWorld({ SKERRY_TRUSTED_PROXIES: '127.0.0.1' })
afterAll(() => world.close())

const from = (address: string) => ({ 'x-forwarded-for': address })
const poll = (code: string, address: string) => world.call(cliLogin.poll, { body: { code }, headers: from(address) })
const read = (code: string, { as }: Pick<Actor, 'as'>) => world.call(cliLogin.get, { as, params: { code } })
const approve = (code: string, { as }: Pick<Actor, 'as'>) => world.call(cliLogin.approve, { as, params: { code } })
const deny = (code: string, { as }: Pick<Actor, 'as'>) => world.call(cliLogin.deny, { as, params: { code } })
const statuses = (answers: { status: number }[], status: number) =>
  answers.filter((answer) => answer.status === status).length
const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))

describe('wrong codes', () => {
  test('of a person are looked up only as often as allowed, with 201 requests at once over every route', async () => {
    const person = await newPerson(world, 'guesser@example.com')
    const tries: ((code: string, actor: Actor) => Promise<{ status: number; headers: Headers }>)[] = [
      read,
      approve,
      deny,
    ]
    const answers = (await times(67, () => Promise.all(tries.map((send) => send(newCode(), person))))).flat()
    expect([statuses(answers, 404), statuses(answers, 429)]).toEqual([wrongCodesMax, 201 - wrongCodesMax])
    expect(Number(answers.find(({ status }) => status === 429)?.headers.get('retry-after'))).toBeGreaterThan(3000)
  })

  test('of an address that polls are looked up only as often as allowed, with 200 requests at once', async () => {
    const answers = await times(200, () => poll(newCode(), '192.0.2.1'))
    expect([statuses(answers, 404), statuses(answers, 429)]).toEqual([wrongCodesMax, 200 - wrongCodesMax])
  })

  test('block the right one too, until an hour has passed', async () => {
    const person = await newPerson(world, 'patient@example.com')
    await times(wrongCodesMax + 1, () => read(newCode(), person))
    const asked = await askForCliSession(world)
    for (const answer of [await read(asked.code, person), await approve(asked.code, person)])
      expect([answer.status, answer.error?.code]).toEqual([429, 'rate_limited'])
    world.clock.advance(3601)
    const again = await askForCliSession(world)
    const session = { as: await sessionOf(world, 'patient@example.com') }
    expect((await approve(again.code, session)).status).toBe(200)
  })

  test('of one person or address do not block another one', async () => {
    const person = await newPerson(world, 'bystander@example.com')
    await times(wrongCodesMax + 5, () => poll(newCode(), '192.0.2.2'))
    const asked = await askForCliSession(world)
    expect((await read(asked.code, person)).status).toBe(200)
    expect((await poll(asked.code, '192.0.2.3')).status).toBe(200)
    expect((await poll(asked.code, '192.0.2.2')).status).toBe(429)
  })

  test('are counted across all servers', async () => {
    const person = await newPerson(world, 'two-doors@example.com')
    await times(wrongCodesMax, () => read(newCode(), person))
    if (world.server.context.db.engine === 'embedded') return expect((await read(newCode(), person)).status).toBe(429)
    const other = await start({ ...world.server.context.config, port: 0 }, world.log, world.clock.now)
    const params = { code: newCode() }
    expect((await call(other.url, world.answers, cliLogin.get, { as: person.as, params })).status).toBe(429)
    await other.close()
  })

  test('do not include a right one, so that a device can poll for ten minutes', async () => {
    const asked = await askForCliSession(world)
    for (let count = 0; count < 3 * wrongCodesMax; count++)
      expect((await poll(asked.code, '192.0.2.4')).status).toBe(200)
  })

  test('do not include text that is no code', async () => {
    for (let count = 0; count < wrongCodesMax + 5; count++)
      expect((await poll('nonsense', '192.0.2.5')).status).toBe(400)
    const asked = await askForCliSession(world)
    expect((await poll(asked.code, '192.0.2.5')).status).toBe(200)
  })
})

test('login requests and polls are limited for each address, and the refusal says how long to wait', async () => {
  const strict = await openWorld({ SKERRY_RATE_LIMITS: 'on', SKERRY_TRUSTED_PROXIES: '127.0.0.1' })
  const ask = (address: string) => strict.call(cliLogin.create, { body: { probe: 1 }, headers: from(address) })
  const pollStrict = (address: string) => strict.call(cliLogin.poll, { body: { probe: 1 }, headers: from(address) })
  const asked = await times(rates.cliLogin.burst + 5, () => ask('192.0.2.6'))
  const polled = await times(rates.cliLoginPoll.burst + 150, () => pollStrict('192.0.2.6'))
  expect(statuses(asked, 429)).toBe(5)
  expect(statuses(polled, 429)).toBe(150)
  expect(Number(asked.find(({ status }) => status === 429)?.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await ask('192.0.2.7')).status).toBe(400)
  await strict.close()
})
