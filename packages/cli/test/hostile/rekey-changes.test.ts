import { generateKeyPair } from '@skerry/crypto/keys'
import { newId } from '@skerry/crypto/random'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { newKeyHolder, openPeopleServer, type PeopleServer, type PersonMachine } from '../people.ts'
import { type Json, type Liar, openLiar } from './liar.ts'

// A re-key of a protected environment is proposed and approved. The approver's client notices a proposer, or a server, who
// changes a value or adds a reader.

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let server: PeopleServer
/** Between the proposer and the server: what it changes is what a hostile proposer would send. */
let liar: Liar
let ada: PersonMachine
let bo: PersonMachine
const tokenId = newId('serviceToken')

beforeAll(async () => {
  server = await openPeopleServer()
  liar = await openLiar(server.url)
  ada = await newKeyHolder(server, 'ada@example.com')
  bo = await newKeyHolder(server, 'bo@example.com', liar.url)
  await ada.ok('skerry org create Guarded && skerry init --app shop --env production --yes')
  await ada.ok('echo one | skerry secrets set API_KEY && echo two | skerry secrets set DB_PASSWORD')
  await ada.ok('skerry invite create bo@example.com --role admin')
  await bo.ok('skerry invite accept guarded')
  await ada.ok('skerry grant bo@example.com --env production --reader bo@example.com && skerry env protect --yes')
  await bo.write('skerry.json', await ada.read('skerry.json'))
  expect(await bo.ok('skerry secrets get API_KEY')).toBe('one\n')
})
afterEach(() => liar.repent())
afterAll(async () => {
  await ada?.remove()
  await bo?.remove()
  await liar?.close()
  await server?.close()
})

const propose = async (flags = '') =>
  JSON.parse(await ada.ok(`skerry env rekey --yes --json --reader bo@example.com ${flags}`)).changeRequest.id as string
const withdraw = (id: string) => ada.ok(`skerry changes withdraw ${id}`)
const approve = (id: string, flags = '--reader ada@example.com') =>
  bo.shell(`skerry changes approve ${id} --yes ${flags}`)
const answerOf = (id: string) => new RegExp(`/change-requests/${id}/rekey`)

/** Rewrites the proposal that the approver reads, as if the proposer had filed it so. */
const tamper = (id: string, rewrite: (rekey: Json) => Json) =>
  liar.lie(answerOf(id), (body) => ({ rekey: rewrite(body.rekey) }))

test('a re-key of a protected environment waits, says so, and is refused with --fail-if-queued', async () => {
  const refused = await ada.shell('skerry env rekey --yes --fail-if-queued --reader bo@example.com')
  expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('nothing was proposed')])
  const { code, stderr } = await ada.shell('skerry env rekey --yes --reader bo@example.com --note "Grace left"')
  expect([code, stderr], stderr).toEqual([0, expect.stringContaining('shop/production is protected, and this needs 1')])
  const id = /as (chg_\w+)/.exec(stderr)?.[1] as string
  expect(await ada.ok('skerry changes ls')).toContain('the key')
  const again = await ada.shell('skerry env rekey --yes --reader bo@example.com')
  expect([again.code, again.stderr]).toEqual([5, expect.stringContaining(id)])
  const shown = await bo.ok(`skerry changes show ${id}`)
  expect(shown).toContain('replace the key of shop/production')
  expect(shown).toContain('values: no value differs, 2 secrets compared')
  expect(shown).toContain('gets the new key: ada@example.com, bo@example.com')
  expect(shown).toContain('loses access: nobody')
  await withdraw(id)
})

test('a value that differs is named, and not approved', async () => {
  const id = await propose()
  tamper(id, (rekey) => {
    const [first, second] = rekey.secrets
    return { ...rekey, secrets: [{ ...first, ciphertext: second.ciphertext }, second] }
  })
  const { code, stderr } = await approve(id)
  expect([code, stderr]).toEqual([1, expect.stringContaining('the new key does not open it')])
  expect(liar.sent()).toEqual([])
  expect(await bo.ok(`skerry changes show ${id}`)).toContain('values: 1 difference')
  await withdraw(id)
})

