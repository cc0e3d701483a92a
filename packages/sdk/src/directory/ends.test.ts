import { readersHash } from '@skerry/crypto/directory/commitments'
import { beforeEach, describe, expect, test } from 'vitest'
import { draftOf, idOf } from '../../test/directory-draft.ts'
import { ada, bob, type DirectoryServer, kids, orgId, startDirectoryServer } from '../../test/directory-server.ts'
import { DirectoryDraft } from './draft.ts'
import { afterwardEdits, changingEdits } from './edits.ts'

// A lying server answers the end of an access with other people and tokens, or leaves them out.

const staging = idOf('env', 7)

let scene: DirectoryServer
let draft: DirectoryDraft
beforeEach(async () => {
  scene = await startDirectoryServer()
  draft = draftOf(scene)
})

describe('a person who leaves', () => {
  const both: [string, string][] = [
    [`person/${ada}`, kids.ada],
    [`person/${bob}`, kids.bob],
  ]
  const entryKey = 'environment/shop/production'
  const leave = async (readers: [string, string][], signedReaders: [string, string][] | null) => {
    const { value } = scene.start.entries.get(entryKey) as { value: { readers: string } }
    const entry = { key: entryKey, value: { ...value, readers: await readersHash(both) } } as never
    const entries = new Map(scene.start.entries).set(entryKey, entry)
    draft = new DirectoryDraft({ ...scene.start, entries }, draft.context)
    scene.claims.set(entryKey, { key: entryKey, value: {}, readers, signedReaders })
    await changingEdits['members.remove']!({ params: { orgId, userId: bob } }, draft)
  }

  test('is a signed reader no more, although the server lists other readers before', async () => {
    await leave(both.slice(0, 1), both)
    expect(draft.entries.get(entryKey)).toMatchObject({ readers: await readersHash(both.slice(0, 1)) })
  })

  test.each([
    ['hides the signed readers', null],
    ['shows others', both.slice(0, 1)],
  ])('leaves an entry unsigned if the server %s', async (_, signedReaders) => {
    await leave(both.slice(0, 1), signedReaders)
    expect([...draft.unsigned]).toEqual([entryKey])
  })

  test('leaves an entry unsigned if the server claims nothing about it', async () => {
    await leave(both, both)
    scene.claims.delete(entryKey)
    draft = new DirectoryDraft(draft.directory, draft.context)
    await changingEdits['members.remove']!({ params: { orgId, userId: bob } }, draft)
    expect([...draft.unsigned]).toEqual([entryKey])
  })

  const token = idOf('skt', 6)
  const offboard = async (revoked: object[], endedTokens?: string[]) => {
    const { value } = scene.start.entries.get(entryKey) as { value: { readers: string } }
    const signed = [...both, [`token/${token}`, kids.eve] as [string, string]]
    const entry = { key: entryKey, value: { ...value, readers: await readersHash(signed) } } as never
    const ci = { key: `token/${token}`, value: { name: 'ci', environment: null, kid: kids.eve } } as const
    const entries = new Map(scene.start.entries).set(entryKey, entry).set(ci.key, ci)
    draft = new DirectoryDraft({ ...scene.start, entries }, draft.context)
    scene.claims.set(ci.key, { ...ci, readers: null, signedReaders: null })
    scene.claims.set(entryKey, { key: entryKey, value: {}, readers: signed, signedReaders: signed })
    draft.typed = { endedTokens }
    const input = { params: { orgId }, body: { userId: bob } }
    await afterwardEdits['offboardings.start']!(input, draft, { offboarding: { revoked } })
  }

  test('by an offboarding ends with their tokens, although the server claims them still', async () => {
    await offboard([{ kind: 'service_token', id: token, name: 'ci' }])
    expect([draft.entries.get(`person/${bob}`), draft.entries.get(`token/${token}`)]).toEqual([null, null])
    expect(draft.entries.get(entryKey)).toMatchObject({ readers: await readersHash(both.slice(0, 1)) })
  })

  test.each([
    ['that the user has not seen', 'ci', []],
    ['under another name than the signed one', 'robot', [token]],
  ])('by an offboarding ends no token %s', async (_, name, seen) => {
    await offboard([{ kind: 'service_token', id: token, name }], seen)
    expect([...draft.entries.keys()]).toEqual([`person/${bob}`, entryKey])
    expect([...draft.unsigned]).toEqual([`token/${token}`])
  })

  test('by an offboarding takes nobody with them whom only the server leaves out', async () => {
    scene.claims.delete(`person/${ada}`)
    await offboard([{ kind: 'agent', id: token, name: 'ci' }])
    expect(draft.entries.has(`person/${ada}`)).toBe(false)
    expect(draft.entries.has(`token/${token}`)).toBe(false)
  })
})

