import { describe, expect, it } from 'vitest'
import { open } from '../../src/sync/digitalocean.ts'
import { testOutbound } from '../outbound.ts'
import { syncConformance } from './conformance.ts'
import { app, appsFake, component } from './digitalocean-fake.ts'

describe('app', () => syncConformance('app-platform-e', async () => await appsFake(app)))
describe('component', () => syncConformance('app-platform-e', async () => await appsFake(component)))

it('unknown parts of a spec are sent back unchanged', async () => {
  const fake = await appsFake(component)
  fake.spec().envs.push({ key: 'OF_THE_APP', value: 'x', scope: 'RUN_TIME', type: 'GENERAL' })
  fake.put('THEIRS', 'theirs')
  const before = structuredClone(fake.spec())
  const session = open(component, testOutbound({ 'app-platform-e': fake.origin }))
  await session.push({ runId: 'run', write: [{ name: 'OURS', value: 'x', memo: null }], remove: [] })
  const [ours] = fake.spec().services[0]?.envs.splice(1) ?? []
  expect(fake.spec()).toEqual(before)
  expect(ours).toMatchObject({ key: 'OURS', scope: 'RUN_TIME', type: 'SECRET' })
  await fake.stop()
})

it('a push that only removes missing names deploys nothing', async () => {
  const fake = await appsFake(app)
  const session = open(app, testOutbound({ 'app-platform-e': fake.origin }))
  await session.push({ runId: 'run', write: [], remove: [{ name: 'GONE', memo: null }] })
  expect(fake.writes()).toBe(0)
  await fake.stop()
})

it('a name that occurs twice is written once', async () => {
  const fake = await appsFake(app)
  fake.put('NAME', 'for builds')
  fake.put('NAME', 'for runs')
  const session = open(app, testOutbound({ 'app-platform-e': fake.origin }))
  expect(await session.list()).toHaveLength(1)
  await session.push({ runId: 'run', write: [{ name: 'NAME', value: 'new', memo: null }], remove: [] })
  expect(fake.spec().envs).toHaveLength(1)
  await fake.stop()
})

it('a component that the app lacks is missing', async () => {
  const fake = await appsFake(app)
  const destination = { ...component.destination, componentName: 'worker' }
  const session = open({ ...component, destination }, testOutbound({ 'app-platform-e': fake.origin }))
  await expect(session.verify()).rejects.toMatchObject({ reason: 'missing' })
  await fake.stop()
})
