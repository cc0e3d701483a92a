import { environmentKeyCommitment, managedKeyCommitment, readersHash } from '@skerry/crypto/directory/commitments'
import type { DirectoryEntry } from '@skerry/crypto/directory/entries'
import { directoryTree } from '@skerry/crypto/directory/tree'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  ada,
  bob,
  type DirectoryServer,
  draftOf,
  key,
  kids,
  newSigner,
  orgId,
  production,
  refusal,
  startDirectoryServer,
} from '../../test/directory-server.ts'
import { RefusedError } from '../errors.ts'
import { type Signatory, signingClient } from './client.ts'
import { afterwardEdits, changingEdits } from './edits.ts'
import { type DirectoryStart, openDirectory } from './open.ts'
import { explainReaders } from './readers.ts'
import { firstSteps, type SigningClient, signEdit, signedChange, signRoot, type Trust } from './signing.ts'
import { signedHeadings } from './when-signed.ts'

let scene: DirectoryServer
let trustStart: DirectoryStart
let signing: SigningClient
beforeEach(async () => {
  scene = await startDirectoryServer()
  const { client, signer, start } = scene
  trustStart = { pins: [{ root: start.root.hash, leastHead: 1 }], known: null }
  signing = { client, orgId, directory: start, signer, remember: () => {} }
})

const ending = (entryKey: string) => ({ entries: new Map([[entryKey, null]]) })
const storing = async (trust: Trust | undefined) => {
  if (trust) await scene.client.directory.put({ params: { orgId }, body: trust })
  return 'done'
}

describe('opening the directory', () => {
  test('verifies all entries, from a pin and from memory', async () => {
    const fresh = await openDirectory(scene.client, orgId, trustStart)
    expect([...fresh!.entries.keys()].length).toBe(3)
    const again = await openDirectory(scene.client, orgId, { pins: [], known: fresh!.known })
    expect(again!.head.hash).toBe(fresh!.head.hash)
  })

  test('returns null if there is none', async () => {
    scene.server.on('directory.get', () => ({ json: { directory: null } }))
    expect(await openDirectory(scene.client, orgId, trustStart)).toBeNull()
  })

  test.each([
    ['a missing entry', (all: Map<string, string>) => all.delete(`person/${bob}`)],
    [
      'a changed entry',
      (all: Map<string, string>) => {
        const changed = all.get(`person/${bob}`)!.replace(kids.bob, kids.eve)
        all.set(`person/${bob}`, changed)
      },
    ],
  ])('refuses %s', async (_, forge) => {
    forge(scene.entries)
    await expect(openDirectory(scene.client, orgId, trustStart)).rejects.toMatchObject({ code: 'directory_unproven' })
  })

  test('refuses a head that is older than 14 days, unless the signer has accepted its age', async () => {
    const now = Math.floor(Date.now() / 1000) + 15 * 86_400
    await expect(openDirectory(scene.client, orgId, { ...trustStart, now })).rejects.toMatchObject({
      code: 'directory_stale',
    })
    const accepted = await openDirectory(scene.client, orgId, { ...trustStart, now, acceptOld: true })
    expect(accepted!.head.body.version).toBe(1)
  })
})

describe('signing a change', () => {
  test('makes the next head over all entries as they are after it', async () => {
    const { directory } = await signedChange(signing, () => ending(`person/${bob}`), storing)
    const opened = await openDirectory(scene.client, orgId, trustStart)
    expect(opened!.head.hash).toBe(directory.head.hash)
    expect(opened!.entries.has(`person/${bob}`)).toBe(false)
    const tree = await directoryTree([...directory.entries.values()])
    expect(directory.head.body).toMatchObject({ version: 2, count: tree.count, entries: tree.entries })
  })

  test('sends no documents if nothing is different', async () => {
    const sent: unknown[] = []
    const send = async (trust: unknown) => sent.push(trust)
    await signedChange(signing, () => ending('environment/shop/other'), send)
    await signedChange(signing, () => null, send)
    expect(sent).toEqual([undefined, undefined])
  })

  test('applies the edit again if somebody else signed first, and tells what they changed', async () => {
    const other = await signEdit(scene.start, ending(`person/${bob}`), scene.signer)
    await storing(other!.trust)
    const told: string[] = []
    const onOthers: SigningClient['onOthers'] = (before, now) =>
      told.push(...[...before.entries.keys()].filter((one) => !now.entries.has(one)))
    const edit = () => ending('environment/shop/production')
    const { directory } = await signedChange({ ...signing, onOthers }, edit, storing)
    expect(told).toEqual([`person/${bob}`])
    expect([directory.head.body.version, [...directory.entries.keys()]]).toEqual([3, [`person/${ada}`]])
  })

  test('passes on a conflict that has another cause, without a second try', async () => {
    let tries = 0
    const send = async () => {
      tries++
      throw new RefusedError('conflict', 'the version has changed')
    }
    await expect(signedChange(signing, () => ending(`person/${bob}`), send)).rejects.toThrow('the version has changed')
    expect(tries).toBe(1)
  })

  test('refuses a newer head that does not follow the one that the signer knows', async () => {
    const stranger = await newSigner()
    const [fork] = await firstSteps(orgId, draftOf({ [bob]: stranger }), [], [stranger])
    scene.roots = [fork!.trust.root as string]
    scene.heads = [fork!.trust.head]
    const send = async () => {
      throw new RefusedError('conflict', 'body.trust.head: the directory has a newer head')
    }
    await expect(signedChange(signing, () => ending(`person/${bob}`), send)).rejects.toMatchObject({
      code: expect.stringMatching(/^directory_/),
    })
  })

  test('can change the root together with an entry', async () => {
    const other = await newSigner()
    const root = await signRoot(scene.start, draftOf({ [ada]: scene.signer, [bob]: other }), [scene.signer])
    const { directory } = await signedChange(signing, () => ({ ...ending(`person/${bob}`), root }), storing)
    expect([directory.root.body.version, directory.known.root.version]).toEqual([2, 2])
    expect((await openDirectory(scene.client, orgId, trustStart))!.root.hash).toBe(directory.root.hash)
  })

  test('starts a large organization with several heads', async () => {
    const many = Array.from({ length: 2100 }, (_, at): DirectoryEntry => {
      const id = `usr_${String(at).padStart(22, '0')}`
      return { key: `person/${id}`, value: { email: 'ada@example.com', kid: kids.ada } }
    })
    const steps = await firstSteps(orgId, draftOf({ [ada]: scene.signer }), many, [scene.signer])
    expect(steps.map(({ trust }) => trust.entries.length)).toEqual([2000, 100])
    expect(steps[1]!.next.head.body).toMatchObject({ version: 2, prev: steps[0]!.next.head.hash, count: 2100 })
  })
})

