import { directory } from '@skerry/contract/directory/endpoints'
import { parsePin } from '@skerry/crypto/directory/pin'
import { verifyDirectoryEntry } from '@skerry/crypto/directory/verify'
import { describe, expect, test } from 'vitest'
import { claimsOf, entryOf, nowOf, putDirectory, signEntries, startDirectory } from '../../../test/directory-steps.ts'
import { openEnv } from '../../../test/scene.ts'
import { newMember } from '../../../test/tenant.ts'

const { world, tenant } = await openEnv()
const { orgId, admin } = tenant
const member = await newMember(world, tenant)
const started = await startDirectory(world, tenant)
let { chain } = started
const { signer } = started

const read = (query = {}, as = admin.as) => world.call(directory.get, { as, params: { orgId }, query })

describe('a directory', () => {
  test('is shown with proofs that a client with a pin verifies', async () => {
    const key = [...chain.entries.keys()].find((one) => one.startsWith('environment/')) as 'environment/a/b'
    const { body } = await read({ key: [key, `person/${member.id}`] })
    const { roots, heads, proofs } = body.directory!
    expect([roots.length, heads.length, proofs.length]).toEqual([1, 1, 2])
    const trust = { pins: [parsePin(chain.root.hash)], known: null, now: nowOf(world), purpose: 'read' } as const
    const { entry } = await verifyDirectoryEntry({ roots, heads, proof: proofs[0]! }, key, trust)
    expect(entry).toEqual(chain.entries.get(key))
  })

  test('grows by heads', async () => {
    const { trust, after } = await signEntries(chain, {}, { signer, now: nowOf(world) })
    const { status, body } = await putDirectory(world, tenant, trust)
    expect([status, body.head]).toEqual([200, { version: 2, hash: after.head!.hash }])
    chain = after
    expect((await putDirectory(world, tenant, trust)).status).toBe(409)
    expect((await read({ head: 1 })).body.directory!.heads).toEqual([trust.head])
    const all = await world.call(directory.entries, { as: admin.as, params: { orgId } })
    expect(all.body.entries).toHaveLength(chain.entries.size)
    const [first] = await claimsOf(world, tenant)
    expect(chain.entries.get(first!.key)).toEqual(await entryOf(first!))
  })
})
