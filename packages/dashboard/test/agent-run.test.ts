import { request } from 'node:http'
import { grants } from '@skerry/contract/grants/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { newToken } from '@skerry/crypto/token'
import { wrapKey } from '@skerry/crypto/wrap'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Machine, newMachine } from '../../cli/test/machine.ts'
import { startUpstream } from '../../proxy/test/world.ts'
import { freePort } from '../../server/test/services/free-port.ts'
import { dialogOf } from './apps-steps.ts'
import { row } from './changes-steps.ts'
import { newPlace, putSecret } from './org-steps.ts'
import { leaks, openOwner } from './scene.ts'
import * as steps from './steps.ts'

// A run of an agent from its task to its activity report. It uses a browser, a server and a proxy with its default
// intervals.

const { world, owner, page } = await openOwner()
const as = owner.bearer()
const names = ['ALPHA_KEY', 'BETA_KEY', 'GAMMA_KEY', 'DELTA_KEY', 'OMEGA_KEY']
const plantedIn = (name: string) => `planted-value-of-${name}`

let machine: Machine
let proxy: ReturnType<Machine['start']>
let port: number
let origin: string
let upstream: Awaited<ReturnType<typeof startUpstream>>
let startedAt: number
let task = ''

/** Sends a request with a placeholder through the proxy. Returns the status and text of the answer. */
function ask(name: string): Promise<{ status: number; text: string }> {
  const headers = { host: new URL(origin).host, 'x-skerry-ticket': task, authorization: `Bearer {{skerry:${name}}}` }
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: `${origin}/v1/items`, headers }, async (answer) => {
      let text = ''
      for await (const chunk of answer.setEncoding('utf8')) text += chunk
      resolve({ status: answer.statusCode!, text })
    })
    sent.on('error', reject).end()
  })
}
const statusOf = async (name: string) => (await ask(name)).status
const dialog = () => dialogOf(page)

beforeAll(async () => {
  const place = await newPlace(world, as)
  for (const name of names) await putSecret(world, as, place, name, plantedIn(name))
  const { token, tokenId, tokenHash, publicKeyJwk } = await newToken('skerry')
  const { orgId, envId } = place
  const body = { name: 'proxy', tokenId, tokenHash, publicKeyJwk, environmentId: envId }
  const made = await world.call(tokens.create, { as, params: { orgId }, body })
  const wrappedDek = await wrapKey(place.raw, publicKeyJwk)
  const granted = await world.call(grants.create, {
    as,
    params: { orgId, envId },
    body: { principalType: 'service_token', principalId: tokenId, wrappedDek },
  })
  expect([made.status, granted.status]).toEqual([201, 201])
  machine = await newMachine(world.url)
  machine.env.SKERRY_TOKEN = token
  port = await freePort()
})
afterAll(async () => {
  proxy?.child.kill('SIGTERM')
  await proxy?.ended
  await machine?.remove()
})

describe('an agent run', () => {
  test('has a policy with five secrets, which the proxy fetches from the server', async () => {
    await steps.goTo(page, 'Agents')
    await page.getByRole('button', { name: 'New agent' }).click()
    await dialog().getByLabel('Name').fill('Builder')
    await dialog().getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('link', { name: 'Builder' }).click()
    await page.getByRole('button', { name: 'Write a policy' }).click()
    const rules = [{ host: '127.0.0.1', methods: ['GET'], paths: ['/v1/**'], allow: names }]
    await dialog().getByText('Source', { exact: true }).click()
    await dialog().getByLabel('Rules').fill(JSON.stringify(rules))
    await dialog().getByRole('button', { name: 'Sign and publish' }).click()
    await row(page, /version 1/).waitFor()
    const pin = await page.getByText(/^[A-Za-z0-9_-]{43}$/).innerText()
    await machine.write(
      'skerry-proxy.toml',
      `[egress]\nallow_cidr = ["127.0.0.0/8"]\n[forward]\nlisten = "127.0.0.1:${port}"\nunmatched_host_policy = "deny"\n` +
        `[policy]\nsource = "server"\nagent = "builder"\nsigners = ["${pin}"]\nports = ["1-65535"]\n[tasks]\n[activity]\n`,
    )
    proxy = machine.start(['proxy', 'run'], { input: null })
    await proxy.tells('proxy: ')
  })

  test('is dispatched with two of the secrets, and the page shows its token once', async () => {
    startedAt = Date.now()
    await page.getByRole('button', { name: 'Dispatch a task' }).click()
    await dialog().getByLabel('Purpose').fill('nightly build')
    await dialog().getByLabel('Secrets of this task').click()
    for (const name of ['ALPHA_KEY', 'BETA_KEY']) await page.getByRole('option', { name }).click()
    await page.keyboard.press('Escape')
    await dialog().getByRole('button', { name: 'Dispatch', exact: true }).click()
    task = await page.locator('[data-secret]').innerText()
    await page.getByRole('button', { name: 'I have kept it' }).click()
    await row(page, /nightly build/)
      .getByText('ALPHA_KEY, BETA_KEY')
      .waitFor()
    expect(await page.content()).not.toContain(task)
  })

  test('can use an allowed secret, is refused another one, and can use none after its task is revoked', async () => {
    upstream = await startUpstream()
    origin = upstream.origin
    const used = await ask('ALPHA_KEY')
    expect([used.status, upstream.got[0]?.headers.authorization]).toEqual([200, `Bearer ${plantedIn('ALPHA_KEY')}`])
    // The upstream echoes the request, but the agent must not learn the secret that way.
    expect(used.text).toContain('[redacted by skerry: ALPHA_KEY]')
    expect(await statusOf('GAMMA_KEY')).toBe(403)
    await row(page, /nightly build/)
      .getByRole('button', { name: /Revoke/ })
      .click()
    await row(page, /nightly build/)
      .getByText('revoked')
      .waitFor()
    await expect.poll(() => statusOf('ALPHA_KEY'), { interval: 1000, timeout: 60_000 }).toBe(403)
    expect(JSON.stringify(upstream.got)).not.toMatch(/GAMMA|skd_/)
  })

  test('appears on the page within two minutes, without a secret value', async () => {
    const patient = { timeout: 120_000 }
    const line = (decision: RegExp, name: string) => row(page, decision).getByText(name).first().waitFor(patient)
    await line(/127\.0\.0\.1 GET allow/, 'ALPHA_KEY')
    await line(/secret not allowed/, 'GAMMA_KEY')
    await row(page, /policy unavailable/).waitFor(patient)
    await page.getByText(/Upstreams sent secrets back \d+ times/).waitFor(patient)
    for (const unused of ['BETA_KEY', 'DELTA_KEY', 'OMEGA_KEY']) await page.getByText(unused, { exact: true }).waitFor()
    await page.getByRole('img', { name: /127\.0\.0\.1, secret not allowed: 1 requests/ }).waitFor()
    await row(page, /nightly build/)
      .getByText('revoked')
      .waitFor()
    expect(Date.now() - startedAt).toBeLessThan(120_000)
    expect(await leaks(world, { owner })).toEqual([])
  })
})
