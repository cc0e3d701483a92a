import { secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test } from 'vitest'
import { ciphertext } from '../../../test/blobs.ts'
import { readPages } from '../../../test/read-pages.ts'
import { openEnv } from '../../../test/scene.ts'
import { type Actor, grantKey, newMember, newToken, putSecret, written } from '../../../test/tenant.ts'

const { world, tenant, envId } = await openEnv()

const at = (name: string) => ({ orgId: tenant.orgId, envId, name })
const read = (name: string, query: Record<string, unknown> = {}, actor: Actor = tenant.admin) =>
  world.call(secrets.versions, { as: actor.as, params: at(name), query })
const restore = (name: string, version: number, more: object = {}, actor: Actor = tenant.admin) =>
  world.call(secrets.restore, { as: actor.as, params: at(name), body: { version, ...more } })
const current = async (name: string) =>
  (await world.call(secrets.list, { as: tenant.admin.as, params: { orgId: tenant.orgId, envId } })).body.secrets.find(
    (secret) => secret.name === name,
  )

/** Writes this many versions and returns their ciphertexts, oldest first. */
async function write(name: string, count: number): Promise<string[]> {
  const texts = Array.from({ length: count }, () => ciphertext())
  for (const text of texts) await putSecret(world, tenant, envId, name, text)
  return texts
}

describe('history', () => {
  test('contains every version byte for byte, newest first, with its author', async () => {
    const token = await newToken(world, tenant)
    const person = await newMember(world, tenant)
    for (const actor of [token, person]) await grantKey(world, tenant, envId, actor)
    const texts = [ciphertext(), ciphertext()]
    for (const [n, actor] of [token, person].entries())
      await world.call(secrets.put, { as: actor.as, params: at('AUTHORS'), body: { ciphertext: texts[n] as string } })
    const { body } = await read('AUTHORS')
    expect(body.currentVersion).toBe(2)
    expect(body.versions).toEqual([
      {
        version: 2,
        ciphertext: texts[1],
        createdByType: 'user',
        createdById: person.id,
        restoredFromVersion: null,
        createdAt: body.versions[0]?.createdAt,
        formerName: null,
      },
      {
        version: 1,
        ciphertext: texts[0],
        createdByType: 'service_token',
        createdById: token.id,
        restoredFromVersion: null,
        createdAt: body.versions[1]?.createdAt,
        formerName: null,
      },
    ])
  })

  test('shows 50 versions unless asked for more, and at most 200', async () => {
    await write('LONG', 52)
    const { body } = await read('LONG')
    expect(body.versions.map(({ version }) => version)).toEqual(Array.from({ length: 50 }, (_, n) => 52 - n))
    expect(body.nextCursor).not.toBeNull()
    expect((await read('LONG', { limit: 200 })).body.versions).toHaveLength(52)
    for (const limit of [0, 201, -1, 1.5, 'all']) expect((await read('LONG', { limit })).status).toBe(400)
  })

  test('can be paged through, each version once, although versions are added meanwhile', async () => {
    await write('WALKED', 7)
    const pages = await readPages(
      async (cursor) => {
        const { body } = await read('WALKED', { limit: 3, ...cursor })
        return { rows: body.versions.map(({ version }) => version), nextCursor: body.nextCursor }
      },
      () => write('WALKED', 2),
    )
    expect(pages).toEqual([[7, 6, 5], [4, 3, 2], [1]])
  })

  test('refuses a cursor of another list, and one that somebody made up', async () => {
    await write('CURSORS', 1)
    const list = await world.call(secrets.list, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId, envId },
      query: { limit: 1 },
    })
    const place = (text: string) => Buffer.from(text).toString('base64url')
    const now = new Date().toISOString()
    const made = [`${now} 99999999999`, `${now} -1`, `${now} 1.5`, `0000-01-01T00:00:00.000Z 1`, `${now} `, 'x']
    for (const cursor of [list.body.nextCursor as string, ...made.map(place), '___']) {
      const { status, error } = await read('CURSORS', { cursor })
      expect([status, error?.message]).toEqual([400, 'query.cursor: not a cursor of this list'])
    }
  })

  test('of a secret that does not exist is not found', async () => {
    expect((await read('ABSENT')).status).toBe(404)
  })

  test('is refused to a machine client, and to anyone without a grant', async () => {
    await write('HIDDEN', 1)
    for (const actor of [tenant.machine, await newToken(world, tenant), await newMember(world, tenant, 'admin')])
      expect((await read('HIDDEN', {}, actor)).status).toBe(403)
  })
})

