import { expect, it } from 'vitest'
import { open } from '../../src/sync/cloudflare-secrets-store.ts'
import { testOutbound } from '../outbound.ts'
import { connection, storeFake } from './cloudflare-secrets-store-fake.ts'
import { oneByOneConformance } from './clouds.ts'

oneByOneConformance('edge-secrets-store', storeFake)

const change = (name: string, value: string) => ({ runId: 'run', write: [{ name, value, memo: null }], remove: [] })

it('the list contains all pages', async () => {
  const fake = await storeFake()
  for (let index = 0; index < 201; index++) fake.put(`NAME_${index}`, 'x')
  const session = open(connection, testOutbound({ 'edge-secrets-store': fake.origin }))
  expect(await session.list()).toHaveLength(201)
  await fake.stop()
})

it('a name that is still being deleted is tried again later', async () => {
  const fake = await storeFake()
  const session = open(connection, testOutbound({ 'edge-secrets-store': fake.origin }))
  fake.put('NAME', 'old')
  fake.put('OTHER', 'x')
  await session.push({ runId: 'run', write: [], remove: [{ name: 'NAME', memo: null }] })
  const both = {
    runId: 'run',
    write: ['OTHER', 'NAME'].map((name) => ({ name, value: 'new', memo: null })),
    remove: [],
  }
  const { written, failed } = await session.push(both)
  expect(written.map(({ name }) => name)).toEqual(['OTHER'])
  expect(failed).toEqual([{ name: 'NAME', reason: expect.stringContaining('being deleted'), retryAfterMs: 5000 }])
  await fake.stop()
})

it('scopes that others gave to a secret are kept', async () => {
  const fake = await storeFake()
  fake.put('NAME', 'old')
  const destination = { ...connection.destination, scopes: ['ai_gateway'] }
  const session = open({ ...connection, destination }, testOutbound({ 'edge-secrets-store': fake.origin }))
  await session.push(change('NAME', 'new'))
  expect(fake.scopesOf('NAME')).toEqual(['workers', 'ai_gateway'])
  await fake.stop()
})
