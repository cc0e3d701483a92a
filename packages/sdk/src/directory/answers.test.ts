import { fingerprint } from '@skerry/crypto/digest'
import { generateKeyPair } from '@skerry/crypto/keys'
import { beforeEach, describe, expect, test } from 'vitest'
import { draftOf, idOf } from '../../test/directory-draft.ts'
import {
  ada,
  bob,
  type DirectoryServer,
  kids,
  orgId,
  production,
  startDirectoryServer,
} from '../../test/directory-server.ts'
import { DirectoryDraft } from './draft.ts'
import { afterwardEdits, changingEdits } from './edits.ts'

// A lying server answers a change with the ids and names of other objects. The signer signs the request, and not the answer.

const staging = idOf('env', 7)

let scene: DirectoryServer
let draft: DirectoryDraft
beforeEach(async () => {
  scene = await startDirectoryServer()
  draft = draftOf(scene)
})

const signAfter = (operation: string, body: object, answer: object) =>
  afterwardEdits[operation]!({ params: { orgId, appId: 'app', groupId: 'grp' }, body: { ...body } }, draft, answer)

test('a grant that the signer did not send is not signed', async () => {
  const user = { principalType: 'user', principalId: ada }
  const forged = { environmentId: production, principalType: 'user', principalId: bob, result: 'done' }
  await signAfter('grants.createMany', { grants: [{ environmentId: staging, ...user }] }, { results: [forged, forged] })
  expect([...draft.entries]).toEqual([])
})

describe('a new environment', () => {
  const shop = { environment: { id: staging, slug: 'staging' } }
  beforeEach(() => {
    const app = { id: idOf('app', 1), name: 'shop', slug: 'shop', createdAt: '2026-01-01T00:00:00.000Z' }
    scene.server.on('apps.get', () => ({ text: JSON.stringify({ app }) }))
  })

  test('has the name of the request', async () => {
    draft.typed = { owner: 'shop' }
    await signAfter(
      'apps.createEnv',
      { slug: 'staging', wrappedDek: 'wd1' },
      { environment: { id: staging, slug: 'x' } },
    )
    expect([...draft.entries.keys()]).toEqual(['environment/shop/staging'])
  })

  test.each([
    ['the name of a signed one', { slug: 'production' }, shop],
    ['the id of a signed one', { slug: 'staging' }, { environment: { id: production, slug: 'staging' } }],
  ])('with %s is not signed', async (_, body, answer) => {
    draft.typed = { owner: 'shop' }
    await signAfter('apps.createEnv', { ...body, wrappedDek: 'wd1' }, answer)
    expect([[...draft.entries], [...draft.unsigned]]).toEqual([[], [`environment/shop/${body.slug}`]])
  })
})

test('a new environment of a group is in no environment that the server names', async () => {
  const group = { id: idOf('grp', 1), name: 'shared', slug: 'shared', createdAt: '2026-01-01T00:00:00.000Z' }
  scene.server.on('groups.get', () => ({ text: JSON.stringify({ group, environments: [] }) }))
  const production = scene.claims.get('environment/shop/production')!
  const value = { ...production.value, layers: ['shared:production'] }
  scene.claims.set(production.key, { ...production, value })
  const answer = { environment: { id: staging, slug: 'production' } }
  draft.typed = { owner: 'shared' }
  await signAfter('groups.createEnv', { slug: 'production', wrappedDek: 'wd1' }, answer)
  expect([[...draft.entries.keys()], [...draft.unsigned]]).toEqual([
    ['environment/shared:production'],
    ['environment/shop/production'],
  ])
})

test('a new token has the id, the name and the environment of the request', async () => {
  const { publicKeyJwk } = await generateKeyPair()
  const body = { tokenId: idOf('skt', 3), name: 'ci', environmentId: null, publicKeyJwk }
  const token = { id: idOf('skt', 4), name: 'deploy', environmentId: production }
  await signAfter('tokens.create', body, { token })
  const value = { name: 'ci', environment: null, kid: await fingerprint(publicKeyJwk) }
  expect([...draft.entries]).toEqual([[`token/${body.tokenId}`, value]])
})

