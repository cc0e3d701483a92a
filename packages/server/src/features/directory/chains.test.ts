import { directory } from '@skerry/contract/directory/endpoints'
import { limits } from '@skerry/contract/limits'
import { signDocument } from '@skerry/crypto/directory/document'
import { nextHead } from '@skerry/crypto/directory/head'
import { newRoot, nextRoot, type RootBody } from '@skerry/crypto/directory/root'
import { newRescueCode, signerOfRescueCode } from '@skerry/crypto/directory/signing'
import { directoryTree } from '@skerry/crypto/directory/tree'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  type Chain,
  claimsOf,
  draftOf,
  entryOf,
  newSigner,
  nowOf,
  putDirectory,
  signEntries,
  signRoot,
  signStart,
  type Trust,
} from '../../../test/directory-steps.ts'
import { openEnv } from '../../../test/scene.ts'
import { stateOf, stopSchedules } from '../../../test/state.ts'
import { signUp } from '../../../test/tenant.ts'

const { world, tenant } = await openEnv()
await stopSchedules(world)
const { orgId, admin } = tenant
const other = await signUp(world)
const [ada, bob, cy] = await Promise.all([newSigner(), newSigner(), newSigner()])
const rescueCode = await newRescueCode()
const rescuer = await signerOfRescueCode(rescueCode)
const draft = draftOf([ada], {
  rescue: { threshold: 1, keys: [{ kid: rescuer.kid, alg: 'ES256', jwk: rescuer.jwk }] },
})
const now = () => nowOf(world)
const put = (body: Trust | Record<string, unknown>) => putDirectory(world, tenant, body)

describe('an organization without a directory', () => {
  let before: Awaited<ReturnType<typeof stateOf>>
  beforeEach(async () => {
    before = await stateOf(world)
  })
  afterEach(async () => {
    expect(await stateOf(world)).toEqual(before)
  })

  test('shows none', async () => {
    const read = await world.call(directory.get, { as: admin.as, params: { orgId } })
    expect(read.body).toEqual({ directory: null })
    const all = await world.call(directory.entries, { as: admin.as, params: { orgId } })
    expect(all.body).toEqual({ head: null, entries: [], nextCursor: null })
  })

  test('does not start with a head alone, a later version, or documents of another organization', async () => {
    const { trust, after } = await signStart(orgId, [], { signers: [ada], now: now(), draft })
    const { root, ...alone } = trust
    await expectRefused(alone, 400, 'body.root: a directory starts with a root')
    const second = await signRoot(after.root, draft, [ada], now())
    const later = await signEntries({ ...after, head: null }, {}, { signer: ada, now: now(), root: second })
    await expectRefused(later.trust, 409, 'body.root: there is no root, and this one follows another: ')
    const next = await signEntries(after, {}, { signer: ada, now: now() })
    await expectRefused(next.trust, 409, 'body.head: the organization has no directory, and this head is not the first')
    const foreign = await signStart(other.orgId, [], { signers: [ada], now: now(), draft })
    await expectRefused(foreign.trust, 400, 'body.root: the directory belongs to another organization')
  })

  test('does not start with a threshold that its signers cannot reach', async () => {
    for (const wrong of [
      { ...draft, threshold: 2 },
      { ...draft, rescue: { threshold: 2, keys: draft.rescue!.keys } },
    ]) {
      const root = await signDocument('or1', newRoot(orgId, wrong, now()), [ada])
      const { trust } = await signStart(orgId, [], { signers: [ada], now: now(), draft })
      await expectRefused(
        { ...trust, root },
        400,
        'body.root: the text is not a document of the directory: the threshold',
      )
    }
  })
})

async function expectRefused(body: object, status: number, says: string): Promise<void> {
  const answer = await put(body as Trust)
  expect([answer.status, answer.error?.message]).toEqual([status, expect.stringContaining(says)])
}