test('a branch ends, and no token that is bound elsewhere', async () => {
  const bound = [null, 'shop/staging', 'other/production', 'shop/production'].map((environment, at) => {
    const entry = { key: `token/${idOf('skt', at + 1)}`, value: { name: 'ci', environment, kid: kids.eve } } as const
    return [entry.key, entry] as const
  })
  draft = new DirectoryDraft({ ...scene.start, entries: new Map([...scene.start.entries, ...bound]) }, draft.context)
  draft.typed = { environment: 'shop/production@pr-1' }
  const tokens = bound.map(([entryKey]) => ({ id: entryKey.slice('token/'.length), environmentId: staging }))
  scene.server.on('tokens.list', () => ({ text: JSON.stringify({ tokens, nextCursor: null }) }))
  await changingEdits['envs.delete']!({ params: { orgId, envId: staging }, body: {} }, draft)
  expect([...draft.entries]).toEqual([[bound[3]![0], null]])
})

describe('an end that only the server shows', () => {
  const worker = `worker/${idOf('syn', 1)}` as const
  const entryKey = 'environment/shop/production'
  const signed: [string, string][] = [
    [`person/${ada}`, kids.ada],
    [worker, kids.eve],
    [`worker/${orgId}`, kids.bob],
  ]
  const end = async (operation: string, readers: [string, string][], typed: object = {}) => {
    const { value } = scene.start.entries.get(entryKey) as { value: { readers: string } }
    const entry = { key: entryKey, value: { ...value, readers: await readersHash(signed) } } as never
    const decoy = {
      key: `token/${idOf('skt', 8)}`,
      value: { name: 'deploy', environment: null, kid: kids.eve },
    } as const
    const entries = new Map(scene.start.entries).set(entryKey, entry).set(decoy.key, decoy)
    draft = new DirectoryDraft({ ...scene.start, entries }, draft.context)
    scene.claims.set(entryKey, { key: entryKey, value: {}, readers, signedReaders: signed })
    scene.claims.delete(`person/${bob}`)
    draft.typed = operation === 'honeyTokens.delete' ? { holderId: idOf('skt', 8) } : typed
    await afterwardEdits[operation]!({ params: { orgId }, body: {} }, draft, {})
  }
  const without = (key: string) => signed.filter(([other]) => other !== key)

  test.each([
    ['honeyTokens.delete', `person/${ada}`, [[`token/${idOf('skt', 8)}`, null]]],
    ['sync.deleteBinding', `person/${ada}`, []],
    ['rotation.delete', worker, []],
  ])('is not signed with %s', async (operation, left, ends) => {
    await end(operation, without(left))
    expect([...draft.entries]).toEqual(ends)
  })

  test.each([
    ['sync.deleteBinding', worker],
    ['rotation.delete', `worker/${orgId}`],
  ])('is signed with %s if it is the one that this can end', async (operation, left) => {
    await end(operation, without(left))
    expect([...draft.entries.keys()]).toEqual([entryKey])
    expect(draft.entries.get(entryKey)).toMatchObject({ readers: await readersHash(without(left)) })
  })

  test('is not signed for another sync connection than that of the binding', async () => {
    await end('sync.deleteBinding', without(worker), { connectionId: idOf('syn', 2) })
    expect([...draft.entries]).toEqual([])
  })

  test('leaves an entry unsigned if others end with it', async () => {
    await end('sync.deleteBinding', without(worker).slice(1))
    expect([[...draft.entries], [...draft.unsigned]]).toEqual([[], [entryKey]])
  })
})
