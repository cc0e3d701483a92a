import { newToken } from '@skerry/crypto/token'
import { describe, expect, test } from 'vitest'
import { directoryWorld, lines, name, openMemory, openPinned, refusal, start } from '../../test/directory-world.ts'
import { openSkerry, resolveWorld } from '../../test/world.ts'

describe('a token with a pin', () => {
  test('gets the values of an honest server, and sends nothing after the first dot', async () => {
    const world = await directoryWorld()
    const { values } = await openPinned(world).resolve()
    expect(values).toEqual({ HOST: 'db', LEVEL: 'debug', URL: 'postgres://db' })
    const sent = JSON.stringify(world.server.requests)
    const root = world.signed.roots[0]!.document.hash
    expect(lines(world)).toEqual([`GET /v1/resolve?proof=1&root=${root}`])
    expect(sent).not.toContain(world.pinned)
    expect(world.server.requests[0]!.headers.authorization).toBe(`Bearer ${world.reader.bearer}`)
  })

  test('is refused by a client that asks for another environment', async () => {
    const world = await directoryWorld()
    const error = await refusal(world, { directory: { name: 'web/staging' } })
    expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(name) })
    expect(lines(world)).toEqual([])
  })

  test('without a name learns it from its own signed entry', async () => {
    const world = await directoryWorld()
    const [token, pin] = world.pinned.split('.')
    const { values } = await openPinned(world, { token: `${token}.${pin}` }).resolve()
    expect(values.HOST).toBe('db')
    expect(lines(world)[1]).toContain(`key=token%2F${world.reader.tokenId}`)
  })
})

test('a client without a pin and without memory sends the requests that it always sent', async () => {
  const world = await directoryWorld()
  const { memory } = openMemory()
  const bare = await resolveWorld()
  for (const [one, settings] of [
    [world, { directory: { memory, name } }],
    [bare, {}],
  ] as const) {
    const { values } = await openSkerry(one, settings).resolve()
    expect(values.HOST).toBe('db')
    expect(one.server.requests.map(({ line }) => line)).toEqual(['GET /v1/resolve'])
  }
  expect(Object.keys(world.server.requests[0]!.headers)).toEqual(Object.keys(bare.server.requests[0]!.headers))
})

test('a root that asks for tokens of the split form refuses a classic token', async () => {
  const world = await directoryWorld(await newToken('classic'))
  await world.signed.changeRoot({ minimum: { wrap: 'wd1', token: 'skerry' } }, start + 1)
  await world.signed.sign(world.entries, start + 1)
  const settings = { token: world.reader.token, now: () => world.clock.ms }
  const directory = { pins: [world.signed.pin], name }
  await expect(openSkerry(world, { ...settings, directory }).resolve()).rejects.toMatchObject({
    code: 'directory_too_weak',
  })
})
