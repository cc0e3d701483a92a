import { fingerprint } from '@skerry/crypto/digest'
import { parsePin } from '@skerry/crypto/directory/pin'
import { generateKeyPair } from '@skerry/crypto/keys'
import { beforeAll, describe, expect, test } from 'vitest'
import { day, directoryWorld, start } from '../../test/directory-world.ts'
import { ids } from '../../test/world.ts'
import { createClient } from '../client.ts'
import { processMemory } from './memory.ts'
import { checkRecoveryKey, compareRecoveryKey } from './recovery-key.ts'

let signed: string
let other: string
let kid: string
beforeAll(async () => {
  signed = (await generateKeyPair()).publicKeyJwk
  other = (await generateKeyPair()).publicKeyJwk
  kid = await fingerprint(signed)
})

describe('the recovery key that the server shows', () => {
  test.each([
    ['none', false, undefined],
    ['unsigned', false, 'signed'],
    ['hidden', true, undefined],
    ['signed', true, 'signed'],
    ['differs', true, 'other'],
  ] as const)('is %s beside a root that names one (%s), if the server shows %s', async (state, isNamed, shown) => {
    const publicKeyJwk = shown === undefined ? null : { signed, other }[shown]
    expect(await compareRecoveryKey({ recovery: isNamed ? kid : null }, publicKeyJwk)).toBe(state)
  })

  test('is signed in any spelling of its JWK, and is refused if it is no key', async () => {
    const { kty, crv, x, y } = JSON.parse(signed)
    expect(await compareRecoveryKey({ recovery: kid }, JSON.stringify({ y, x, kty, crv }))).toBe('signed')
    await expect(compareRecoveryKey({ recovery: kid }, '{}')).rejects.toMatchObject({ code: 'malformed_key' })
  })
})

async function open() {
  const world = await directoryWorld()
  const client = createClient({ baseUrl: world.server.baseUrl, credential: { bearer: world.reader.bearer } })
  const memory = processMemory()
  const trust = { pins: [parsePin(world.signed.pin)], memory, purpose: 'write', now: () => world.clock.ms } as const
  const check = (publicKeyJwk: string | null) => checkRecoveryKey(client, ids.orgId, publicKeyJwk, trust)
  return { world, check, memory }
}

describe('the newest verified root', () => {
  test('decides, and is remembered', async () => {
    const { world, check, memory } = await open()
    expect((await check(signed)).state).toBe('unsigned')
    await world.signed.changeRoot({ recovery: kid }, start + 1)
    await world.signed.sign(world.entries, start + 1)
    expect(await check(signed)).toMatchObject({ state: 'signed', root: { version: 2, threshold: 1 } })
    expect((await check(other)).state).toBe('differs')
    expect((await check(null)).state).toBe('hidden')
    expect(await memory.read(ids.orgId)).toMatchObject({ root: { version: 2 } })
  })

  test('must not be older than one that the client has seen', async () => {
    const { world, check } = await open()
    await world.signed.changeRoot({ recovery: kid }, start + 1)
    await world.signed.sign(world.entries, start + 1)
    await check(signed)
    world.signed.roots.pop()
    world.signed.heads.pop()
    await expect(check(signed)).rejects.toMatchObject({ code: 'directory_rolled_back' })
  })

  test('with a head that is too old to write is refused', async () => {
    const { world, check } = await open()
    world.clock.ms = (start + 15 * day) * 1000
    await expect(check(null)).rejects.toMatchObject({ code: 'directory_stale' })
  })
})
