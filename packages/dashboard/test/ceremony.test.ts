import { me } from '@skerry/contract/me/endpoints'
import { invites, members } from '@skerry/contract/members/endpoints'
import { recovery, recoveryRequests } from '@skerry/contract/recovery/endpoints'
import { openWithPassphrase } from '@skerry/crypto/keyring'
import { exportPrivateKey, type PrivateKey } from '@skerry/crypto/keys'
import { unwrapKey } from '@skerry/crypto/wrap'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../server/test/blobs.ts'
import { findings, needle } from '../../server/test/needles.ts'
import { tableDump } from '../../server/test/state.ts'
import { dialogOf, expectShown, openApp, openOrg } from './apps-steps.ts'
import type { Visitor } from './browser.ts'
import { lookAgain, choose as pick, row } from './changes-steps.ts'
import { chooseCustodians, closed, giveShare, press, pressIn, wordsIn } from './custody-steps.ts'
import { axeProblems, choose, joinsWithKey, newPlace, putSecret } from './org-steps.ts'
import { join, openOwner, tracesOf } from './scene.ts'
import * as steps from './steps.ts'

// Five custodians, any three of whom can let a newcomer read secrets that nobody has granted to them. Each person has a
// browser of their own, except two custodians who contribute no share.

const walk = await openOwner()
const { world, owner } = walk
const place = await newPlace(world, owner.bearer())
const value = 'planted-database-url-5e20b7'
await putSecret(world, owner.bearer(), place, 'DATABASE_URL', value)
const params = { orgId: place.orgId }

const [grace, linus, margaret] = [
  await join(walk, 'grace@example.com'),
  await join(walk, 'linus@example.com'),
  await join(walk, 'margaret@example.com'),
]
const alan = await joinsElsewhere('alan@example.com')
const edsger = await joinsElsewhere('edsger@example.com')
const custodians = ['grace', 'linus', 'margaret', 'alan', 'edsger'].map((name) => `${name}@example.com`)

const newcomerName = 'katherine@example.com'
let newcomer: Visitor
let words: string
let recoveryRequestId: string

async function joinsElsewhere(email: string) {
  await world.call(invites.create, { as: owner.bearer(), params, body: { email } })
  return joinsWithKey(world, email)
}

const shown = ({ page }: Visitor, text: string | RegExp) => page.getByText(text).first().waitFor()
const shareOf = async (as: string) => (await world.call(recovery.share, { as, params })).body.share

interface Holder {
  as: string
  privateKey: PrivateKey
}

/** Returns the person's private key. The test opens their keyring with their passphrase, as their browser did. */
async function atBrowser(visitor: Visitor): Promise<Holder> {
  const as = visitor.bearer()
  const [{ body: own }, { body: keys }] = [await world.call(me.get, { as }), await world.call(me.getKeys, { as })]
  const sealed = keys.encryptedPrivateKey as string
  const { passphrase } = steps.person
  return { as, privateKey: await openWithPassphrase(sealed, passphrase, own.principal.id, { extractable: true }) }
}

const openedShare = async ({ as, privateKey }: Holder) => unwrapKey((await shareOf(as)).wrappedShare, privateKey)

/** Returns the 32 secret bytes of a P-256 key in PKCS #8. Every other form of the key contains them, too. */
const scalarOf = async ({ privateKey }: Holder) => (await exportPrivateKey(privateKey)).slice(36, 68)

