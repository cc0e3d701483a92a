import { expect, it } from 'vitest'
import { open } from '../../src/sync/railway.ts'
import { testOutbound } from '../outbound.ts'
import { syncConformance } from './conformance.ts'
import { connection, projectId, railwayFake } from './railway-fake.ts'

syncConformance('app-platform-a', railwayFake)

it('the list contains all pages, and only the service’s own variables', async () => {
  const fake = await railwayFake()
  for (let index = 0; index < 150; index++) fake.put(`NAME_${index}`, 'x')
  const session = open(connection, testOutbound({ 'app-platform-a': fake.origin }))
  const names = (await session.list()).map(({ name }) => name)
  expect(names).toHaveLength(150)
  expect(names.every((name) => name.startsWith('NAME_'))).toBe(true)
  await fake.stop()
})

it('a value that Railway would read as a reference fails alone, and is never sent', async () => {
  const fake = await railwayFake()
  const session = open(connection, testOutbound({ 'app-platform-a': fake.origin }))
  const write = [
    { name: 'GOOD', value: 'x', memo: null },
    { name: 'BAD', value: 'a${{shared.OTHER}}b', memo: null },
  ]
  const { written, failed } = await session.push({ runId: 'run', write, remove: [] })
  expect([written, failed]).toMatchObject([[{ name: 'GOOD' }], [{ name: 'BAD' }]])
  expect([...fake.values().keys()]).toEqual(['GOOD'])
  expect(fake.deploys()).toBe(1)
  await fake.stop()
})

it('a project token has its own header, and must belong to the environment', async () => {
  const fake = await railwayFake({ 'project-access-token': connection.credential })
  const config = { ...connection.config, tokenKind: 'project' as const }
  const outbound = testOutbound({ 'app-platform-a': fake.origin })
  await open({ ...connection, config }, outbound).verify()
  const destination = { ...connection.destination, environmentId: projectId }
  const other = open({ ...connection, config, destination }, outbound)
  await expect(other.verify()).rejects.toMatchObject({ reason: 'invalid' })
  await expect(open(connection, outbound).verify()).rejects.toMatchObject({ reason: 'denied' })
  await fake.stop()
})
