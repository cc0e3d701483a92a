import { expect, it } from 'vitest'
import { open } from '../../src/sync/hugging-face-spaces.ts'
import { testOutbound } from '../outbound.ts'
import { oneByOneConformance } from './clouds.ts'
import { connection, spaceFake } from './hugging-face-spaces-fake.ts'

oneByOneConformance('ml-spaces', spaceFake)

it('a static Space is refused before anything is written, because visitors can read its secrets', async () => {
  const fake = await spaceFake()
  fake.is('static')
  const session = () => open(connection, testOutbound({ 'ml-spaces': fake.origin }))
  const refused = { reason: 'unsupported', message: expect.stringContaining('static') }
  await expect(session().verify()).rejects.toMatchObject(refused)
  const write = [{ name: 'FIRST_NAME', value: 'one', memo: null }]
  await expect(session().push({ runId: 'run_1', write, remove: [] })).rejects.toMatchObject(refused)
  expect(fake.writes()).toBe(0)
  await fake.stop()
})

it('the name of a public variable is locked, and the pause ends with the rate limit window', async () => {
  const fake = await spaceFake()
  fake.variables.add('PUBLIC_NAME')
  const session = open(connection, testOutbound({ 'ml-spaces': fake.origin }))
  expect(await session.list()).toEqual([
    { name: 'PUBLIC_NAME', revision: null, locked: expect.stringMatching(/variable/) },
  ])
  fake.fail('rate')
  const write = [{ name: 'FIRST_NAME', value: 'one', memo: null }]
  await expect(session.push({ runId: 'run_1', write, remove: [] })).rejects.toMatchObject({ retryAfterMs: 42_000 })
  await fake.stop()
})
