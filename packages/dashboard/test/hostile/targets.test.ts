import { leases } from '@skerry/contract/leases/endpoints'
import { afterEach, describe, expect, test } from 'vitest'
import { sshTarget } from '../../../server/test/lease-steps.ts'
import { dialogOf } from '../apps-steps.ts'
import { lookAgain, row } from '../changes-steps.ts'
import { closed } from '../custody-steps.ts'
import { axeProblems, choose, newPlace } from '../org-steps.ts'
import { openOwner } from '../scene.ts'
import * as steps from '../steps.ts'

// A malicious server shows another address for a lease target, to receive the credentials for it. Each test checks what
// the person sees.

const { world, owner, page } = await openOwner()
const { orgId } = await newPlace(world, owner.bearer())
const tenant = { orgId, admin: { as: owner.bearer() } } as Parameters<typeof sshTarget>[1]
const connection = { host: 'hosts.example.com', port: 22 }
const body = { name: 'hosts', ...(await sshTarget(world, tenant, { connection })) }
await world.call(leases.createTarget, { as: owner.bearer(), params: { orgId }, body })

const leadElsewhere = () =>
  page.route('**/v1/orgs/*/leases/targets*', async (route) => {
    const response = await route.fetch()
    const { targets, ...rest } = await response.json()
    const elsewhere = (target: { config: object }) => {
      return { ...target, config: { ...target.config, connection: { ...connection, host: 'evil.example.com' } } }
    }
    await route.fulfill({ response, json: { ...rest, targets: targets.map(elsewhere) } })
  })
afterEach(() => page.unrouteAll({ behavior: 'wait' }))

const asked = () => page.getByRole('dialog', { name: 'The settings of hosts have changed' })
const changes = (since: number) => owner.sent.slice(since).filter((text) => /^(POST|PUT|PATCH|DELETE) /.test(text))
const openAccess = async () => {
  await steps.goTo(page, 'Leases')
  await page.getByRole('button', { name: 'Get access' }).click()
  await dialogOf(page).getByLabel('Login names').fill('deploy')
  await page.keyboard.press('Enter')
}
const get = () => dialogOf(page).getByRole('button', { name: 'Get access' }).click()
const refused = async (act: () => Promise<unknown>) => {
  const since = owner.sent.length
  await act()
  await asked().getByText('connection.host is evil.example.com (was hosts.example.com)').waitFor()
  expect(await axeProblems(page)).toEqual([])
  await asked().getByRole('button', { name: 'Cancel' }).click()
  await asked().waitFor({ state: 'hidden' })
  await owner.quiet()
  expect(changes(since)).toEqual([])
  await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
  await closed(owner)
}

describe('a lease target with another address than before', () => {
  test('is remembered from its first use', async () => {
    await openAccess()
    await get()
    await page
      .getByRole('dialog', { name: 'Your access to hosts' })
      .getByRole('button', { name: 'I have kept it' })
      .click()
    await closed(owner)
  })

  test('is not asked for a lease if the person declines', async () => {
    await leadElsewhere()
    await lookAgain(page)
    await openAccess()
    await refused(get)
  })

  test('gets no admin credential if the person declines', async () => {
    await leadElsewhere()
    await steps.openTab(page, 'Targets')
    await lookAgain(page)
    await row(page, /hosts/).waitFor()
    await choose(page, 'hosts', 'Replace the credential…')
    await dialogOf(page).getByLabel('Admin credential').fill('planted-authority')
    await refused(() => dialogOf(page).getByRole('button', { name: 'Replace' }).click())
  })
})