describe('restoring', () => {
  test('copies an old ciphertext byte for byte to a new version that names its source', async () => {
    const [first] = await write('REPLAYED', 3)
    const { status, body } = await restore('REPLAYED', 1)
    expect(status).toBe(200)
    expect(body).toMatchObject({ secret: { version: 4, ciphertext: first, name: 'REPLAYED' }, restoredFrom: 1 })
    const { versions } = (await read('REPLAYED')).body
    expect(versions.map(({ version, restoredFromVersion }) => [version, restoredFromVersion])).toEqual([
      [4, 1],
      [3, null],
      [2, null],
      [1, null],
    ])
    expect(versions[0]?.ciphertext).toBe(versions[3]?.ciphertext)
    expect((await current('REPLAYED'))?.ciphertext).toBe(first)
  })

  test('keeps a large value byte for byte', async () => {
    const large = ciphertext(700_000)
    await putSecret(world, tenant, envId, 'LARGE', large)
    await putSecret(world, tenant, envId, 'LARGE')
    await restore('LARGE', 1)
    expect((await current('LARGE'))?.ciphertext).toBe(large)
  })

  test('a version that does not exist is refused and writes nothing', async () => {
    await write('BOUNDED', 2)
    for (const version of [3, 2_147_483_647]) expect((await restore('BOUNDED', version)).status).toBe(404)
    for (const version of [0, -1, 2_147_483_648]) expect((await restore('BOUNDED', version)).status).toBe(400)
    expect((await restore('ABSENT', 1)).status).toBe(404)
    expect((await current('BOUNDED'))?.version).toBe(2)
  })

  test('a value that the secret already has is refused', async () => {
    const [first] = await write('SAME', 2)
    await putSecret(world, tenant, envId, 'SAME', first)
    for (const version of [3, 1]) {
      const { status, error } = await restore('SAME', version)
      expect([status, error?.code]).toEqual([400, 'invalid_request'])
    }
    expect((await restore('SAME', 2)).status).toBe(200)
  })

  test('with an expected version answers 409 if the secret has another version by now', async () => {
    await write('HELD', 3)
    expect((await restore('HELD', 1, { expectedVersion: 2 })).status).toBe(409)
    expect((await restore('HELD', 1, { expectedVersion: 3 })).status).toBe(200)
    expect((await restore('GONE', 1, { expectedVersion: 3 })).status).toBe(409)
    expect((await current('HELD'))?.version).toBe(4)
  })

  test('ten times at once with one expected version succeeds once', async () => {
    await write('RACED', 2)
    const answers = await Promise.all(Array.from({ length: 10 }, () => restore('RACED', 1, { expectedVersion: 2 })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)])
  })

  test('needs no key, so a machine client may do it; anyone else needs a grant', async () => {
    const [first] = await write('KEYLESS', 2)
    const { status, body } = await restore('KEYLESS', 1, {}, tenant.machine)
    expect([status, written(body).secret.ciphertext]).toEqual([200, first])
    const { versions } = (await read('KEYLESS')).body
    expect(versions[0]).toMatchObject({ createdByType: 'm2m', createdById: tenant.machine.id })
    for (const actor of [await newToken(world, tenant), await newMember(world, tenant, 'admin')])
      expect((await restore('KEYLESS', 2, {}, actor)).status).toBe(403)
  })
})
