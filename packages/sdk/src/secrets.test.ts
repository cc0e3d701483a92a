import { newId } from '@skerry/crypto/random'
import { newDek, openSecret } from '@skerry/crypto/secret'
import { describe, expect, test } from 'vitest'
import { startServer } from '../test/server.ts'
import { ids, now } from '../test/world.ts'
import { createClient } from './client.ts'
import { environmentKeyOf } from './environment-key.ts'
import {
  type ChangeRequest,
  deleteSecret,
  proposeChanges,
  putSecret,
  restoreDeletedSecret,
  restoreSecret,
  sealFor,
} from './secrets.ts'

const { orgId, envId } = ids
const place = { orgId, envId, name: 'API_KEY' }
const { dek } = await environmentKeyOf(newDek())

const secret = (ciphertext: string) => ({
  id: newId('secret'),
  environmentId: envId,
  name: 'API_KEY',
  ciphertext,
  version: 2,
  createdAt: now,
  updatedAt: now,
})
const queued = (action: ChangeRequest['action'], ciphertext: string | null = null) => ({
  queued: true,
  changeRequest: {
    id: newId('changeRequest'),
    environmentId: envId,
    secretName: 'API_KEY',
    action,
    ciphertext,
    restoreVersion: action === 'restore' ? 1 : null,
    keepFor: null,
    deletedSecretId: null,
    baseVersion: 2,
    note: null,
    groupId: null,
    groupSize: 1,
    proposedByType: 'service_token',
    proposedById: newId('serviceToken'),
    requiredApprovals: 1,
    allowSelfApproval: false,
    status: 'open',
    createdAt: now,
    closedAt: null,
  },
})

async function world() {
  const server = await startServer()
  const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: 'any' } })
  return { server, client, last: () => server.requests.at(-1)! }
}

describe('a write', () => {
  test('sends the encrypted value and returns the written secret', async () => {
    const { server, client, last } = await world()
    server.on('secrets.put', ({ body }) => ({
      status: 201,
      json: { secret: secret((body as { ciphertext: string }).ciphertext) },
    }))
    const answer = await putSecret(client, place, 'the value', dek, { expectedVersion: 1 })
    if ('queued' in answer) throw new Error('it was written')
    expect(await openSecret(answer.secret.ciphertext, dek, envId, 'API_KEY')).toBe('the value')
    expect(last().body).toEqual({ ciphertext: answer.secret.ciphertext, expectedVersion: 1 })
  })

  test('returns the change request if the environment is protected', async () => {
    const { server, client } = await world()
    server.on('secrets.put', ({ body }) => ({
      status: 202,
      json: queued('put', (body as { ciphertext: string }).ciphertext),
    }))
    server.on('secrets.restore', () => ({ status: 202, json: queued('restore') }))
    server.on('secrets.delete', () => ({ status: 202, json: queued('delete') }))
    const answers = [
      await putSecret(client, place, 'the value', dek),
      await restoreSecret(client, place, 1),
      await deleteSecret(client, place),
    ]
    expect(answers.map((answer) => 'queued' in answer && answer.changeRequest.action)).toEqual([
      'put',
      'restore',
      'delete',
    ])
  })

  test('sends the expected version of a restore or a deletion', async () => {
    const { server, client, last } = await world()
    server.on('secrets.restore', () => ({ status: 202, json: queued('restore') }))
    server.on('secrets.delete', () => ({ json: { ok: true } }))
    await restoreSecret(client, place, 1, { expectedVersion: 2 })
    expect(last().body).toEqual({ version: 1, expectedVersion: 2 })
    await deleteSecret(client, place, { expectedVersion: 2 })
    expect(last().line).toBe(`DELETE /v1/orgs/${orgId}/envs/${envId}/secrets/API_KEY?expectedVersion=2`)
  })
})