describe('the readers that were signed', () => {
  const one = [`person/${ada}`, kids.ada] as const
  const two = [`person/${bob}`, kids.bob] as const
  const three = ['token/skt_0000000000000000000003', kids.eve] as const

  const shown = (signed: (readonly [string, string])[] | null, claimed: (readonly [string, string])[]) => ({
    readers: claimed.map(([entryKey, kid]): [string, string] => [entryKey, kid]),
    signedReaders: signed?.map(([entryKey, kid]): [string, string] => [entryKey, kid]) ?? null,
  })

  test.each([
    ['none differs', [one, two], [one, two], { added: [], ended: [] }],
    ['one was added', [one], [one, two], { added: [two], ended: [] }],
    ['one ended', [one, two], [one], { added: [], ended: [two] }],
    ['one was replaced', [one, two], [one, three], { added: [three], ended: [two] }],
  ])('are compared if %s', async (_, signed, claimed, changes) => {
    expect(await explainReaders(await readersHash(signed), shown(signed, claimed))).toEqual(changes)
  })

  test('with another key than before have ended, and were added', async () => {
    const swapped = [two[0], kids.eve] as const
    const found = await explainReaders(await readersHash([one, two]), shown([one, two], [one, swapped]))
    expect(found).toEqual({ added: [swapped], ended: [two] })
  })

  test('are unknown if the server shows another list than the signed one, or none', async () => {
    expect(await explainReaders(await readersHash([one]), shown([one, two], [one, two]))).toBeNull()
    expect(await explainReaders(await readersHash([one]), shown(null, [one]))).toBeNull()
  })
})

