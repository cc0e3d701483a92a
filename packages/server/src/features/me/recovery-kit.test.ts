import { audit } from '@skerry/contract/audit/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { recoveryKit } from '@skerry/contract/me/recovery-kit'
import { describe, expect, test } from 'vitest'
import { kitSealedKey, newPasskeyBody, publicKeyJwk, sealedPrivateKey } from '../../../test/blobs.ts'
import { engine } from '../../../test/engine.ts'
import { held, waiting } from '../../../test/held.ts'
import { openTenant } from '../../../test/scene.ts'
import { type Actor, newCliSession, newMember, sessionOf, withFactor } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { replaceKeys } from '../../model/people/users.ts'

const { world, tenant } = await openTenant()

const keysOf = async ({ as }: Actor) => (await world.call(me.getKeys, { as })).body
const kitOf = async ({ as }: Pick<Actor, 'as'>) => (await world.call(recoveryKit.get, { as })).body.kit
const put = ({ as }: Pick<Actor, 'as'>, publicKeyJwk: string | null, encryptedPrivateKey = kitSealedKey()) =>
  world.call(recoveryKit.put, { as, body: { publicKeyJwk: publicKeyJwk as string, encryptedPrivateKey } })
const remove = ({ as }: Pick<Actor, 'as'>) => world.call(recoveryKit.delete, { as })
const newKeys = () => ({ publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() })
const replace = ({ as }: Actor) => world.call(me.replaceKeys, { as, body: newKeys() })
/** Makes a member with keys -> the member, and the public key. */
async function newHolder() {
  const person = await newMember(world, tenant)
  return { person, key: (await keysOf(person)).publicKeyJwk as string }
}
const trail = async (resourceId: string) => {
  const params = { orgId: tenant.orgId }
  const { entries } = (await world.call(audit.list, { as: tenant.admin.as, params, query: { resourceId } })).body
  return entries.filter(({ action }) => action.includes('kit')).map(({ action, metadata }) => [action, metadata])
}

describe('a recovery kit', () => {
  test('is stored byte for byte, shown only to its person, and replaces the earlier one', async () => {
    const { person, key } = await newHolder()
    const { person: other } = await newHolder()
    expect(await kitOf(person)).toBeNull()
    await put(person, key)
    const blob = kitSealedKey()
    const { status, body } = await put(person, key, blob)
    expect([status, body.kit]).toEqual([200, { encryptedPrivateKey: blob, createdAt: expect.any(String) }])
    expect(await kitOf(person)).toEqual(body.kit)
    expect(await kitOf(other)).toBeNull()
    expect(await trail(person.id)).toEqual([
      ['user.recovery_kit_made', { replaced: true }],
      ['user.recovery_kit_made', { replaced: false }],
    ])
  })

  test('that is sent twice is stored once, and leaves one audit entry', async () => {
    const { person, key } = await newHolder()
    const blob = kitSealedKey()
    const first = (await put(person, key, blob)).body.kit
    world.clock.advance(60)
    expect((await put(person, key, blob)).body.kit).toEqual(first)
    expect(await trail(person.id)).toHaveLength(1)
  })

  test('is removed on request, and a second removal answers 404', async () => {
    const { person, key } = await newHolder()
    await put(person, key)
    expect((await remove(person)).status).toBe(200)
    expect(await kitOf(person)).toBeNull()
    expect((await remove(person)).status).toBe(404)
    expect((await trail(person.id))[0]).toEqual(['user.recovery_kit_removed', {}])
  })

  test('stays when the passphrase changes, and goes when the key pair is replaced', async () => {
    const { person, key } = await newHolder()
    const { kit } = (await put(person, key)).body
    await world.call(me.patchKeys, { as: person.as, body: { encryptedPrivateKey: sealedPrivateKey() } })
    expect(await kitOf(person)).toEqual(kit)
    expect((await replace(person)).status).toBe(200)
    expect(await kitOf(person)).toBeNull()
  })

  test('of another key pair, or of a person without keys, is a conflict', async () => {
    const { person, key } = await newHolder()
    await replace(person)
    const keyless = await newMember(world, tenant, 'member', { keys: false })
    for (const [one, jwk] of [
      [person, key],
      [keyless, publicKeyJwk()],
    ] as const) {
      const { status, error } = await put(one, jwk)
      expect([status, error?.code]).toEqual([409, 'conflict'])
      expect(await kitOf(one)).toBeNull()
    }
  })

  test('of a key pair that is replaced meanwhile is not stored', async () => {
    const { person, key } = await newHolder()
    const { db } = world.server.context
    const replacing = await held(db, (tx) => replaceKeys(tx, person.id, publicKeyJwk(), sealedPrivateKey()))
    const pending = put(person, key)
    if (engine() === 'postgres') await until('it waits', async () => (await waiting(db)) > 0).finally(replacing.commit)
    await replacing.commit()
    expect((await pending).status).toBe(409)
    expect(await kitOf(person)).toBeNull()
  })

  test.each(['pkcs8', sealedPrivateKey(), newPasskeyBody().encryptedPrivateKey, `${kitSealedKey()}.AAAA`])(
    'that is not sealed under a code is refused: %s',
    async (blob) => {
      const { person, key } = await newHolder()
      const { status, error } = await put(person, key, blob)
      expect([status, error?.message]).toEqual([400, expect.stringMatching(/^body\.encryptedPrivateKey: /)])
    },
  )
})

describe('changing the recovery kit', () => {
  test('needs a second factor that was just entered, in a browser and in a terminal; reading it does not', async () => {
    const email = 'kit-factor@example.com'
    const stale = await newMember(world, tenant, 'member', { email, claims: withFactor(world, 601) })
    const fresh = { as: await sessionOf(world, email, withFactor(world)) }
    const { publicKeyJwk: key } = await keysOf(stale)
    const terminal = await newCliSession(world, { ...stale, ...fresh })
    expect((await put(stale, key)).error?.code).toBe('mfa_required')
    expect((await put(fresh, key)).status).toBe(200)
    expect((await remove(stale)).error?.code).toBe('mfa_required')
    expect(await kitOf(stale)).not.toBeNull()
    expect((await remove(terminal)).status).toBe(200)
  })

  test('is refused to a service token and a machine client', async () => {
    for (const actor of [tenant.admin, tenant.machine]) {
      expect((await world.call(recoveryKit.get, { as: actor.as })).status).toBe(403)
      expect((await put(actor, publicKeyJwk())).status).toBe(403)
      expect((await remove(actor)).status).toBe(403)
    }
  })
})
