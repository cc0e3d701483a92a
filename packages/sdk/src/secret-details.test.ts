import { openDetails, sealDetails } from '@skerry/crypto/details'
import { newDek } from '@skerry/crypto/secret'
import { describe, expect, test } from 'vitest'
import { startServer } from '../test/server.ts'
import { ids, now } from '../test/world.ts'
import { createClient } from './client.ts'
import { environmentKeyOf } from './environment-key.ts'
import { DecryptionError } from './errors.ts'
import { describeSecret, listDetails } from './secret-details.ts'

const { orgId, envId } = ids
const { dek } = await environmentKeyOf(newDek())
const place = { orgId, envId, name: 'API_KEY' }

async function world(text = { description: 'Reads the bucket', tags: ['google'] }, sealedFor = 'API_KEY') {
  const row = {
    environmentId: envId,
    name: 'API_KEY',
    sealed: await sealDetails(text, dek, envId, sealedFor),
    ownerId: null,
    expiresAt: null,
    notNeeded: false,
    revision: 3,
    updatedByType: 'user',
    updatedById: 'usr_x',
    updatedAt: now,
  }
  const server = await startServer()
  server.on('secretDetails.list', () => ({ json: { details: [row], nextCursor: null } }))
  server.on('secretDetails.update', ({ body }) => {
    const { expectedRevision, ...given } = body as { expectedRevision?: number }
    return { json: { details: { ...row, ...given, revision: 4 } } }
  })
  const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: 'any' } })
  return { server, client, last: () => server.requests.at(-1)?.body as Record<string, unknown> }
}

describe('the details of secrets', () => {
  test('are listed with their text, or as unreadable if the key does not open it', async () => {
    const { client } = await world()
    expect(await listDetails(client, place, dek)).toMatchObject([
      { name: 'API_KEY', description: 'Reads the bucket', tags: ['google'], isReadable: true, revision: 3 },
    ])
    const moved = await world(undefined, 'OTHER')
    expect(await listDetails(moved.client, place, dek)).toMatchObject([
      { description: '', tags: [], isReadable: false },
    ])
  })

  test('keep the tags when the description changes, at the revision that was read', async () => {
    const { client, last } = await world()
    const after = await describeSecret(client, place, { description: 'Writes it too' }, dek)
    expect(after).toMatchObject({ description: 'Writes it too', tags: ['google'], revision: 4 })
    expect(last().expectedRevision).toBe(3)
    const sent = await openDetails(last().sealed as string, dek, envId, 'API_KEY')
    expect(sent).toEqual({ description: 'Writes it too', tags: ['google'] })
  })

  test('are not changed if the key does not open the description, which would be lost', async () => {
    const { client, server } = await world(undefined, 'OTHER')
    await expect(describeSecret(client, place, { tags: ['new'] }, dek)).rejects.toThrow(DecryptionError)
    expect(server.requests.filter(({ line }) => !line.startsWith('GET'))).toEqual([])
  })

  test('that are plain are sent alone; an empty description without tags is cleared', async () => {
    const { client, server, last } = await world()
    await describeSecret(client, place, { notNeeded: true, ownerId: null }, dek)
    expect(last()).toEqual({ notNeeded: true, ownerId: null })
    expect(server.requests).toHaveLength(1)
    await describeSecret(client, place, { description: '', tags: [] }, dek)
    expect(last()).toEqual({ sealed: null, expectedRevision: 3 })
  })

  test('that are too long are refused before any request', async () => {
    const { client, server } = await world()
    for (const change of [
      { description: 'x'.repeat(501) },
      { tags: Array(11).fill('tag') },
      { tags: ['x'.repeat(33)] },
      { tags: [''] },
    ])
      await expect(describeSecret(client, place, change, dek)).rejects.toMatchObject({ code: 'invalid_request' })
    expect(server.requests).toEqual([])
  })

  test('of the largest text fit the limit of the server', async () => {
    const { client, last } = await world()
    const wide = '\u{10ffff}'
    const tags = Array.from({ length: 10 }, () => wide.repeat(32))
    await describeSecret(client, place, { description: wide.repeat(500), tags }, dek)
    expect((last().sealed as string).length).toBeLessThanOrEqual(4800)
  })
})
