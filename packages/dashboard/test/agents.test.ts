import { agents } from '@skerry/contract/agents/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { tasks } from '@skerry/contract/tasks/endpoints'
import { describe, expect, test } from 'vitest'
import { newToken } from '../../server/test/tenant.ts'
import { dialogOf } from './apps-steps.ts'
import { choose as chooseOption, row } from './changes-steps.ts'
import { axeProblems, choose, newPlace } from './org-steps.ts'
import { openOwner } from './scene.ts'
import * as steps from './steps.ts'

// The life of an agent, from its creation to its activity report. Every signature is made in the browser.

const { world, owner, page } = await openOwner()
const as = owner.bearer()
const { body: own } = await world.call(me.get, { as })
const orgId = own.orgs[0]?.id as string
const dialog = () => dialogOf(page)
const closed = () => dialog().waitFor({ state: 'detached' })
const press = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
const agentId = async () => (await world.call(agents.list, { as, params: { orgId } })).body.agents[0]?.id as string

const rules = (methods: string[]) =>
  JSON.stringify([
    { host: 'api.example.com', methods, paths: ['/v1/**'], allow: ['API_KEY'] },
    { host: 'hooks.example.com', allow: ['HOOK_URL'] },
  ])
const write = (text: string) => dialog().getByLabel('Rules').fill(text)

