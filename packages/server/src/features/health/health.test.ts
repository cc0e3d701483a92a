import { health } from '@skerry/contract/health/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signUp, type Tenant } from '../../../test/tenant.ts'
import { openWorld, type World } from '../../../test/world.ts'

let world: World
let tenant: Tenant
beforeAll(async () => {
  world = await openWorld()
  tenant = await signUp(world)
})
afterAll(() => world.close())

const probe = async () =>
  Promise.all(
    [health.ready, health.readyWrites].map(async (endpoint) => {
      const { status, error } = await world.call(endpoint)
      return [status, error?.code, error?.message]
    }),
  )
const byHand = (sql: string) => world.server.context.db.script(sql)
const both = (message: string) => Array(2).fill([503, 'unavailable', `not ready: ${message}`])
const yes = Array(2).fill([200, undefined, undefined])

test('a server with the schema of another release is not ready, still answers, and becomes ready again', async () => {
  const newer = `insert into schema_migrations (number, name, sha256) values (9000, '9000-next', repeat('0', 64))`
  expect(await probe()).toEqual(yes)
  await byHand(newer)
  expect(await probe()).toEqual(both('the database schema is newer than this release; start the newer release'))
  const params = { orgId: tenant.orgId }
  expect((await world.call(orgs.get, { as: tenant.admin.as, params })).status).toBe(200)
  await byHand('delete from schema_migrations where number = 9000')
  expect(await probe()).toEqual(yes)
  await byHand(`create table kept as select * from schema_migrations order by number desc limit 1;
    delete from schema_migrations where number = (select number from kept)`)
  expect(await probe()).toEqual(
    both('the database schema is older than this release; start the server again, which migrates it'),
  )
  await byHand('insert into schema_migrations select * from kept')
  expect(await probe()).toEqual(yes)
  await byHand(`update schema_migrations set sha256 = repeat('0', 64) where number = 1`)
  expect(await probe()).toEqual(
    both('the database schema belongs to another release; start the release that migrated it'),
  )
})