test('a value that is missing is named, and not approved', async () => {
  const id = await propose()
  tamper(id, (rekey) => ({ ...rekey, secrets: rekey.secrets.slice(1) }))
  const { code, stderr } = await approve(id)
  expect([code, stderr]).toEqual([1, expect.stringContaining('it would be lost')])
  await withdraw(id)
})

test('a receiver who is no reader now is refused', async () => {
  const id = await propose()
  const stranger = { principalType: 'service_token', principalId: tokenId }
  tamper(id, (rekey) => ({ ...rekey, grants: [...rekey.grants, stranger] }))
  const { code, stderr } = await approve(id)
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${tokenId} would get the new key`)])
  await withdraw(id)
})

test('a reader whom this machine does not know must be named, also with --yes', async () => {
  const id = await propose()
  const { publicKeyJwk } = await generateKeyPair()
  const evil = { principalType: 'service_token', principalId: tokenId, name: null, publicKeyJwk }
  tamper(id, (rekey) => ({
    ...rekey,
    grants: [...rekey.grants, evil].map(({ publicKeyJwk: _, name: __, ...one }) => one),
  }))
  liar.lie(/\/grantees/, (body) => ({ ...body, grantees: [...body.grantees, evil] }))
  const { code, stderr } = await approve(id)
  expect([code, stderr]).toEqual([3, expect.stringContaining(`${tokenId} would get the new key of shop/production`)])
  expect(liar.sent()).toEqual([])
  await withdraw(id)
})

test('open changes that a new key supersedes are named before its proposal, and before its approval', async () => {
  const { changeRequest } = JSON.parse(await ada.ok('echo three | skerry secrets set NEW_KEY --json'))
  const told = `the new key of shop/production supersedes open changes, which are encrypted with the old key: ${changeRequest.id}\n`
  const proposed = await ada.shell('skerry env rekey --reader bo@example.com')
  expect([proposed.code, proposed.stderr]).toEqual([2, expect.stringContaining(told)])
  const id = await propose()
  const approved = await bo.shell(`skerry changes approve ${id} --reader ada@example.com`)
  expect([approved.code, approved.stderr]).toEqual([2, expect.stringContaining(told)])
  await withdraw(id)
  await withdraw(changeRequest.id)
})

test('a stale re-key is not approved, and the next proposal replaces it', async () => {
  const id = await propose()
  await ada.ok('skerry token create ci --app shop --env production')
  const { code, stderr } = await approve(id)
  expect([code, stderr]).toEqual([5, expect.stringContaining('changed after it was proposed')])
  expect(await bo.ok(`skerry changes show ${id}`)).toContain('status: stale')
  const next = await propose('--reader ci')
  expect(await bo.ok(`skerry changes show ${id}`)).toContain('status: superseded')
  await withdraw(next)
})

test('the approval compares, replaces the key, and both go on reading', async () => {
  const id = await propose('--reader ci')
  const unknown = await approve(id, '')
  expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('--reader')])
  const { code, stderr } = await approve(id, '--reader ada@example.com --reader ci')
  expect([code, stderr], stderr).toEqual([0, expect.stringContaining(`approved ${id}: shop/production has a new key`)])
  expect(stderr).toContain('no value differs, 2 secrets compared')
  // The approver’s machine has compared the new key, so it takes it without a question.
  expect(await bo.ok('skerry secrets get API_KEY')).toBe('one\n')
  await ada.ok('skerry env trust --yes')
  expect(await ada.ok('skerry secrets get DB_PASSWORD')).toBe('two\n')
  expect(await ada.ok('skerry secrets history API_KEY')).toContain('ada@example.com')
})

test('an admin without the key approves only with the question that says so', async () => {
  await ada.ok('skerry grant revoke bo@example.com --env production --yes')
  const id = JSON.parse(await ada.ok('skerry env rekey --yes --json --reader ci')).changeRequest.id
  expect(await bo.ok(`skerry changes show ${id}`)).toContain('values: not compared')
  const { code, stderr } = await bo.shell(`skerry changes approve ${id}`)
  expect([code, stderr]).toEqual([2, expect.stringContaining('You cannot see the values.')])
  const done = await bo.shell(`skerry changes approve ${id} --yes`)
  expect([done.code, done.stderr], done.stderr).toEqual([0, expect.stringContaining('has a new key')])
})