describe('a signing client', () => {
  const grantee = { principalType: 'user', principalId: bob, wrappedDek: 'wd1.a.b.c.d' } as const
  let unsigned: string[][]
  let lines: string[]
  let received: (Trust | undefined)[]
  let signatory: Signatory

  beforeEach(() => {
    unsigned = []
    lines = []
    received = []
    const context = {
      client: scene.client,
      orgId,
      signer: scene.signer,
      own: `person/${ada}`,
      ownKid: kids.ada,
      commitments: {
        environment: (id: string) => environmentKeyCommitment(id, key),
        managed: (id: string, version: number) => managedKeyCommitment(id, version, key),
      },
      vouch: () => false,
    }
    signatory = {
      ...signing,
      context,
      onSigned: ({ step }) => void lines.push(...step.trust.entries.map((one) => one.key)),
      onUnsigned: (keys) => void unsigned.push([...keys]),
    }
    scene.server.on('grants.create', async ({ body }) => {
      const { trust } = body as { trust?: Trust }
      received.push(trust)
      const refused = trust && (await scene.store(trust))
      return refused ?? { status: 201, json: { grant: grantOf(bob) } }
    })
  })

  const grantOf = (principalId: string) => ({
    id: 'ek_0000000000000000000001',
    environmentId: production,
    principalType: 'user',
    principalId,
    wrappedDek: 'wd1.a.b.c.d',
    createdAt: '2026-01-01T00:00:00.000Z',
    endsAt: null,
  })
  const grant = () =>
    signingClient(scene.client, async () => signatory).grants.create({
      params: { orgId, envId: production },
      body: grantee,
    })

  test('signs the new reader in the request of the grant', async () => {
    await grant()
    const [[, value]] = [JSON.parse(received[0]!.entries[0]!.text as string)]
    expect(value.readers).toBe(
      await readersHash([
        [`person/${ada}`, kids.ada],
        [`person/${bob}`, kids.bob],
      ]),
    )
    expect([lines, unsigned]).toEqual([['environment/shop/production'], []])
    expect((await openDirectory(scene.client, orgId, trustStart))!.head.body.version).toBe(2)
  })

  test('signs no reader whom the server has added, and says which entry is not signed', async () => {
    const claim = scene.claims.get('environment/shop/production')!
    scene.claims.set(claim.key, {
      ...claim,
      readers: [...claim.readers!, ['person/usr_0000000000000000000009', kids.eve]],
    })
    await grant()
    expect([received, unsigned]).toEqual([[undefined], [['environment/shop/production']]])
  })

  test('signs nobody without an entry whom this machine does not know', async () => {
    scene.start = (await signedChange(signing, () => ending(`person/${bob}`), storing)).directory
    signatory = { ...signatory, directory: scene.start }
    await grant()
    expect([received, unsigned]).toEqual([[undefined], [[`person/${bob}`, 'environment/shop/production']]])
  })

  test('asks about the address together with the key, because the server claims both', async () => {
    scene.start = (await signedChange(signing, () => ending(`person/${bob}`), storing)).directory
    const { value, ...claim } = scene.claims.get(`person/${bob}`)!
    const vouch: Signatory['context']['vouch'] = (_, { kid, email }) => kid === kids.bob && email === 'bob@example.com'
    signatory = { ...signatory, directory: scene.start, context: { ...signatory.context, vouch } }
    scene.claims.set(claim.key, { ...claim, value: { ...value, email: 'chief@example.com' } })
    await grant()
    expect([received, unsigned]).toEqual([[undefined], [[claim.key, 'environment/shop/production']]])
    scene.claims.set(claim.key, { ...claim, value })
    await grant()
    expect(received[1]!.entries.map((one) => one.key)).toEqual(['environment/shop/production', claim.key])
  })

  test('sends the change without documents if the server refuses the entries', async () => {
    scene.store = async () =>
      refusal('body.trust.entries: environment/shop/production: readers is not what the server has')
    await grant()
    expect(received.map((one) => one !== undefined)).toEqual([true, false])
    expect(unsigned).toEqual([['environment/shop/production']])
  })

  test('signs the rows that were done if the server refuses one of several grants', async () => {
    const eve = 'usr_0000000000000000000009'
    const rowOf = (principalId: string) => ({
      environmentId: production,
      principalType: 'user' as const,
      principalId,
      publicKeyJwk: '{}',
      wrappedDek: 'wd1.a.b.c.d',
      ownWrappedDek: 'wd1.a.b.c.d',
    })
    signatory.context.vouch = () => true
    scene.claims.set(`person/${eve}`, {
      key: `person/${eve}`,
      value: { email: 'eve@example.com', kid: kids.eve },
      readers: null,
      signedReaders: null,
    })
    scene.server.on('grants.createMany', ({ body }) => {
      const { trust } = body as { trust?: Trust }
      received.push(trust)
      if (trust) return refusal('body.trust.entries: environment/shop/production: readers is not what the server has')
      const claim = scene.claims.get('environment/shop/production')!
      scene.claims.set(claim.key, { ...claim, readers: [...claim.readers!, [`person/${bob}`, kids.bob]] })
      const resultOf = (principalId: string, result: string) => ({
        environmentId: production,
        principalType: 'user',
        principalId,
        result,
        reason: result === 'done' ? null : 'no_principal',
        grantId: null,
      })
      return { json: { results: [resultOf(bob, 'done'), resultOf(eve, 'conflict')] } }
    })
    const body = { grants: [rowOf(bob), rowOf(eve)] }
    await signingClient(scene.client, async () => signatory).grants.createMany({ params: { orgId }, body })
    expect(received.map((one) => one !== undefined)).toEqual([true, false])
    const signed = await openDirectory(scene.client, orgId, trustStart)
    expect((signed!.entries.get('environment/shop/production')!.value as { readers: string }).readers).toBe(
      await readersHash([
        [`person/${ada}`, kids.ada],
        [`person/${bob}`, kids.bob],
      ]),
    )
    expect([signed!.entries.has(`person/${eve}`), lines, unsigned]).toEqual([
      false,
      ['environment/shop/production'],
      [],
    ])
  })

  test('signs nothing for a caller who is no signer', async () => {
    await signingClient(scene.client, async () => null).grants.create({
      params: { orgId, envId: production },
      body: grantee,
    })
    expect(received).toEqual([undefined])
  })

  test('is opened for each part of the API that an edit belongs to', () => {
    const headings = Object.keys({ ...changingEdits, ...afterwardEdits }).map((name) =>
      name.slice(0, name.indexOf('.')),
    )
    expect(headings.filter((heading) => !signedHeadings.has(heading))).toEqual([])
  })
})
