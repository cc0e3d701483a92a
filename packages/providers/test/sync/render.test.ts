import { describe, expect, it } from 'vitest'
import { open } from '../../src/sync/render.ts'
import { testOutbound } from '../outbound.ts'
import { oneByOneConformance } from './clouds.ts'
import { group, renderFake, service } from './render-fake.ts'

describe('service', () => oneByOneConformance('app-platform-b', async () => await renderFake(service)))
describe('group', () => oneByOneConformance('app-platform-b', async () => await renderFake(group)))

it('the list contains all pages of a service', async () => {
  const fake = await renderFake(service)
  for (let index = 0; index < 200; index++) fake.put(`NAME_${index}`, 'x')
  expect(await open(service, testOutbound({ 'app-platform-b': fake.origin })).list()).toHaveLength(200)
  await fake.stop()
})
