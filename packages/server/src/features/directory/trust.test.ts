import { directory } from '@skerry/contract/directory/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { rotation } from '@skerry/contract/rotation/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { readersHash } from '@skerry/crypto/directory/commitments'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import {
  claimsOf,
  draftOf,
  entryOf,
  nowOf,
  signEntries,
  signRoot,
  startDirectory,
} from '../../../test/directory-steps.ts'
import { generatedRotation, newKeyedEnv } from '../../../test/rotation-steps.ts'
import { openEnv } from '../../../test/scene.ts'
import { newEntries, stateOf, stopSchedules } from '../../../test/state.ts'
import { newMember, newToken } from '../../../test/tenant.ts'

const { world, tenant, envId } = await openEnv()
const { orgId, admin } = tenant
await stopSchedules(world)
const person = await newMember(world, tenant)
const started = await startDirectory(world, tenant)
let { chain } = started
const { signer } = started
const name = [...chain.entries.keys()].find((key) => key.endsWith('/production')) as string

const params = { orgId, envId }
const give = (principalId: string, trust?: object, principalType = 'user') =>
  world.call(grants.create, {
    as: admin.as,
    params,
    body: { principalType, principalId, wrappedDek: wrappedKey(), ...(trust && { trust }) },
  })
/** The entry of the environment with these readers. */
async function withReaders(...readers: string[]) {
  const entry = chain.entries.get(name) as { key: string; value: object }
  const claims = await claimsOf(world, tenant, ...readers)
  const hash = await readersHash(claims.map(({ key, value }) => [key, value!.kid as string]))
  return { ...entry, value: { ...entry.value, readers: hash } } as never
}
const sign = async (changes: Parameters<typeof signEntries>[1], more = {}) =>
  signEntries(chain, changes, { signer, now: nowOf(world), ...more })

describe('a change that carries documents', () => {
  test('is stored together with them', async () => {
    const { trust, after } = await sign({ [name]: await withReaders(`token/${admin.id}`, `person/${person.id}`) })
    const answer = await give(person.id, trust)
    expect([answer.status, answer.error]).toEqual([201, undefined])
    chain = after
    const [claim] = await claimsOf(world, tenant, name)
    expect(chain.entries.get(name)).toEqual(await entryOf(claim!))
    expect((await world.call(directory.get, { as: admin.as, params: { orgId } })).body.directory!.heads).toEqual([
      trust.head,
    ])
  })

  test('is refused as a whole if they are wrong', async () => {
    const other = await newMember(world, tenant)
    const before = await stateOf(world)
    const { trust } = await sign({ [name]: chain.entries.get(name) as never })
    const wrong = await give(other.id, trust)
    expect([wrong.status, wrong.error?.message]).toEqual([
      409,
      `body.trust.entries: ${name}: readers is not what the server has: read the claims and sign again`,
    ])
    const stale = await give(other.id, started.trust)
    expect([stale.status, stale.error?.message]).toEqual([
      409,
      expect.stringMatching(/^body\.trust\.head: the newest head is 2 /),
    ])
    expect(await stateOf(world)).toEqual(before)
    expect((await give(other.id)).status).toBe(201)
  })

  test('may be a deletion, which also works without a body', async () => {
    const token = await newToken(world, tenant)
    const [claim] = await claimsOf(world, tenant, `token/${token.id}`)
    const added = await sign({ [claim!.key]: await entryOf(claim!) })
    await world.call(directory.put, { as: admin.as, params: { orgId }, body: added.trust })
    chain = added.after
    const { trust, after } = await sign({ [claim!.key]: null })
    const call = (body?: object) =>
      world.call(tokens.revoke, { as: admin.as, params: { orgId, tokenId: token.id }, ...(body && { body }) })
    expect((await call({ trust: added.trust })).status).toBe(409)
    expect((await call({ trust })).status).toBe(200)
    chain = after
    expect((await call()).status).toBe(200)
    expect((await call({})).status).toBe(200)
  })
})

describe('a change that several transactions make', () => {
  test('carries documents into the one that stores it: a rotation, whose rotator becomes a reader', async () => {
    const env = await newKeyedEnv(world, tenant)
    const body = await generatedRotation(world, tenant, env)
    const as = admin.as
    const place = (await claimsOf(world, tenant)).find(({ value }) => value?.id === env.envId)!
    const worker = (await claimsOf(world, tenant, `worker/${orgId}`))[0]!
    const reading = {
      ...place,
      readers: [...place.readers!, [worker.key, worker.value!.kid as string]],
    } as typeof place
    const before = await stateOf(world)
    const early = await sign({ [place.key]: await entryOf(place) })
    const refused = await world.call(rotation.create, { as, params: { orgId }, body: { ...body, trust: early.trust } })
    expect([refused.status, refused.error?.message]).toEqual([409, expect.stringContaining(`${place.key}: readers `)])
    expect(await stateOf(world)).toEqual(before)
    const both = await sign({ [place.key]: await entryOf(reading), [worker.key]: await entryOf(worker) })
    const created = await world.call(rotation.create, { as, params: { orgId }, body: { ...body, trust: both.trust } })
    expect(created.status).toBe(201)
    chain = both.after
    const after = await sign({ [place.key]: await entryOf(place) })
    const params = { orgId, rotationId: created.body.rotation.id }
    const stale = await world.call(rotation.delete, { as, params, body: { trust: both.trust } })
    expect(stale.status).toBe(409)
    const removed = await world.call(rotation.delete, { as, params, body: { trust: after.trust } })
    expect(removed.body).toEqual({ ok: true, rotatorRevoked: true })
    chain = after.after
  })
})

describe('the entries of documents in the audit log', () => {
  test('name the head, the root and the number of entries, beside the entry of the change', async () => {
    const token = await newToken(world, tenant)
    const [claim] = await claimsOf(world, tenant, `token/${token.id}`)
    const renamed = { ...claim!, value: { ...claim!.value, name: 'renamed' } }
    const root = await signRoot(chain.root, draftOf([signer]), [signer], nowOf(world))
    const { trust, after } = await sign({ [claim!.key]: await entryOf(renamed) }, { root })
    const entries = await newEntries(world, () =>
      world.call(tokens.update, {
        as: admin.as,
        params: { orgId, tokenId: token.id },
        body: { name: 'renamed', trust },
      }),
    )
    const head = after.head!.body.version
    const written = entries.map(({ action, resourceType, resourceId, metadata }) => ({
      action,
      about: [resourceType, resourceId],
      metadata,
    }))
    const about = ['directory', orgId]
    // Entries of one transaction have no order.
    expect(written.toSorted((one, other) => (one.action < other.action ? -1 : 1))).toEqual([
      { action: 'directory.root_changed', about, metadata: { root: 2, head } },
      { action: 'directory.signed', about, metadata: { head, entries: 1 } },
      { action: 'token.updated', about: ['service_token', token.id], metadata: expect.anything() },
    ])
    chain = after
  })
})