describe('the recovery key', () => {
  test('is created for five custodians, and the threshold cannot exceed their number', async () => {
    const { page } = owner
    await steps.goTo(page, 'Recovery')
    await press(owner, 'Set it up')
    await chooseCustodians(owner, custodians)
    const dialog = dialogOf(page)
    for (const name of custodians) await dialog.getByLabel(`I compared these words with ${name}`).check()
    const make = dialog.getByRole('button', { name: 'Make the recovery key' })
    await dialog.getByLabel('How many of them are needed').fill('6')
    await dialog.getByText('From 2 to the number of custodians.').waitFor()
    expect(await make.isDisabled()).toBe(true)
    const needsAll = dialog.getByText('All 5 custodians are needed.')
    await dialog.getByLabel('How many of them are needed').fill('5')
    await needsAll.waitFor()
    await dialog.getByLabel('How many of them are needed').fill('3')
    await needsAll.waitFor({ state: 'hidden' })
    await make.click()
    await closed(owner)
    await shown(owner, 'Any 3 of 5 custodians together open what it covers.')
    await shown(owner, '1 of 1 environments can be recovered.')
    // The custodians keep this page open from now on.
    for (const custodian of [grace, linus, margaret]) await steps.goTo(custodian.page, 'Recovery')
  })
})

describe('a newcomer', () => {
  test('joins later and holds no key', async () => {
    newcomer = await join(walk, newcomerName)
    await steps.goTo(newcomer.page, 'Keyring')
    words = await newcomer.page.locator('#root .mono', { hasText: /^([a-z]+ ){11}[a-z]+$/ }).innerText()
    await openOrg(newcomer.page)
    await openApp(newcomer.page, 'Web shop')
    await shown(newcomer, 'You hold no key here')
  })

  test('gets a recovery request that an admin opens', async () => {
    await press(owner, 'Recover for someone…')
    await pick(owner.page, 'Member', newcomerName)
    await dialogOf(owner.page).getByLabel('Reason').fill('nobody who can read it is left in the team')
    await pressIn(owner, 'Ask the custodians')
    await closed(owner)
    const { body } = await world.call(recoveryRequests.list, { as: owner.bearer(), params })
    recoveryRequestId = body.requests[0]?.id as string
    await steps.goTo(newcomer.page, 'Recovery')
    await row(newcomer.page, newcomerName).getByText('0 of 3', { exact: true }).waitFor()
  })
})

describe('the shares', () => {
  test('are requested on the pages that custodians have open, by the name of a person who joined meanwhile', async () => {
    for (const { page } of [grace, linus, margaret]) await row(page, newcomerName).waitFor()
  })

  test('can be contributed only after the words were compared, and once by each custodian', async () => {
    await giveShare(grace, newcomerName, words)
    await choose(grace.page, newcomerName, 'Give my share…')
    await dialogOf(grace.page).getByText('You compared this key before').waitFor()
    await pressIn(grace, 'Give my share')
    await dialogOf(grace.page)
      .getByRole('alert')
      .getByText(/you have already contributed to this request/i)
      .waitFor()
    await pressIn(grace, 'Cancel')
    await giveShare(linus, newcomerName, words)
  })

  test('cannot be combined while there are only two, and the newcomer sees that one is missing', async () => {
    const { page } = newcomer
    await row(page, newcomerName).getByText('2 of 3', { exact: true }).waitFor()
    await page.getByRole('button', { name: `Actions for ${newcomerName}` }).click()
    expect(await page.getByRole('menuitem', { name: 'Complete…' }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'What to do, step by step' }).click()
    await shown(newcomer, '2 of 3 shares have been given. One more custodian has to give theirs.')
    expect(await wordsIn(newcomer, 'Fingerprint of your key')).toBe(words)
    expect(await page.getByRole('button', { name: 'Read again', exact: true }).count()).toBe(0)
    const as = newcomer.bearer()
    const { body: own } = await world.call(me.get, { as })
    const { error } = await world.call(recoveryRequests.complete, {
      as,
      params: { ...params, recoveryRequestId },
      body: {
        principalType: 'user',
        principalId: own.principal.id,
        grants: [{ environmentId: place.envId, wrappedDek: wrappedKey() }],
      },
    })
    expect(error).toEqual({ code: 'conflict', message: '2 of 3 shares were contributed' })
  })

  test('cannot be given to a key that the server swapped in, because its words differ', async () => {
    const { page } = margaret
    const list = /\/recovery\/requests(\?|$)/
    await page.route(list, async (route) => {
      const response = await route.fetch()
      const { requests, ...rest } = await response.json()
      const changed = requests.map((one: object) => ({ ...one, targetPublicKeyJwk: edsger.publicKeyJwk }))
      await route.fulfill({ response, json: { requests: changed, ...rest } })
    })
    await lookAgain(page)
    await choose(page, newcomerName, 'Give my share…')
    await dialogOf(page)
      .getByLabel(/I compared these words/)
      .waitFor()
    expect(await wordsIn(margaret, `Fingerprint of the key of ${newcomerName}`)).not.toBe(words)
    expect(await dialogOf(page).getByRole('button', { name: 'Give my share' }).isDisabled()).toBe(true)
    await pressIn(margaret, 'Cancel')
    await page.unroute(list)
    await lookAgain(page)
    await giveShare(margaret, newcomerName, words)
  })
})

