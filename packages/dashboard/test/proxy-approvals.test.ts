import { expect, onTestFinished, test } from 'vitest'
import { startUpstream, startWorld } from '../../proxy/test/world.ts'
import { visit } from './browser.ts'

// The page of the proxy's control listener, where a person approves or denies waiting requests.

const value = 'planted-2f9a-value'

test('a person sees waiting requests, approves one and denies the other, and the page shows no secret value', async () => {
  const upstream = await startUpstream()
  const world = await startWorld(
    `[[route]]\nprefix = "/api"\nupstream = "${upstream.origin}"\nallow = ["API_KEY"]\n` +
      '[control]\nlisten = "127.0.0.1:0"\n[approval]\n[[approval.require]]\nhost = "127.0.0.1"\n',
    { API_KEY: value },
  )
  const visitor = await visit(world.control!)
  onTestFinished(() => visitor.close())
  const { page } = visitor
  const ask = async (path: string) => {
    const answer = await fetch(`${world.reverse}/api${path}`, { headers: { a: '{{skerry:API_KEY}}' } })
    return answer.headers.get('x-skerry-refusal') ?? answer.status
  }
  await page.goto('/')
  await page.getByText('Enter the control token.').waitFor()
  await page.getByLabel('Control token').fill('control-token')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByText('No request waits.').waitFor()

  const first = ask('/first')
  await page.getByText('GET 127.0.0.1/first').waitFor()
  await page.getByText('With API_KEY.').waitFor()
  expect(upstream.got).toEqual([])
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  expect(await first).toBe(200)
  await page.getByText('No request waits.').waitFor()

  const second = ask('/second')
  await page.getByText('GET 127.0.0.1/second').waitFor()
  await page.getByRole('button', { name: 'Deny', exact: true }).click()
  expect(await second).toBe('approval')
  expect(upstream.got.map(({ url }) => url)).toEqual(['/first'])
  expect(await page.content()).not.toContain(value)
  expect(visitor.complaints).toEqual([])
})
