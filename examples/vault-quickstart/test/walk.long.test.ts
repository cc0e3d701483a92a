import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { press, screen } from '../../../packages/connect/test/scene.ts'
import { visit } from '../../../packages/dashboard/test/browser.ts'
import { findings, needle, type Place } from '../../../packages/server/test/needles.ts'
import { freePort } from '../../../packages/server/test/services/free-port.ts'
import { start } from '../start.ts'

const folder = await mkdtemp(join(tmpdir(), 'skerry-example-'))
const running = await start(folder, { product: await freePort(), executor: await freePort() })
const { url, provider } = running
const visitor = await visit(url)
const { page } = visitor
afterAll(async () => {
  await visitor.close()
  await running[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

/** The keys and tokens in the requests to the provider. */
const presented: string[] = []
provider.server.on('request', ({ headers }) => {
  presented.push(String(headers['x-api-key'] ?? ''), headers.authorization?.replace('Bearer ', '') ?? '')
})

/** The tokens that the provider has issued. */
const issued: string[] = []
provider.server.prependListener('request', ({ url: path }, response) => {
  if (path !== '/token') return
  const end = response.end.bind(response)
  response.end = ((body: string) => {
    const { access_token, refresh_token } = JSON.parse(body)
    issued.push(access_token, refresh_token)
    return end(body)
  }) as typeof response.end
})

async function agree(name: string): Promise<void> {
  await page.goto(url)
  await press(visitor, `Connect ${name.toLowerCase()}`)
  await screen(visitor, `Connect your ${name} account`)
  await press(visitor, 'Agree and continue')
}

async function comeBack(name: string, answer: string): Promise<void> {
  await screen(visitor, `${name} is connected`)
  await press(visitor, 'Back to Planner')
  await page.waitForURL(`${url}/**`)
  await page.getByText(answer).waitFor()
}

test('a person connects an account with an API key, and the product gets the provider’s answer', async () => {
  await agree('Weather')
  await page.getByLabel('Weather key').first().fill(provider.apiKey)
  await press(visitor, 'Connect')
  await comeBack('Weather', 'sunny, 24 degrees')
  expect(presented).toContain(provider.apiKey)
})

test('a person connects an account by signing in at its provider', async () => {
  await agree('Calendar')
  await press(visitor, 'Go to Calendar')
  await page.locator('[name=login]').fill('ada')
  await page.locator('[name=password]').fill('any')
  await page.locator('[type=submit]').click()
  await page.locator('[name=prompt][value=consent]').waitFor({ state: 'attached' })
  await page.locator('[type=submit]').click()
  await comeBack('Calendar', 'Lunch with Grace')
  await page.getByText('"account": "ada"').waitFor()
  await page.getByText('sunny, 24 degrees').waitFor()
})

test('the data of the server contains no credential, and the refresh token goes only to the executor', async () => {
  const used = new Set(presented.filter((text) => text !== ''))
  expect(used).toEqual(new Set([provider.apiKey, issued[0]]))
  const secrets = [provider.apiKey, ...issued]
  expect(secrets.map((text) => text.length > 20)).toEqual([true, true, true])
  const places = await contentOf(join(folder, 'server'))
  expect(findings([needle('the name of a provider', 'Calendar')], places)).not.toEqual([])
  expect(
    findings(
      secrets.map((secret) => needle('a credential', secret)),
      places,
    ),
  ).toEqual([])
})

test('a disconnected account is no longer used', async () => {
  await page.goto(url)
  await press(visitor, 'Your connected accounts')
  await screen(visitor, 'Your connected accounts')
  await press(visitor, 'Disconnect Weather')
  await press(visitor, 'Disconnect')
  await page.getByText('Weather is disconnected.').waitFor()
  await page.goto(url)
  await page.getByRole('button', { name: 'Connect weather' }).waitFor()
  await page.getByText('Lunch with Grace').waitFor()
  // The sign-in pages of oidc-provider load a font, which fails on a machine without internet access.
  expect(visitor.complaints.filter((text) => !text.includes('fonts.googleapis.com'))).toEqual([])
})

/** The content of every file below a folder. */
async function contentOf(top: string): Promise<Place[]> {
  const entries = await readdir(top, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Promise.all(paths.map(async (where) => ({ where, text: await readFile(where, 'latin1') })))
}
