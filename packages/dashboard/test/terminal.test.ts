import { hostname } from 'node:os'
import { afterAll, describe, expect, test } from 'vitest'
import { type Machine, newMachine } from '../../cli/test/machine.ts'
import { until } from '../../server/test/until.ts'
import { openScene } from './scene.ts'
import * as steps from './steps.ts'

// A person signs in a terminal on a machine without a browser, and later revokes its session.

const { world, arrive } = await openScene()
const visitor = await arrive()
const machine = await newMachine(world.url.replace('127.0.0.1', 'localhost'))
machine.env.SKERRY_KEYRING = 'off'
afterAll(async () => {
  login?.child.kill()
  await machine.remove()
})
await steps.setUp(visitor.page, world)
const totpSecret = await steps.setUpAuthenticator(visitor.page, world)
await visitor.page.getByRole('button', { name: 'I have kept them' }).click()

/** The address and code that the terminal shows while it waits for the person. */
let shown: { address: string; code: string }
let login: ReturnType<Machine['start']>
let startedAt: Date

const fact = (name: string) => visitor.page.getByRole('row', { name: new RegExp(`^${name}`) })

describe('a terminal', () => {
  test('shows an address and a code, and waits', async () => {
    // After 700 seconds the second factor is no longer fresh.
    world.clock.advance(700)
    startedAt = world.clock.now()
    login = machine.start(['login'])
    let told = ''
    login.child.stderr!.on('data', (chunk) => {
      told += chunk
    })
    shown = await until('an address and a code', () => {
      const [, address, code] = /open (\S+)\n.*code ([B-Z]{4}-[B-Z]{4})/.exec(told) ?? []
      return address && code ? { address, code } : undefined
    })
    expect(new URL(shown.address).pathname).toBe(`/cli/${shown.code}`)
  })

  test('is described on the approval page: its own claims as unverified, and where and when it asked', async () => {
    await visitor.page.goto(new URL(shown.address).pathname)
    await visitor.page.getByText(shown.code, { exact: true }).waitFor()
    await expect.poll(() => fact('It calls itself').innerText()).toMatch(new RegExp(`${hostname()}\\s+unverified`, 'i'))
    await expect.poll(() => fact('Program').innerText()).toMatch(/skerry\S*\s+unverified/i)
    await expect.poll(() => fact('Address').innerText()).toMatch(/(127\.0\.0\.1|::1)$/)
    expect(await fact('It would act as').innerText()).toContain(steps.person.email)
    const asked = await fact('Asked').locator('time').getAttribute('datetime')
    expect(Date.parse(asked as string)).toBeGreaterThan(startedAt.getTime())
    expect(Date.parse(asked as string)).toBeLessThan(world.clock.now().getTime())
  })

  test('is approved only after the person enters the second factor again', async () => {
    await visitor.page.getByRole('button', { name: 'Approve' }).click()
    await visitor.page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor()
    expect(login.child.exitCode).toBeNull()
    await steps.enterSecondFactor(visitor.page, world, totpSecret)
    await visitor.page.getByText('Go back to the terminal').waitFor()
    const { code, stderr } = await login.ended
    expect([code, stderr]).toEqual([0, expect.stringContaining(`signed in as ${steps.person.email}`)])
  })

  test('acts for the person afterwards', async () => {
    const { code, stdout, stderr } = await machine.skerry(['whoami'])
    expect([code, stdout, stderr]).toEqual([0, expect.stringContaining(`person ${steps.person.email}`), ''])
  })

  test('is refused at its next request after the person revoked its session', async () => {
    await steps.goTo(visitor.page, 'CLI sessions')
    const row = visitor.page.getByRole('row', { name: hostname() })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await visitor.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row.getByText('revoked').waitFor()
    const { code, stdout, stderr } = await machine.skerry(['whoami'])
    expect([code, stdout, stderr]).toEqual([3, '', expect.stringContaining('check the credential')])
  })

  test('caused no console warnings and no Content-Security-Policy violations', () => {
    expect(visitor.complaints).toEqual([])
  })
})
