import { accessRequests } from '@skerry/contract/access-requests/endpoints'
import { apps } from '@skerry/contract/apps/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { members } from '@skerry/contract/members/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { newDek, sealSecret } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import { expect, test } from 'vitest'
import { dialogOf, openApp, placeOf } from './apps-steps.ts'
import { countPresses } from './presses.ts'
import { grantTo, leaks, openPair } from './scene.ts'
import * as steps from './steps.ts'

// Asking for access and answering: how many presses each takes, and what happens if others act at the same time.

const scene = await openPair()
const { world, owner, page, member, place } = scene
const theirs = member.page
const as = () => owner.bearer()
const { orgId } = place
const { appId } = await placeOf(world, as(), 'web-shop')
await grantTo(scene, place, member)
// Without a secret, the matrix has no columns.
await world.call(secrets.put, {
  as: as(),
  params: { orgId, envId: place.envId, name: 'API_KEY' },
  body: { ciphertext: await sealSecret('planted-api-key', place.dek, place.envId, 'API_KEY') },
})
const envIds = new Map<string, string>()
for (const name of ['Staging', 'Quality', 'Preview', 'Nightly', 'Development']) envIds.set(name, await newEnv(name))
// The toasts about earlier grants end with the reload.
await theirs.reload()
await openApp(theirs, 'Web shop')
const asked = await countPresses(theirs)
const answered = await countPresses(page)
let [askedBefore, answeredBefore] = [0, 0]

// Longer than the two seconds that are promised, because a busy machine draws late.
const soon = { timeout: 10_000 }

/** Creates an environment of the application whose key the owner holds. */
async function newEnv(name: string): Promise<string> {
  const { body: own } = await world.call(me.get, { as: as() })
  const wrappedDek = await wrapKey(newDek(), own.user?.publicKeyJwk as string)
  const { body, error } = await world.call(apps.createEnv, {
    as: as(),
    params: { orgId, appId },
    body: { name, slug: name.toLowerCase(), wrappedDek },
  })
  if (error) throw new Error(error.message)
  return body.environment.id
}

/** Returns the presses of both since the last call. */
function presses() {
  const counts = { asked: asked() - askedBefore, answered: answered() - answeredBefore }
  ;[askedBefore, answeredBefore] = [asked(), answered()]
  return counts
}

async function ask(name: string, reason: string) {
  await theirs.getByRole('button', { name: `Ask for access to ${name}` }).click()
  await dialogOf(theirs).getByLabel('Reason').fill(reason)
  await dialogOf(theirs).getByRole('button', { name: 'Ask for 1 environment' }).click()
  await dialogOf(theirs).waitFor({ state: 'detached' })
}

/** Waits until the column of the environment is open in the matrix of the person who asked. */
const opened = (name: string) =>
  theirs.getByRole('button', { name: `Ask for access to ${name}` }).waitFor({ state: 'detached', ...soon })

test('asking in the head of a column takes two presses, and so does the answer that compares words', async () => {
  await ask('Staging', 'On call from Monday')
  await page.getByText(/asks for Web shop \/ Staging: “On call from Monday”/).waitFor(soon)
  await page.getByRole('alert').getByRole('button', { name: 'Compare words' }).click()
  await dialogOf(page).getByRole('button', { name: 'They match, pass on 1 key' }).click()
  await dialogOf(page).waitFor({ state: 'detached' })
  await opened('Staging')
  await theirs.getByText('Ada granted you 1 environment.').waitFor(soon)
  expect(presses()).toEqual({ asked: 2, answered: 2 })
})

test('after the comparison, the answer in the toast takes one press', async () => {
  await ask('Quality', 'A failing test')
  await page.getByText(/asks for Web shop \/ Quality: “A failing test”/).waitFor(soon)
  await page.getByRole('alert').getByRole('button', { name: 'Grant 1 environment' }).click()
  await page
    .getByText(/can read 1 environment now/)
    .first()
    .waitFor(soon)
  await opened('Quality')
  expect(presses()).toEqual({ asked: 2, answered: 1 })
})