describe('the newcomer', () => {
  test('sees whose share is false after the server swaps in another custodian’s', async () => {
    const { page } = newcomer
    const ceremony = `**/recovery/requests/${recoveryRequestId}`
    const { shareIndex } = await shareOf(linus.bearer())
    await page.route(ceremony, async (route) => {
      const response = await route.fetch()
      const { shares, ...rest } = await response.json()
      const other = shares.find((one: { shareIndex: number }) => one.shareIndex !== shareIndex)
      const swapped = shares.map((one: { shareIndex: number }) =>
        one.shareIndex === shareIndex ? { ...one, contributedShare: other.contributedShare } : one,
      )
      await route.fulfill({ response, json: { shares: swapped, ...rest } })
    })
    await page.goBack()
    await row(page, newcomerName).getByText('3 of 3', { exact: true }).waitFor()
    await choose(page, newcomerName, 'Complete…')
    await pressIn(newcomer, 'Recover')
    const named = dialogOf(page).getByRole('alert').getByRole('listitem')
    await named.first().waitFor()
    expect(await named.allInnerTexts()).toEqual([`share ${shareIndex} of linus@example.com`])
    expect(await axeProblems(page)).toEqual([])
    await page.unroute(ceremony)
  })

  test('completes the request in the browser and can then read the secret', async () => {
    const { page } = newcomer
    await pressIn(newcomer, 'Recover')
    await closed(newcomer)
    await row(page, newcomerName).getByText('completed', { exact: true }).waitFor()
    await openApp(page, 'Web shop')
    await expectShown(page, 'DATABASE_URL', 'Production', value)
  })

  test('has revealed no value, key or share to the tables, the requests or the log', async () => {
    const five = [...(await Promise.all([grace, linus, margaret].map(atBrowser))), alan, edsger]
    const holders = [...(await Promise.all([owner, newcomer].map(atBrowser))), ...five]
    const privateKeys = await Promise.all(holders.map(scalarOf))
    const shares = await Promise.all(five.map(openedShare))
    const needles = [
      needle('plaintext', 'planted'),
      needle('key of the environment', place.raw),
      ...privateKeys.map((scalar) => needle('private key', scalar)),
      // A share begins after its signature (64 bytes), and its last byte is its number.
      ...shares.map((share) => needle('share', share.slice(64, -1))),
    ]
    const places = [
      ...(await tableDump(world)),
      ...(await tracesOf(world, { owner, grace, linus, margaret, newcomer })),
    ]
    expect(findings(needles, places)).toEqual([])
    // The ID is not secret. Finding it shows that this search works.
    const found = findings([needle('id', recoveryRequestId)], places)
    for (const where of ['table public.recovery_requests', 'a request of grace'])
      expect(found).toContain(`id in ${where}`)
  })
})

test('the page of the recovery key warns after a custodian has left', async () => {
  await world.call(members.remove, { as: owner.bearer(), params: { ...params, userId: alan.id } })
  await steps.goTo(owner.page, 'Applications')
  await steps.goTo(owner.page, 'Recovery')
  await shown(owner, /One custodian has left or replaced their keys/)
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect([owner, grace, linus, margaret, newcomer].flatMap(({ complaints }) => complaints)).toEqual([])
})
