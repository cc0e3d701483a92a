import { leases } from '@skerry/contract/leases/endpoints'
import { generateKeyPair } from '@skerry/crypto/keys'
import { unwrapKey } from '@skerry/crypto/wrap'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { account, googleFake, serviceAccountKey } from '../../../../providers/test/leases/google-iam-fake.ts'
import { type MongodbFake, startMongodbFake } from '../../../../providers/test/leases/mongodb-fake.ts'
import { wrappedForBroker } from '../../../test/lease-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { openWire, type Wire } from '../../../test/services/wire.ts'
import { endDue } from './ending.ts'

// Credentials that the target or the server makes, wrapped to their recipient. The targets are the adapters' fakes.

const google = await googleFake()
afterAll(() => google.stop())
const { world, tenant } = await openTenant({
  SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  SKERRY_PROVIDER_ORIGINS: JSON.stringify({ 'cloud-b': google.origin }),
})
const { orgId } = tenant
const { as } = tenant.admin
const { privateKey, publicKeyJwk: recipientPublicKey } = await generateKeyPair()

let fake: MongodbFake
let wire: Wire
let targetId: string
beforeAll(async () => {
  fake = await startMongodbFake({ user: 'skerry', password: 'adminpassword' })
  wire = await openWire(`tcp://127.0.0.1:${fake.port}`)
  const port = Number(new URL(wire.url).port)
  const connection = { host: '127.0.0.1', port, database: 'shop' }
  const credential = `mongodb://skerry:adminpassword@127.0.0.1:${port}/shop?authSource=admin`
  const body = {
    name: 'documents',
    config: {
      provider: 'mongodb' as const,
      executor: 'in_broker' as const,
      connection,
      accessLevel: 'readonly' as const,
    },
    wrappedAdminSecret: await wrappedForBroker(world, tenant, credential),
  }
  const answer = await world.call(leases.createTarget, { as, params: { orgId }, body })
  expect(answer.error).toBeUndefined()
  targetId = answer.body.target.id
})
afterAll(async () => {
  await wire.close()
  await fake.stop()
})

const mint = () =>
  world.call(leases.create, {
    as,
    params: { orgId },
    body: { provider: 'mongodb', targetId, recipientPublicKey, ttlSeconds: 600 },
  })

test('a MongoDB lease is made and removed, and only its recipient can read the password', async () => {
  const { status, body } = await mint()
  expect(status).toBe(201)
  const { lease, mongodb } = body
  expect([lease.resourceRef, mongodb?.username]).toEqual([`skerry_${lease.id}`, `skerry_${lease.id}`])
  const password = new TextDecoder().decode(await unwrapKey(mongodb!.wrappedCredential, privateKey))
  expect(fake.accounts.get(`skerry_${lease.id}`)?.password).toBe(password)
  const revoked = await world.call(leases.revoke, { as, params: { orgId, leaseId: lease.id } })
  expect([revoked.body.lease.status, fake.accounts.size]).toEqual(['revoked', 0])
  const seen = [...world.log, ...world.answers].join('\n')
  for (const secret of [password, 'adminpassword']) expect(seen).not.toContain(secret)
})

test('a MongoDB account whose answer was lost is in the ledger by its name, and is removed', async () => {
  const { set } = fake.accounts
  fake.accounts.set = (...entry) => {
    fake.accounts.set = set
    wire.cut()
    return fake.accounts.set(...entry)
  }
  expect((await mint()).status).toBe(409)
  const newest = async () =>
    (await world.call(leases.list, { as, params: { orgId }, query: { limit: 1 } })).body.leases[0]!
  const { id, resourceRef } = await newest()
  expect(resourceRef).toBe(`skerry_${id}`)
  await endDue(world.server.context, orgId, targetId)
  expect([(await newest()).status, fake.accounts.size]).toEqual(['revoking', 0])
  world.clock.advance(91)
  await endDue(world.server.context, orgId, targetId)
  expect((await newest()).status).toBe('failed')
})

test('only its recipient can read a Google token, and its lease ends only in the ledger', async () => {
  const credential = JSON.stringify(serviceAccountKey)
  const config = { provider: 'cloud-b' as const, executor: 'in_broker' as const, serviceAccount: account }
  const wrappedAdminSecret = await wrappedForBroker(world, tenant, credential)
  const body = { name: 'google', config, wrappedAdminSecret }
  const registered = await world.call(leases.createTarget, { as, params: { orgId }, body })
  expect(registered.error).toBeUndefined()
  const { target } = registered.body
  const ask = (ttlSeconds: number) =>
    world.call(leases.create, {
      as,
      params: { orgId },
      body: { provider: 'cloud-b', targetId: target.id, recipientPublicKey, ttlSeconds },
    })
  const made = await ask(600)
  expect(made.status).toBe(201)
  const { lease, cloudB } = made.body
  const token = new TextDecoder().decode(await unwrapKey(cloudB!.wrappedCredential, privateKey))
  expect([google.tokens.has(String(token)), cloudB?.serviceAccount]).toEqual([true, account])
  const capped = await ask(3601)
  expect([capped.status, capped.error?.message]).toEqual([400, expect.stringContaining('3600')])
  const revoked = await world.call(leases.revoke, { as, params: { orgId, leaseId: lease.id } })
  expect(revoked.body.lease.status).toBe('revoked')
  const seen = [...world.log, ...world.answers].join('\n')
  for (const secret of [token, serviceAccountKey.private_key.slice(40, 90)]) expect(seen).not.toContain(secret)
})