test('several environments are asked for in the grid, and answered with one press in the row', async () => {
  await steps.goTo(page, 'Requests')
  await steps.goTo(theirs, 'Requests')
  await theirs.getByRole('button', { name: 'Ask for access' }).click()
  presses()
  const dialog = dialogOf(theirs)
  await dialog.getByLabel('Web shop, all but production').click()
  await dialog.getByText('8 hours', { exact: true }).click()
  await dialog.getByRole('button', { name: 'Ask for 3 environments' }).click()
  await dialog.waitFor({ state: 'detached' })
  const row = page.getByRole('row', { name: 'grace' })
  await row.getByText('8 hours').waitFor(soon)
  await row.getByRole('button', { name: /^Grant 3 environments to grace/ }).click()
  await page.getByText('Nobody asks for access').waitFor(soon)
  expect(presses()).toEqual({ asked: 3, answered: 1 })
})

test('the person who asked reads who granted, and until when', async () => {
  await theirs.getByText('Answered', { exact: true }).click()
  const row = theirs.getByRole('row', { name: /8 hours/ })
  await row.getByText(/by Ada/).waitFor(soon)
  await row.getByText(/^Until /).waitFor()
})

test('a request for what was deleted meanwhile is refused, and nothing is asked for', async () => {
  const gone = await newEnv('Gone')
  await steps.goTo(theirs, 'Requests')
  await theirs.getByText('Open', { exact: true }).click()
  await theirs.getByRole('button', { name: 'Ask for access' }).first().click()
  await dialogOf(theirs).getByLabel('Gone of Web shop').check()
  await theirs.route('**/v1/orgs/*/access-requests', async (route) => {
    if (route.request().method() === 'POST') await world.call(envs.delete, { as: as(), params: { orgId, envId: gone } })
    await route.fallback()
  })
  await dialogOf(theirs).getByRole('button', { name: 'Ask for 1 environment' }).click()
  await dialogOf(theirs)
    .getByRole('alert')
    .getByText(/no such env/i)
    .waitFor()
  await theirs.unroute('**/v1/orgs/*/access-requests')
  await dialogOf(theirs).getByRole('button', { name: 'Cancel' }).click()
  const query = { status: 'open' as const }
  expect((await world.call(accessRequests.list, { as: as(), params: { orgId }, query })).body.open).toBe(0)
})

test('two admins who answer at once both succeed, and the request is closed once', async () => {
  const twice = await newEnv('Twice')
  const asking = { as: member.bearer(), params: { orgId }, body: { environmentIds: [twice] } }
  await world.call(accessRequests.create, asking)
  const grant = page.getByRole('button', { name: /^Grant 1 environment to grace/ })
  await grant.waitFor(soon)
  await page.route('**/v1/orgs/*/grants', async (route) => {
    await grantTo(scene, { ...place, envId: twice }, member)
    await route.fallback()
  })
  await grant.click()
  await page.getByText('Nobody asks for access').waitFor(soon)
  await page.unroute('**/v1/orgs/*/grants')
  const { requests } = (
    await world.call(accessRequests.list, { as: as(), params: { orgId }, query: { status: 'closed' } })
  ).body
  expect(requests.at(-1)).toMatchObject({ status: 'granted' })
})

test('a person who leaves while the admin grants gets nothing, and the admin reads that they left', async () => {
  const last = await newEnv('Last')
  const { body: own } = await world.call(me.get, { as: member.bearer() })
  await world.call(accessRequests.create, { as: member.bearer(), params: { orgId }, body: { environmentIds: [last] } })
  const grant = page.getByRole('button', { name: /^Grant 1 environment to grace/ })
  await grant.waitFor(soon)
  await page.route('**/v1/orgs/*/grants', async (route) => {
    await world.call(members.remove, { as: as(), params: { orgId, userId: own.principal.id } })
    await route.fallback()
  })
  await grant.click()
  await page
    .getByText(/the person has left/)
    .first()
    .waitFor(soon)
  await page.unroute('**/v1/orgs/*/grants')
  await page.getByText('Nobody asks for access').waitFor(soon)
})

test('no value has left the browser', async () => {
  expect(await leaks(world, { owner, member })).toEqual([])
})