describe('a new managed key', () => {
  const grants = [{ principalType: 'user', principalId: ada, wrappedKey: 'wk1' }]
  const create = (name: string, id: string) =>
    signAfter('kms.create', { name, grants }, { key: { id, name: 'invoices', currentVersion: 1 } })

  test('has the name of the request', async () => {
    await create('receipts', idOf('kms', 1))
    expect([...draft.entries.keys()]).toEqual(['key/receipts'])
  })

  test('has the first version, whatever the server answers', async () => {
    const key = { id: idOf('kms', 1), name: 'receipts', currentVersion: 7 }
    await signAfter('kms.create', { name: 'receipts', grants }, { key })
    expect(draft.entries.get('key/receipts')).toMatchObject({ versions: [{ version: 1 }] })
  })

  test('with the name or the id of a signed one is not signed', async () => {
    const before = { id: idOf('kms', 1), readers: kids.ada, versions: [] }
    draft.set('key/invoices', before)
    await create('invoices', idOf('kms', 2))
    await create('receipts', before.id)
    expect([[...draft.entries], [...draft.unsigned]]).toEqual([
      [['key/invoices', before]],
      ['key/invoices', 'key/receipts'],
    ])
  })
})

test('a new sync connection with the id of a signed worker or of the rotator is not signed', async () => {
  const { publicKeyJwk } = await generateKeyPair()
  const signed = `worker/${idOf('syn', 1)}`
  const worker = { kid: kids.eve, heldBy: 'server' as const }
  draft.set(signed, worker)
  for (const id of [idOf('syn', 1), orgId]) {
    const claim = { key: `worker/${id}`, value: { kid: await fingerprint(publicKeyJwk), heldBy: 'server' } }
    scene.claims.set(claim.key, { ...claim, readers: null, signedReaders: null })
    await signAfter('sync.createConnection', {}, { connection: { id, publicKeyJwk } })
  }
  expect([[...draft.entries], [...draft.unsigned]]).toEqual([[[signed, worker]], [signed, `worker/${orgId}`]])
})

