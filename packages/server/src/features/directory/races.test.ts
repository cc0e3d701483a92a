import { directory } from '@skerry/contract/directory/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { describe, expect, test } from 'vitest'
import { wrappedKey } from '../../../test/blobs.ts'
import { type Chain, claimsOf, entryOf, nowOf, signEntries, startDirectory } from '../../../test/directory-steps.ts'
import { engine } from '../../../test/engine.ts'
import { held, waiting } from '../../../test/held.ts'
import { openEnv } from '../../../test/scene.ts'
import { newMember } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'

const { world, tenant, envId } = await openEnv()
const { orgId, admin } = tenant
const another = await newMember(world, tenant, 'admin')
const started = await startDirectory(world, tenant)
let chain: Chain = started.chain
const { signer } = started
const now = () => nowOf(world)
const put = (trust: object, as = admin.as) => world.call(directory.put, { as, params: { orgId }, body: trust as never })

describe('two signers at once', () => {
  test('make one head: one of them succeeds, and the other one gets 409 and can sign again', async () => {
    for (let round = 0; round < 5; round++) {
      const [one, two] = await Promise.all([now(), now() + 1].map((at) => signEntries(chain, {}, { signer, now: at })))
      const answers = await Promise.all([put(one!.trust), put(two!.trust, another.as)])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
      const lost = answers.find(({ status }) => status === 409)
      expect(lost?.error?.message).toMatch(/^body\.head: the newest head is \d+ /)
      const won = answers[0]?.status === 200 ? one! : two!
      const again = await signEntries(won.after, {}, { signer, now: now() })
      expect((await put(again.trust)).status).toBe(200)
      chain = again.after
    }
  })

  test('wait for each other: a head that is being stored refuses the same version once it is committed', async () => {
    const { db } = world.server.context
    const [one, two] = await Promise.all([now(), now() + 1].map((at) => signEntries(chain, {}, { signer, now: at })))
    const storing = await held(db, (tx) =>
      world.server.context.signDirectory(
        world.server.context,
        { db: tx, audit: () => undefined },
        { orgId, signed: one!.trust, place: 'body' },
      ),
    )
    const pending = put(two!.trust)
    if (engine() === 'postgres') await until('it waits', async () => (await waiting(db)) > 0).finally(storing.commit)
    await storing.commit()
    expect((await pending).status).toBe(409)
    chain = one!.after
  })

  test('with a change each keep one change and one head', async () => {
    const people = await Promise.all([1, 2].map(() => newMember(world, tenant)))
    const name = [...chain.entries.keys()].find((key) => key.endsWith('/production')) as string
    const before = await claimsOf(world, tenant, name)
    const granting = people.map(async ({ id }) => {
      const [person] = await claimsOf(world, tenant, `person/${id}`)
      const readers = [...before[0]!.readers!, [`person/${id}`, person!.value!.kid as string] as [string, string]]
      const entry = await entryOf({ ...before[0]!, readers })
      const { trust } = await signEntries(chain, { [name]: entry }, { signer, now: now() })
      const body = { principalType: 'user', principalId: id, wrappedDek: wrappedKey(), trust }
      return world.call(grants.create, { as: admin.as, params: { orgId, envId }, body })
    })
    const answers = await Promise.all(granting)
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
    const [after] = await claimsOf(world, tenant, name)
    expect(after!.readers).toHaveLength(before[0]!.readers!.length + 1)
    const shown = await world.call(directory.get, { as: admin.as, params: { orgId }, query: { key: [name] } })
    expect(JSON.parse(shown.body.directory!.proofs[0]!.entry)[1]).toEqual((await entryOf(after!)).value)
  })
})
