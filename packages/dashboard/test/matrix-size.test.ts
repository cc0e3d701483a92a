import { apps } from '@skerry/contract/apps/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { importDek, newDek, sealSecret } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import { expect, test } from 'vitest'
import { newId } from '../../server/src/kernel/context.ts'
import { openApp, value } from './apps-steps.ts'
import { openOwner } from './scene.ts'

// A matrix of many secrets. The suite prints its times and does not assert them: see SKERRY_MATRIX in
// packages/dashboard/README.md.

const [rows = 400, columns = 2] = (process.env.SKERRY_MATRIX ?? '400x2').split('x').map(Number)

const { world, owner, page } = await openOwner()

const nameOf = (row: number) => `SECRET_${String(row).padStart(5, '0')}`
const isAbsent = (row: number, column: number) => row % 10 === 3 && column === 1
const isSame = (row: number) => row % 3 === 0 && !isAbsent(row, 1)
const sameRows = Array.from({ length: rows }, (_, row) => row).filter(isSame).length

/**
 * Seals the secrets as any client does, and inserts them into the database directly, because only their display is
 * tested.
 */
async function fill(as: string) {
  const { body: own } = await world.call(me.get, { as })
  const orgId = own.orgs[0]?.id as string
  const { body: made } = await world.call(apps.create, {
    as,
    params: { orgId },
    body: { name: 'Large', slug: 'large' },
  })
  for (let column = 0; column < columns; column++) {
    const bytes = newDek()
    const wrappedDek = await wrapKey(bytes, own.user?.publicKeyJwk as string)
    const body = { name: `Env ${column}`, slug: `env-${column}`, wrappedDek }
    const answer = await world.call(apps.createEnv, { as, params: { orgId, appId: made.app.id }, body })
    const envId = answer.body.environment.id
    const dek = await importDek(bytes)
    const numbers = Array.from({ length: rows }, (_, row) => row).filter((row) => !isAbsent(row, column))
    const names = numbers.map(nameOf)
    const ciphertexts = await Promise.all(
      numbers.map((row) => sealSecret(`value ${row} ${row % 3 === 0 ? '' : column}`, dek, envId, nameOf(row))),
    )
    await world.server.context.db.rows(
      `with given as (select * from unnest($3::text[], $4::text[], $5::text[]) as g(id, name, ciphertext)),
            made as (insert into secrets (org_id, id, environment_id, name, current_version, ciphertext, created_at, updated_at)
                     select $1, id, $2, name, 1, ciphertext, now(), now() from given)
       insert into secret_versions (org_id, secret_id, version, ciphertext, created_by_type, created_by_id, created_at)
       select $1, id, 1, ciphertext, 'user', $6, now() from given`,
      [orgId, envId, names.map(() => newId('secret')), names, ciphertexts, own.user?.id],
    )
  }
}

await fill(owner.bearer())

test('a large matrix offers all secrets, and renders only the visible rows', async () => {
  const startedAt = performance.now()
  await openApp(page, 'Large')
  await value(page, nameOf(0), 'Env 0').waitFor()
  const rowsAt = performance.now()
  await page.locator('.matrix-letter').first().waitFor()
  const marksAt = performance.now()
  await expect.poll(() => page.getByText(`${rows} secrets`).count()).toBe(1)
  expect(await page.getByRole('row').count()).toBeLessThan(60)
  expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe(String(rows + 1))
  report(`rows after ${ms(startedAt, rowsAt)}, compared where seen after ${ms(startedAt, marksAt)}`)
})