describe('a directory', () => {
  let chain: Chain
  let before: Awaited<ReturnType<typeof stateOf>>
  beforeEach(async () => {
    before = await stateOf(world)
  })

  test('starts with a root, a head and entries', async () => {
    const entries = await Promise.all((await claimsOf(world, tenant)).map(entryOf))
    const { trust, after } = await signStart(orgId, entries, { signers: [ada], now: now(), draft })
    expect((await put(trust)).body).toEqual({ head: { version: 1, hash: after.head!.hash } })
    chain = after
    await expectRefused(trust, 409, 'body.head: the newest head is 1 (')
  })

  describe('refuses a head, and stores nothing,', () => {
    afterEach(async () => {
      expect(await stateOf(world)).toEqual(before)
    })
    const head = async (forged: object, signer = ada) =>
      (await signEntries(chain, {}, { signer, now: now(), head: forged })).trust

    test.each([
      ['of a version from the future', { version: 3 }, 409, 'body.head: the newest head is 1 ('],
      ['of a fork', { prev: 'A'.repeat(43) }, 409, 'body.head: the newest head is 1 ('],
      ['of another organization', { org: 'org_0000000000000000000000' }, 400, 'belongs to another organization'],
      ['of another root', { root: 'A'.repeat(43) }, 400, 'body.head: two documents of the directory do not follow'],
      ['that is dated before the one before', { issuedAt: 1 }, 400, 'do not follow each other'],
      ['with another number of entries', { count: 0 }, 400, 'body.head: names 0 entries'],
      ['with another tree', { entries: 'A'.repeat(43) }, 400, 'body.head: names '],
    ])('%s', async (_, forged, status, says) => {
      await expectRefused(await head(forged), status, says)
    })

    test('of a later format', async () => {
      const { trust, after } = await signEntries(chain, {}, { signer: ada, now: now() })
      const later = await signDocument('od1', { ...after.head!.body, v: 2 }, [ada])
      await expectRefused({ ...trust, head: later }, 400, 'needs a newer version')
    })

    test('that is dated more than ten minutes after the clock of the server', async () => {
      await expectRefused(await head({ issuedAt: now() + 700 }), 400, 'dated in the future')
    })

    test('that nobody signed who may', async () => {
      await expectRefused(await head({}, bob), 400, 'lacks signatures')
    })

    test('that is too large', async () => {
      const trust = await head({})
      const large = `od1.${'A'.repeat(limits.directoryDocumentCharacters)}.AA`
      await expectRefused({ ...trust, head: large }, 400, 'body.head')
      await expectRefused({ ...trust, head: `od1.${'A'.repeat(90_000)}.AA` }, 400, 'body.head: ')
    })
  })

  describe('refuses an entry, and stores nothing,', () => {
    afterEach(async () => {
      expect(await stateOf(world)).toEqual(before)
    })
    const entry = async (...entries: object[]) => ({
      ...(await signEntries(chain, {}, { signer: ada, now: now() })).trust,
      entries,
    })

    test.each([
      ['whose name has another case', { key: 'environment/Shop/production', text: null }, 'entries.0: '],
      ['of an unknown kind', { key: 'state/AAAA', text: null }, 'body.entries.0.key'],
      ['that is no JSON', { key: 'environment/shop/production', text: '{' }, 'entries.0: '],
      [
        'of another spelling',
        { key: 'environment/shop/production', text: '[ "environment/shop/production",{}]' },
        'canonical',
      ],
      ['that is too large', { key: 'environment/shop/production', text: 'a'.repeat(65_537) }, 'body.entries.0.text'],
    ])('%s', async (_, one, says) => {
      await expectRefused(await entry(one), 400, says)
    })

    test('under the key of another one, or twice', async () => {
      const [[key, text]] = (await entriesThere()) as [[string, string]]
      const person = `person/${'usr_'.padEnd(26, '0')}`
      await expectRefused(await entry({ key: person, text }), 400, `is the entry ${key}, not ${person}`)
      await expectRefused(await entry({ key, text }, { key, text }), 400, `body.entries.1.key: ${key} comes twice`)
    })

    test('that changes the tree of its head', async () => {
      const [[key]] = (await entriesThere()) as [[string, string]]
      await expectRefused(await entry({ key, text: null }), 400, 'but this change makes')
    })
  })

  const entriesThere = async () => {
    const { body } = await world.call(directory.entries, { as: admin.as, params: { orgId } })
    return body.entries.map((text) => [JSON.parse(text)[0] as string, text])
  }

  /** Signs a root with these changes, and a head that names it. */
  async function rooted(signers: (typeof ada)[], next: Parameters<typeof draftOf>[0], forged: Partial<RootBody> = {}) {
    const body = { ...nextRoot(chain.root, { ...draft, ...draftOf(next), rescue: draft.rescue }, now()), ...forged }
    const root = await signDocument('or1', body, signers)
    return signEntries(chain, {}, { signer: next[0] as typeof ada, now: now(), root })
  }

  describe('refuses a root, and stores nothing,', () => {
    afterEach(async () => {
      expect(await stateOf(world)).toEqual(before)
    })

    test.each([
      ['of a version from the future', { version: 3 }, 409, 'body.root: the newest root is 1 ('],
      ['of a fork', { prev: 'A'.repeat(43) }, 409, 'body.root: the newest root is 1 ('],
      ['with another nonce', { nonce: 'A'.repeat(22) }, 400, 'body.root: two documents of the directory do not follow'],
      ['that is dated before the one before', { issuedAt: 1 }, 400, 'do not follow each other'],
      ['of another organization', { org: 'org_0000000000000000000000' }, 400, 'belongs to another organization'],
      ['with witnesses', { quorum: 1 as 0 }, 400, 'has witnesses'],
    ])('%s', async (_, forged, status, says) => {
      // The head names the forged root.
      const body = { ...nextRoot(chain.root, draft, now()), ...forged }
      const root = await signDocument('or1', body, [ada])
      const { count, entries } = await directoryTree([...chain.entries.values()])
      const documents = { body, hash: (await hashOf(root)) as string } as never
      const head = await signDocument('od1', nextHead(chain.head, documents, { count, entries }, now()), [ada])
      await expectRefused({ root, head, entries: [] }, status, says)
    })

    test('that nobody of the root before has signed', async () => {
      const body = nextRoot(chain.root, draftOf([bob]), now())
      const root = await signDocument('or1', body, [bob])
      const { trust } = await signEntries(chain, {}, { signer: bob, now: now(), root })
      await expectRefused(trust, 400, 'body.root: a document of the directory lacks signatures')
    })
  })

  test('lets a signer leave, who can then add nobody, and lets a rescue key bring signers back', async () => {
    const left = await rooted([ada, bob], [bob])
    expect((await put(left.trust)).status).toBe(200)
    chain = left.after
    const byFormer = await rooted([ada, cy], [cy])
    await expectRefused(byFormer.trust, 400, 'body.root: a document of the directory lacks signatures')
    const head = await signEntries(chain, {}, { signer: ada, now: now() })
    await expectRefused(head.trust, 400, 'body.head: a document of the directory lacks signatures')
    const rescued = await rooted([rescuer, cy], [cy])
    expect((await put(rescued.trust)).status).toBe(200)
    chain = rescued.after
  })

  test('shows its chains from what a client knows, and all of them otherwise', async () => {
    const read = async (query: Record<string, unknown>) =>
      (await world.call(directory.get, { as: admin.as, params: { orgId }, query })).body.directory!
    const whole = await read({})
    expect([whole.roots.length, whole.heads.length]).toEqual([3, 1])
    expect((await read({ root: chain.root.hash })).roots).toEqual(whole.roots.slice(2))
    expect((await read({ root: [chain.root.hash, await hashOf(whole.roots[1]!)] })).roots).toHaveLength(2)
    expect((await read({ root: 'A'.repeat(43) })).roots).toHaveLength(3)
    expect((await read({ head: 1 })).heads).toHaveLength(2)
    for (const version of [3, 4, 1_000_000]) expect((await read({ head: version })).heads).toEqual(whole.heads)
  })

  test('keeps the entries of every head, and pages of one list show one head', async () => {
    const list = async (query: Record<string, unknown>) =>
      (await world.call(directory.entries, { as: admin.as, params: { orgId }, query })).body
    const first = await list({ limit: 1 })
    expect([first.head, first.entries.length]).toEqual([3, 1])
    const { trust, after } = await signEntries(chain, {}, { signer: cy, now: now() })
    expect((await put(trust)).status).toBe(200)
    chain = after
    const second = await list({ limit: 1, cursor: first.nextCursor })
    expect([second.head, second.entries.length]).toEqual([3, 1])
    expect((await list({})).head).toBe(4)
  })
})

const hashOf = async (text: string) =>
  Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text.split('.')[1] as string, 'base64url'))).toString(
    'base64url',
  )
