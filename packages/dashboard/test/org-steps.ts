import { apps } from '@skerry/contract/apps/endpoints'
import { protection } from '@skerry/contract/changes/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { teams } from '@skerry/contract/teams/endpoints'
import { generateKeyPair, publicKeyJwkOf } from '@skerry/crypto/keys'
import { type Dek, importDek, newDek, sealSecret } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { sealedPrivateKey } from '../../server/test/blobs.ts'
import { signInByLink } from '../../server/test/people.ts'
import { acceptInvites } from '../../server/test/tenant.ts'
import type { World } from '../../server/test/world.ts'
import { placeOf } from './apps-steps.ts'
import { goTo } from './steps.ts'

export async function invite(page: Page, email: string): Promise<void> {
  await goTo(page, 'Members')
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('E-mail').fill(email)
  await dialog.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('row', { name: email }).waitFor()
}

/** Creates a team with all environments of these applications, through another client. Returns its id. */
export async function newTeam(world: World, as: string, name: string, slugs: string[]): Promise<string> {
  const places = await Promise.all(slugs.map((slug) => placeOf(world, as, slug)))
  const params = { orgId: places[0]?.orgId as string }
  const { body } = await world.call(teams.create, { as, params, body: { name } })
  const environmentIds = places.flatMap(({ envs }) => Object.values(envs))
  const of = { ...params, teamId: body.team.id }
  const { error } = await world.call(teams.addEnvironments, { as, params: of, body: { environmentIds } })
  if (error) throw new Error(error.message)
  return body.team.id
}

/** Chooses an action in the menu of a list's row. */
export async function choose(page: Page, of: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${of}` }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

/** Returns the problems that axe calls serious or critical. */
export async function axeProblems(page: Page): Promise<string[]> {
  // Sent through the DevTools protocol, to which the page's Content-Security-Policy does not apply.
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'] }),
  )
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`)
}

/** An environment whose key the test has, too. */
export interface Place {
  orgId: string
  envId: string
  dek: Dek
  raw: ReturnType<typeof newDek>
}

/** Creates Web shop / Production, through another client of the person at the browser. */
export async function newPlace(world: World, as: string): Promise<Place> {
  const { body: own } = await world.call(me.get, { as })
  const orgId = own.orgs[0]?.id as string
  const { body: created } = await world.call(apps.create, {
    as,
    params: { orgId },
    body: { name: 'Web shop', slug: 'web-shop' },
  })
  const raw = newDek()
  const wrappedDek = await wrapKey(raw, own.user?.publicKeyJwk as string)
  const { body } = await world.call(apps.createEnv, {
    as,
    params: { orgId, appId: created.app.id },
    body: { name: 'Production', slug: 'production', wrappedDek },
  })
  return { orgId, envId: body.environment.id, dek: await importDek(raw), raw }
}

/** Writes a secret, or proposes it if the environment is protected. */
export async function putSecret(world: World, as: string, place: Place, name: string, value: string, note?: string) {
  const { orgId, envId, dek } = place
  const ciphertext = await sealSecret(value, dek, envId, name)
  return world.call(secrets.put, {
    as,
    params: { orgId, envId, name },
    body: { ciphertext },
    headers: note === undefined ? {} : { 'x-skerry-change-note': encodeURIComponent(note) },
  })
}

export const protect = (world: World, as: string, { orgId, envId }: Place) =>
  world.call(protection.put, {
    as,
    params: { orgId, envId },
    body: { requiredApprovals: 1, allowSelfApproval: true },
  })

export const unprotect = (world: World, as: string, { orgId, envId }: Place) =>
  world.call(protection.delete, { as, params: { orgId, envId } })

/** Signs an invited person in and creates their key, without a browser. */
export async function joinsWithKey(world: World, email: string) {
  const person = await signInByLink(world, email)
  await acceptInvites(world, person)
  const { privateKey } = await generateKeyPair()
  const publicKeyJwk = publicKeyJwkOf(privateKey)
  const body = { publicKeyJwk, encryptedPrivateKey: sealedPrivateKey() }
  await world.call(me.putKeys, { as: person.as, body })
  const { body: own } = await world.call(me.get, { as: person.as })
  return { ...person, id: own.principal.id, publicKeyJwk, privateKey }
}

/** Does the same as `joinsWithKey`, and grants the environment's key to the person. */
export async function joins(world: World, as: string, place: Place, email: string) {
  const person = await joinsWithKey(world, email)
  const wrappedDek = await wrapKey(place.raw, person.publicKeyJwk)
  const answer = await world.call(grants.create, {
    as,
    params: { orgId: place.orgId, envId: place.envId },
    body: { principalType: 'user', principalId: person.id, wrappedDek },
  })
  if (answer.error) throw new Error(answer.error.message)
  return person
}