describe('a name that the user gave', () => {
  const groupId = idOf('grp', 1)
  const composed = (slug: string) => {
    const group = { groupId, slug, name: slug, position: 0 }
    scene.server.on('composition.list', () => ({ text: JSON.stringify({ groups: [group] }) }))
    const claim = { key: 'environment/evil:production', value: {}, readers: null, signedReaders: null }
    scene.claims.set(claim.key, claim)
  }
  const change = (operation: string, params: object, body: object = {}) =>
    changingEdits[operation]!({ params: { orgId, envId: production, ...params }, body: { ...body } }, draft)
  const shown = (slug: string) => {
    const app = { id: idOf('app', 1), name: slug, slug, createdAt: '2026-01-01T00:00:00.000Z' }
    scene.server.on('apps.get', () => ({ text: JSON.stringify({ app, environments: [] }) }))
    scene.server.on('groups.get', () => ({ text: JSON.stringify({ group: app, environments: [] }) }))
  }
  const refused = async (signing: Promise<void> | void) => {
    await expect(signing).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('you named ') })
    expect([...draft.entries]).toEqual([])
  }

  test('stands for no other group that the server composes', async () => {
    composed('evil')
    draft.typed = { owner: 'shared' }
    await refused(change('composition.set', {}, { groupId }))
    await refused(change('composition.delete', { groupId }))
  })

  test.each(['apps.delete', 'groups.delete'])('stands for no other owner whose environments %s ends', async (act) => {
    shown('shop')
    draft.typed = { owner: 'other' }
    await refused(change(act, { appId: idOf('app', 1), groupId }))
  })

  test.each(['apps.createEnv', 'groups.createEnv'])('stands for no other owner of %s', async (act) => {
    shown('shop')
    draft.typed = { owner: 'other' }
    await refused(signAfter(act, { slug: 'staging', wrappedDek: 'wd1' }, { environment: { id: staging } }))
  })

  test.each(['apps.delete', 'groups.delete'])('is needed to sign the ends that %s causes', async (act) => {
    shown('shop')
    await change(act, { appId: idOf('app', 1), groupId })
    const unsigned = act === 'apps.delete' ? ['environment/shop/production'] : []
    expect([[...draft.entries], [...draft.unsigned]]).toEqual([[], unsigned])
  })

  test('is needed to sign the environment that apps.createEnv makes', async () => {
    shown('billing')
    await signAfter('apps.createEnv', { slug: 'staging', wrappedDek: 'wd1' }, { environment: { id: staging } })
    expect([[...draft.entries], [...draft.unsigned]]).toEqual([[], ['environment/billing/staging']])
  })

  test('signs the owner whom the server shows, if it is the same one', async () => {
    shown('shop')
    draft.typed = { owner: 'shop' }
    await change('apps.delete', { appId: idOf('app', 1) })
    expect([...draft.entries]).toEqual([['environment/shop/production', null]])
  })

  const list = (grants: readonly object[], nextCursor: string | null = null) => ({
    text: JSON.stringify({ grants, nextCursor }),
  })
  const grantOf = (principalId: string) => ({ id: idOf('gnt', 1), principalType: 'user', principalId })
  const endGrant = () => change('grants.delete', { grantId: idOf('gnt', 1) })
  const endsAda = async () => {
    await endGrant()
    expect(draft.readerChanges.get('environment/shop/production')?.ended).toEqual([[`person/${ada}`, kids.ada]])
  }

  test('ends the grant of no other person', async () => {
    scene.server.on('grants.list', () => list([grantOf(ada)]))
    draft.typed = { holder: 'bob@example.com' }
    await refused(endGrant())
  })

  test.each([
    ['no grant', []],
    ['the grant as that of another', [grantOf(bob)]],
  ])('ends the grant of the holder whose id it is, although the server lists %s', async (_, grants) => {
    scene.server.on('grants.list', () => list(grants))
    draft.typed = { holderId: ada, holder: 'ada@example.com' }
    await endsAda()
  })

  test('is not needed to end a grant on a later page of the list', async () => {
    scene.server.on('grants.list', ({ query }) => (query.cursor ? list([grantOf(ada)]) : list([], 'next')))
    await endsAda()
  })

  test('is needed to sign the end of a grant that the server does not list', async () => {
    scene.server.on('grants.list', () => list([]))
    await endGrant()
    expect([[...draft.entries], [...draft.unsigned]]).toEqual([[], ['environment/shop/production']])
  })

  describe('of a group', () => {
    const layered = () => {
      const entry = scene.start.entries.get('environment/shop/production')!
      const value = { ...entry.value, layers: ['shared:production'] }
      const entries = new Map(scene.start.entries).set(entry.key, { ...entry, value } as never)
      draft = new DirectoryDraft({ ...scene.start, entries }, draft.context)
      const claim = { key: 'environment/shared:production', value: {}, readers: null, signedReaders: null }
      scene.claims.set(claim.key, claim)
    }
    const show = (groups: readonly object[]) =>
      scene.server.on('composition.list', () => ({ text: JSON.stringify({ groups }) }))
    const shared = { groupId: idOf('grp', 2), slug: 'shared', name: 'shared', position: 0 }

    test.each([
      ['lists no group', []],
      ['lists it with another id', [shared]],
    ])('takes it out, although the server %s', async (_, groups) => {
      layered()
      show(groups)
      draft.typed = { owner: 'shared' }
      await change('composition.delete', { groupId })
      expect(draft.entries.get('environment/shop/production')).toMatchObject({ layers: [] })
    })

    const add = async (position: number | undefined, groups?: string[]) => {
      layered()
      const key = 'environment/mail:production'
      scene.claims.set(key, { key, value: {}, readers: null, signedReaders: null })
      const mail = { groupId, slug: 'mail', name: 'mail', position: -1 }
      show([mail, { ...shared, position: 5 }])
      draft.typed = { owner: 'mail', groups }
      await change('composition.set', {}, { groupId, ...(position === undefined ? {} : { position }) })
      return draft.entries.get('environment/shop/production')
    }

    test('adds it as the last one, wherever the server shows it', async () => {
      expect(await add(undefined)).toMatchObject({ layers: ['shared:production', 'mail:production'] })
    })

    test.each([
      ['has not seen the order', undefined],
      ['has seen another order', ['shared', 'mail']],
    ])('gives it no position if the user %s', async (_, seen) => {
      expect([await add(1, seen), [...draft.unsigned]]).toEqual([undefined, ['environment/shop/production']])
    })

    test('gives it the position whose order the user has seen', async () => {
      expect(await add(1, ['mail', 'shared'])).toMatchObject({ layers: ['mail:production', 'shared:production'] })
    })

    test('is needed to take out a group that the server does not list', async () => {
      layered()
      show([])
      await change('composition.delete', { groupId })
      expect([[...draft.entries], [...draft.unsigned]]).toEqual([[], ['environment/shop/production']])
    })
  })

  const deploy = idOf('skt', 8)
  /** Two tokens, a managed key, and Bob as a signer beside Ada. */
  const signed = () => {
    const { root } = scene.start
    const signers = [...root.body.signers, { ...root.body.signers[0]!, kid: kids.bob, person: bob }]
    const entries = new Map(scene.start.entries)
    for (const [id, name] of [
      [deploy, 'deploy'],
      [idOf('skt', 9), 'victim'],
    ] as const) {
      const token = { key: `token/${id}`, value: { name, environment: null, kid: kids.eve } } as const
      entries.set(token.key, token)
    }
    const invoices = { key: 'key/invoices', value: { id: idOf('kms', 1), readers: kids.ada, versions: [] } } as const
    entries.set(invoices.key, invoices)
    const { context } = draft
    draft = new DirectoryDraft({ ...scene.start, entries, root: { ...root, body: { ...root.body, signers } } }, context)
  }
  const ofToken = { tokenId: deploy }
  const ofBob = { userId: bob }
  const ofKey = { kmsKeyId: idOf('kms', 1) }

  test.each([
    ['tokens.update', ofToken, { holder: 'victim' }, { name: 'deploy' }],
    ['tokens.update', ofToken, { holder: 'Deploy' }, { name: 'other' }],
    ['tokens.update', { tokenId: idOf('skt', 7) }, { holder: 'victim' }, { name: 'deploy' }],
    ['tokens.revoke', ofToken, { holder: 'victim' }, {}],
    ['tokens.delete', ofToken, { holder: 'victim' }, {}],
    ['members.update', ofBob, { holder: 'ada@example.com' }, { role: 'member' }],
    ['members.remove', ofBob, { holder: 'ada@example.com' }, {}],
    ['kms.delete', ofKey, { managedKey: 'receipts' }, {}],
  ])('stands for no other object that %s changes (%j, named %j)', async (act, params, typed, body) => {
    signed()
    draft.typed = typed
    await refused((async () => change(act, params, body))())
    expect(draft.root).toBeUndefined()
  })

  test.each(['shop/staging', 'staging', 'shop/production@pr-1', '@production'])(
    'stands for no other environment that ends (%s)',
    async (environment) => {
      draft.typed = { environment }
      await refused(change('envs.delete', {}))
    },
  )

  test.each(['shop/production', 'production'])('ends the environment that it is (%s)', async (environment) => {
    draft.typed = { environment }
    await change('envs.delete', {})
    expect([...draft.entries]).toEqual([['environment/shop/production', null]])
  })

  test('stands for no other holder of a managed key', async () => {
    signed()
    for (const typed of [{ holder: 'ada@example.com' }, { managedKey: 'receipts' }]) {
      draft.typed = typed
      const query = { principalType: 'user', principalId: bob }
      const edit = async () => changingEdits['kms.revoke']!({ params: { orgId, ...ofKey }, query, body: {} }, draft)
      await refused(edit())
    }
  })

  test('stands for no other person who leaves', async () => {
    signed()
    draft.typed = { holder: 'ada@example.com' }
    await refused((async () => afterwardEdits['offboardings.start']!({ params: { orgId }, body: ofBob }, draft, {}))())
    expect(draft.root).toBeUndefined()
  })

  test('is compared with the signed one without capital letters if it is an address', async () => {
    signed()
    draft.typed = { holder: 'BOB@example.com' }
    await change('members.remove', ofBob)
    expect([...draft.entries]).toEqual([[`person/${bob}`, null]])
    expect(draft.root).toBeDefined()
  })

  test('adds no other sync connection than the one that got the keys', async () => {
    draft.typed = { connectionId: idOf('syn', 1) }
    const body = { wrappedDeks: [{ environmentId: production, wrappedDek: 'wd1' }] }
    await refused(signAfter('sync.updateBinding', body, { binding: { connectionId: idOf('syn', 2) } }))
  })
})

describe('the environment of a token that nobody signed', () => {
  const token = idOf('skt', 5)
  const grantTo = async (environment: string | null) => {
    const known = { client: scene.client, orgId, signer: scene.signer, own: `person/${ada}`, ownKid: kids.ada }
    const commitments = { environment: async () => '', managed: async () => '' }
    draft = new DirectoryDraft(scene.start, { ...known, commitments, vouch: () => true })
    const claim = { key: `token/${token}`, value: { name: 'ci', environment, kid: kids.bob } }
    scene.claims.set(claim.key, { ...claim, readers: null, signedReaders: null })
    const body = { principalType: 'service_token', principalId: token, wrappedDek: 'wd1' }
    await changingEdits['grants.create']!({ params: { orgId, envId: production }, body }, draft)
  }

  test('is signed if it is the one that the token is to read', async () => {
    await grantTo('shop/production')
    expect(draft.entries.get(`token/${token}`)).toMatchObject({ environment: 'shop/production' })
  })

  test('is not signed if the server calls another one', async () => {
    await grantTo('shop/staging')
    expect([[...draft.entries], [...draft.unsigned]]).toEqual([[], [`token/${token}`, 'environment/shop/production']])
  })
})