describe('a deleted secret', () => {
  const deleted = async (value: string, name = 'API_KEY') => ({
    id: newId('secret'),
    name,
    ciphertext: await sealFor(envId, 'API_KEY', value, dek),
  })

  test('is kept only if the caller asks for it', async () => {
    const { server, client, last } = await world()
    server.on('secrets.delete', () => ({ json: { ok: true } }))
    await deleteSecret(client, place)
    expect(last().line).toBe(`DELETE /v1/orgs/${orgId}/envs/${envId}/secrets/API_KEY`)
    await deleteSecret(client, place, { keepFor: '7d' })
    expect(last().line).toBe(`DELETE /v1/orgs/${orgId}/envs/${envId}/secrets/API_KEY?keepFor=7d`)
  })

  test('is restored with its value encrypted anew, because others refuse the old ciphertext', async () => {
    const { server, client, last } = await world()
    const kept = await deleted('the value')
    server.on('deletedSecrets.restore', ({ body }) => ({
      json: { secret: secret((body as { ciphertext: string }).ciphertext) },
    }))
    await restoreDeletedSecret(client, place, kept, dek, { note: 'still used' })
    const { ciphertext } = last().body as { ciphertext: string }
    expect(ciphertext).not.toBe(kept.ciphertext)
    expect(await openSecret(ciphertext, dek, envId, 'API_KEY')).toBe('the value')
    expect(last().headers['x-skerry-change-note']).toBe('still%20used')
  })

  test('is not restored if its ciphertext is lost, or belongs to another name', async () => {
    const { server, client } = await world()
    for (const kept of [{ ...(await deleted('x')), ciphertext: null }, await deleted('x', 'OTHER')])
      await expect(restoreDeletedSecret(client, place, kept, dek)).rejects.toMatchObject({ code: 'decryption_failed' })
    expect(server.requests).toEqual([])
  })
})

describe('several changes', () => {
  test('are encrypted separately, each for its own name, and sent as one proposal', async () => {
    const { server, client, last } = await world()
    const groupId = newId('changeGroup')
    server.on('changes.propose', ({ body }) => {
      const { puts } = body as { puts: { ciphertext: string }[] }
      const changeRequests = puts.map(({ ciphertext }) => queued('put', ciphertext).changeRequest)
      return { status: 202, json: { queued: true, groupId, changeRequests } }
    })
    const puts = [
      { name: 'A', value: 'one', expectedVersion: 0 },
      { name: 'B', value: 'two' },
    ]
    const answer = await proposeChanges(client, place, { puts, deletes: [{ name: 'OLD' }] }, dek, { note: 'why' })
    const [first, second] = answer.changeRequests.map(({ ciphertext }) => ciphertext!)
    expect(answer.groupId).toBe(groupId)
    expect(await openSecret(first!, dek, envId, 'A')).toBe('one')
    expect(await openSecret(second!, dek, envId, 'B')).toBe('two')
    expect(last().headers['x-skerry-change-note']).toBe('why')
    expect(last().body).toEqual({
      puts: [
        { name: 'A', ciphertext: first, expectedVersion: 0 },
        { name: 'B', ciphertext: second },
      ],
      deletes: [{ name: 'OLD' }],
    })
  })
})

describe('a note', () => {
  test('is sent percent-encoded, whatever its characters, beside other headers', async () => {
    const { server, client, last } = await world()
    server.on('secrets.delete', () => ({ json: { ok: true } }))
    await deleteSecret(client, place, { note: 'für alle 🌯,\n100 %', headers: { 'x-trace': 'one' } })
    expect(last().headers).toMatchObject({
      'x-skerry-change-note': 'f%C3%BCr%20alle%20%F0%9F%8C%AF%2C%0A100%20%25',
      'x-trace': 'one',
    })
  })

  test('is measured in characters, as on the server', async () => {
    const { server, client, last } = await world()
    server.on('secrets.delete', () => ({ json: { ok: true } }))
    const note = '🔑'.repeat(1200)
    await deleteSecret(client, place, { note })
    expect(last().headers).toMatchObject({ 'x-skerry-change-note': encodeURIComponent(note) })
  })

  test('that is too long or not valid Unicode is refused before any request', async () => {
    const { server, client } = await world()
    for (const note of ['x'.repeat(2001), '🔑'.repeat(2001), '\ud800'])
      await expect(deleteSecret(client, place, { note })).rejects.toMatchObject({ code: 'invalid_request' })
    expect(server.requests).toEqual([])
  })
})