test('a large matrix scrolls to the last secret, which is compared and can be revealed', async () => {
  const early = await page.evaluate(scrollThrough)
  report(`${Math.round(early.frames)} frames a second while the rest is still compared`)
  await page.getByLabel('Show').getByText('Same').click()
  await page.getByText(`${sameRows} of ${rows} secrets`).waitFor({ timeout: 50_000 })
  await page.getByLabel('Show').getByText('All').click()
  await page.getByText(`${rows} secrets`, { exact: true }).waitFor()
  const { frames, worst } = await page.evaluate(scrollThrough)
  report(`${Math.round(frames)} frames a second while scrolling, the longest took ${Math.round(worst)} ms`)
  await page.locator('.matrix').evaluate((matrix) => matrix.scrollTo(0, matrix.scrollHeight))
  const last = rows - 1
  await value(page, nameOf(last), 'Env 0').click()
  await page.locator('.matrix-shown', { hasText: `value ${last}` }).waitFor()
})

test('the arrow keys also reach rows that were not rendered yet', async () => {
  await page.locator('.matrix').evaluate((matrix) => matrix.scrollTo(0, 0))
  await value(page, nameOf(0), 'Env 0').focus()
  for (const [key, from, to] of [
    ['ArrowDown', 0, 40],
    ['ArrowUp', 40, 0],
  ] as const) {
    for (let row = from; row !== to; ) {
      await page.keyboard.press(key)
      row += Math.sign(to - from)
      await expect.poll(() => page.evaluate(focused)).toEqual({ name: nameOf(row), inSight: true })
    }
  }
})

test('the focus follows many key presses within one frame', async () => {
  await value(page, nameOf(0), 'Env 0').focus()
  for (const [key, to] of [
    ['ArrowDown', 60],
    ['ArrowUp', 0],
  ] as const) {
    await page.evaluate(pressAtOnce, { key, times: 60 })
    await expect.poll(() => page.evaluate(focused)).toEqual({ name: nameOf(to), inSight: true })
  }
})

test('the search finds secrets by name, and the filter finds missing and equal ones after all are compared', async () => {
  await page.getByLabel('Find by name').fill(nameOf(7))
  await page.getByText(`1 of ${rows} secrets`).waitFor()
  await page.getByLabel('Find by name').fill('')
  const startedAt = performance.now()
  await page.getByLabel('Show').getByText('Missing').click()
  await page.getByText(`${Math.ceil((rows - 3) / 10)} of ${rows} secrets`).waitFor()
  await page.getByLabel('Show').getByText('Same').click()
  await page.getByText(`${sameRows} of ${rows} secrets`).waitFor()
  report(`filtered after ${ms(startedAt, performance.now())}`)
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect(owner.complaints).toEqual([])
})

const ms = (from: number, to: number) => `${Math.round(to - from)} ms`
const report = (text: string) => process.stdout.write(`${rows} secrets x ${columns} environments: ${text}\n`)

/**
 * Runs in the page. Returns the row with the focus, and whether its value is visible: neither beneath the head nor
 * below the end.
 */
function focused() {
  const { activeElement } = document
  const { left, top, width, height } = (activeElement as Element).getBoundingClientRect()
  const inSight = document.elementFromPoint(left + width / 2, top + height / 2) === activeElement
  return { name: activeElement?.closest('.matrix-row')?.querySelector('.matrix-name > .mono')?.textContent, inSight }
}

/** Runs in the page. Fires all key presses without a frame in between, as on a slow machine. */
function pressAtOnce({ key, times }: { key: string; times: number }) {
  for (let i = 0; i < times; i++)
    document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
}

/** Runs in the page. Scrolls for two seconds, more than a row's height each frame. */
async function scrollThrough() {
  const matrix = document.querySelector('.matrix') as HTMLElement
  const times: number[] = []
  const startedAt = performance.now()
  await new Promise<void>((resolve) => {
    const step = (now: number) => {
      times.push(now)
      matrix.scrollTop += 60
      if (performance.now() - startedAt > 2000) resolve()
      else requestAnimationFrame(step)
    }
    requestAnimationFrame(step)
  })
  const gaps = times.slice(1).map((time, i) => time - (times[i] as number))
  return { frames: (1000 * gaps.length) / ((times.at(-1) as number) - (times[0] as number)), worst: Math.max(...gaps) }
}
