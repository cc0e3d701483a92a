import { me } from '@skerry/contract/me/endpoints'
import { expect, test } from 'vitest'
import { publicKeyJwk, sealedPrivateKey } from '../../../test/blobs.ts'
import { openTenant } from '../../../test/scene.ts'
import { type Actor, newCliSession, newMember, sessionOf, withFactor } from '../../../test/tenant.ts'

const { world, tenant } = await openTenant()

const keysOf = async ({ as }: Actor) => (await world.call(me.getKeys, { as })).body
const changes = {
  reseal: ({ as }: Pick<Actor, 'as'>) =>
    world.call(me.patchKeys, { as, body: { encryptedPrivateKey: sealedPrivateKey() } }),
  replace: ({ as }: Pick<Actor, 'as'>) =>
    world.call(me.replaceKeys, { as, body: { publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() } }),
}

let count = 0
/** Makes a person whose second factor was entered too long ago, and the same person after entering it again. */
async function withStaleFactor() {
  const email = `factor-${++count}@example.com`
  const stale = await newMember(world, tenant, 'member', { email, claims: withFactor(world, 601) })
  return { stale, fresh: { ...stale, as: await sessionOf(world, email, withFactor(world)) } }
}

test.each(['reseal', 'replace'] as const)(
  'a person with a second factor must just have entered it, in a browser and in a terminal, to %s the keys',
  async (what) => {
    const { stale, fresh } = await withStaleFactor()
    const attempt = changes[what]
    const before = await keysOf(stale)
    const terminal = await newCliSession(world, fresh)
    expect((await attempt(stale)).error?.code).toBe('mfa_required')
    expect(await keysOf(stale)).toEqual(before)
    expect((await attempt(fresh)).status).toBe(200)
    expect((await attempt(terminal)).status).toBe(200)
    world.clock.advance(601)
    expect((await attempt(terminal)).error?.code).toBe('mfa_required')
    for (const { as } of [tenant.admin, tenant.machine]) expect((await attempt({ as })).status).toBe(403)
  },
)