describe('an agent', () => {
  test('is created without permissions', async () => {
    await steps.goTo(page, 'Agents')
    await page.getByText('No agent yet').waitFor()
    await page.getByRole('button', { name: 'New agent' }).click()
    await dialog().getByLabel('Name').fill('Release builder')
    await press('Create')
    await closed()
    await row(page, /Release builder/)
      .getByText('none')
      .waitFor()
    await page.getByRole('link', { name: 'Release builder' }).click()
    await page.getByText('No policy yet').waitFor()
  })

  test('can be renamed and bound to an environment', async () => {
    const { envId } = await newPlace(world, as)
    await page.getByRole('button', { name: 'Edit…' }).click()
    await dialog().getByLabel('Name').fill('Release robot')
    await chooseOption(page, 'Bound to', 'Web shop / Production')
    await press('Save')
    await closed()
    await page.getByRole('heading', { name: 'Release robot' }).waitFor()
    await page.getByText('bound to Web shop / Production').waitFor()
    const { body } = await world.call(agents.list, { as, params: { orgId } })
    expect(body.agents).toMatchObject([{ name: 'Release robot', slug: 'release-builder', environmentId: envId }])
  })

  test('gets rules that the dialog checks while they are typed, and that can be tried with a request', async () => {
    await page.getByRole('button', { name: 'Write a policy' }).click()
    await dialog().getByText('Source', { exact: true }).click()
    await write('[{ "host": "https://api.example.com" }]')
    await dialog().getByText(/host/).last().waitFor()
    await expect.poll(() => dialog().getByRole('button', { name: 'Sign and publish' }).isDisabled()).toBe(true)
    await write(rules(['GET']))
    await dialog().getByLabel('Try an address').fill('https://api.example.com/v1/items?a=b')
    await dialog().getByText('Rule 0: allowed.').waitFor()
    await dialog().getByLabel('Secret').fill('HOOK_URL')
    await dialog().getByText('Rule 0: refused: the rule does not permit the secret.').waitFor()
    await dialog().getByLabel('Method').fill('POST')
    await dialog().getByText('Rule 0: refused: the rule does not permit the method.').waitFor()
    expect(await axeProblems(page)).toEqual([])
  })

  test('gets a policy that can be signed only after the typed text has been checked', async () => {
    const submit = dialog().getByRole('button', { name: 'Sign and publish' })
    await expect.poll(() => submit.isEnabled()).toBe(true)
    const isDisabledAtOnce = await dialog()
      .getByLabel('Rules')
      .evaluate(
        async (field: HTMLTextAreaElement, text) => {
          Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')?.set?.call(field, text)
          field.dispatchEvent(new InputEvent('input', { bubbles: true }))
          // React renders in this microtask. The worker's answer comes in a later task.
          await Promise.resolve()
          return field.form?.querySelector<HTMLButtonElement>('[type=submit]')?.disabled
        },
        rules(['PUT']),
      )
    expect(isDisabledAtOnce).toBe(true)
    await write(rules(['GET']))
  })

  test('has the rules after they are signed with the keyring’s key', async () => {
    await press('Sign and publish')
    await closed()
    await row(page, /Edit this one version 1/).waitFor()
    const { body } = await world.call(agents.policies, { as, params: { orgId, agentId: await agentId() } })
    expect(body.policies.map(({ version, rules }) => [version, rules.length])).toEqual([[1, 2]])
    await page.getByText(body.policies[0]!.signerThumbprint).waitFor()
    await page.getByText('yours').waitFor()
  })

  test('shows the rules that the next version removed, added and kept', async () => {
    await page.getByRole('button', { name: 'Edit the policy' }).click()
    await dialog().getByRole('checkbox', { name: 'POST' }).first().check()
    await press('Sign and publish')
    await closed()
    await row(page, /Edit this one version 2/)
      .getByRole('button', { name: 'Show details' })
      .click()
    for (const word of ['removed', 'added', 'kept']) await page.getByText(word, { exact: true }).waitFor()
  })

  test('can be given a task, whose token is shown once and which one click revokes', async () => {
    await page.getByRole('button', { name: 'Dispatch a task' }).click()
    await dialog().getByLabel('Purpose').fill('nightly build')
    await chooseOption(page, 'Secrets of this task', 'API_KEY')
    expect(await axeProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    await press('Dispatch')
    const shown = page.getByRole('dialog', { name: 'The token of the task' })
    const token = await shown.locator('[data-secret]').innerText()
    await shown.getByText('--header @task.txt https://api.example.com/').waitFor()
    const proxy = await newToken(world, { orgId, machine: { as, id: '' } })
    const ofTask = async () => (await world.call(tasks.introspect, { as: proxy.as, body: { token } })).body
    expect(await ofTask()).toMatchObject({ session: { scopes: ['API_KEY'], agent: { slug: 'release-builder' } } })
    await shown.getByRole('button', { name: 'I have kept it' }).click()
    expect(await page.content()).not.toContain(token)
    await row(page, /nightly build/)
      .getByRole('button', { name: /Revoke/ })
      .click()
    await row(page, /nightly build/)
      .getByText('revoked')
      .waitFor()
    expect(await ofTask()).toMatchObject({ error: { message: 'this task has been revoked' } })
  })

  test('shows the requests that proxies reported, and the permissions that nobody used', async () => {
    const cell = { host: 'api.example.com', method: 'GET', ruleIndex: 0 }
    const proxy = await newToken(world, { orgId, machine: { as, id: '' } })
    const { status } = await world.call(tasks.report, {
      as: proxy.as,
      params: { agentRef: await agentId() },
      body: {
        windowStart: world.clock.now().toISOString(),
        policyVersion: 2,
        entries: [
          { ...cell, decision: 'allow', count: 41, secrets: { API_KEY: 40 }, redactions: { API_KEY: 3 } },
          { ...cell, decision: 'secret_not_allowed', count: 2, secrets: { HOOK_URL: 2 } },
        ],
      },
    })
    expect(status).toBe(200)
    await page.reload()
    await page.getByText('43 requests: 41 allowed, 2 refused.').waitFor()
    await row(page, /secret not allowed/)
      .getByText('HOOK_URL')
      .waitFor()
    await page.getByText('Upstreams sent secrets back 3 times').waitFor()
    for (const unused of ['rule 1: hooks.example.com', 'HOOK_URL'])
      await page.getByText(unused, { exact: true }).first().waitFor()
    const chart = page.getByRole('figure', { name: 'Requests by the day' })
    await chart.getByRole('img', { name: /^api\.example\.com, allow: 41 requests, at most 41 in a day/ }).waitFor()
    await chart.getByRole('img', { name: /^api\.example\.com, secret not allowed: 2 requests/ }).waitFor()
    expect(await axeProblems(page)).toEqual([])
  })

  test('gets a proposed policy without the unused permissions', async () => {
    await page.getByRole('button', { name: 'Propose a policy without them' }).click()
    await dialog().getByText('Source', { exact: true }).click()
    await expect
      .poll(async () => JSON.parse(await dialog().getByLabel('Rules').inputValue()))
      .toEqual([{ host: 'api.example.com', methods: ['GET', 'POST'], paths: ['/v1/**'], allow: ['API_KEY'] }])
    await press('Cancel')
    await closed()
  })

  test('can be disabled and removed', async () => {
    await steps.goTo(page, 'Agents')
    await choose(page, 'Release robot', 'Disable')
    await row(page, /Release robot/)
      .getByText('disabled')
      .waitFor()
    await choose(page, 'Release robot', 'Remove…')
    await press('Remove')
    await page.getByText('No agent yet').waitFor()
  })
})
