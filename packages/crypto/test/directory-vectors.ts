import { encodeBase64url, encodeUtf8 } from '../src/base64url.ts'
import { canonicalJson } from '../src/canonical-json.ts'
import { makeBranchManifest } from '../src/directory/branch-manifest.ts'
import { environmentKeyCommitment, managedKeyCommitment, readersHash } from '../src/directory/commitments.ts'
import { signDocument } from '../src/directory/document.ts'
import { type DirectoryEntry, formatEntry } from '../src/directory/entries.ts'
import { makeAnswer, makeInvitation } from '../src/directory/joining.ts'
import { type DirectorySigner, signerOfPerson, signerOfRescueCode, signerOfToken } from '../src/directory/signing.ts'
import { directoryTree } from '../src/directory/tree.ts'
import type { DirectoryAnswer } from '../src/directory/verify.ts'
import { importPrivateKey } from '../src/keys.ts'
import { openHasher } from '../src/merkle.ts'
import { formatPrintedCode } from '../src/printed-code.ts'
import keyring from '../vectors/keyring.json' with { type: 'json' }
import published from '../vectors/published.json' with { type: 'json' }
import tokens from '../vectors/tokens.json' with { type: 'json' }
import {
  day,
  entries,
  firstBody,
  freshAnswer,
  freshTrust,
  ids,
  keyOf,
  kidOf,
  makeScene,
  org,
  otherHash,
  type Scene,
  signers,
  start,
} from './directory-scene.ts'

// Makes vectors/directory.json. Every byte is fixed, so that a change of a format changes the file and fails a test.

const { ada, adaLaptop, bob, cy, ci, rescueOne, rescueTwo, stranger } = signers
const jwkText = ({ jwk }: DirectorySigner) => JSON.stringify(jwk)
const document = (body: string, signatures: string) =>
  `or1.${encodeBase64url(encodeUtf8(body))}.${encodeBase64url(encodeUtf8(signatures))}`

export async function makeDirectoryVectors(): Promise<object> {
  const scene = await makeScene()
  return {
    about:
      'The signed directory, as docs/directory-format.md describes it. Times are Unix seconds; keys, hashes and codes are base64url unless they say otherwise. A refused row carries the code of the refusal. These rows may never change.',
    canonicalJson: canonicalRows(),
    signingKeys: await signingKeyRows(),
    roots: await rootRows(scene),
    steps: await stepRows(scene),
    heads: await headRows(scene),
    entries: await entryRows(),
    trees: await treeRows(),
    answers: await answerRows(scene),
    commitments: await commitmentRows(),
    pins: pinRows(scene),
    joining: await joiningRows(scene),
    branchManifests: await branchRows(),
  }
}

const canonicalRows = () => ({
  accepted: [
    '{"a":1,"b":[true,null,"é"]}',
    '[0,-1,1e+21,0.000001,1e-7]',
    '{"\\r":1,"1":2,"\u{1f600}":3,"\ufb33":4}',
    '"\\u000f\\n/"',
  ],
  refused: [
    '{"b":1,"a":2}',
    '{"a":1,"a":1}',
    '{"a":1, "b":2}',
    '[1.0]',
    '[-0]',
    '[1E3]',
    '[9007199254740993]',
    '[1e400]',
    '"\\u0041"',
    '"\\/"',
    '"\\ud800"',
    '{"\ufb33":4,"\u{1f600}":3}',
    '[1]\n',
    '',
  ],
})

async function signingKeyRows() {
  const person = await importPrivateKey(new Uint8Array(Buffer.from(keyring.pkcs8, 'base64url')), { extractable: true })
  const row = (signer: DirectorySigner) => ({ publicKeyJwk: jwkText(signer), kid: signer.kid })
  const codes = [new Uint8Array(16), Uint8Array.from({ length: 16 }, (_, at) => at * 17)]
  return {
    persons: [{ pkcs8: keyring.pkcs8, ...row(await signerOfPerson(person)) }],
    tokens: await Promise.all(tokens.derived.map(async ({ token }) => ({ token, ...row(await signerOfToken(token)) }))),
    rescueCodes: await Promise.all(
      codes.map(async (secret) => {
        const code = await formatPrintedCode(secret, 'skerry/rescue-key/check/v1/')
        return { code, secret: encodeBase64url(secret), ...row(await signerOfRescueCode(code)) }
      }),
    ),
    refusedCodes: ['0000-0000-0000-0000-0000-0000-0000', keyring.kitCodes.accepted[0]!.code, ''],
    refusedTokens: [published.token.token],
  }
}

/** Roots alone: their form, their own signatures. */
async function rootRows({ roots, rootTexts }: Scene) {
  const sign = (change: object, ...by: DirectorySigner[]) => signDocument('or1', { ...firstBody, ...change }, by)
  const body = canonicalJson(firstBody)
  const [, , firstSignatures = ''] = rootTexts[0].split('.')
  const signatures = Buffer.from(firstSignatures, 'base64url').toString()
  const one = firstBody.signers[0]!
  return {
    accepted: [
      { title: 'one signer', text: rootTexts[0], hash: roots[0].hash },
      { title: 'two of three persons', text: rootTexts[1], hash: roots[1].hash },
      { title: 'a token, because one signature is enough', text: await sign({}, ci), hash: roots[0].hash },
      { title: 'a signature by an unknown key', text: await sign({}, ada, stranger), hash: roots[0].hash },
    ],
    refused: [
      {
        title: 'members out of order',
        text: document(body.replace('{"guarded":{},', '{').replace(/}$/, ',"guarded":{}}'), signatures),
        expected: 'directory_malformed',
      },
      {
        title: 'a member twice',
        text: document(body.replace('"v":1', '"v":1,"v":1'), signatures),
        expected: 'directory_malformed',
      },
      {
        title: 'a space',
        text: document(body.replace('"v":1', '"v": 1'), signatures),
        expected: 'directory_malformed',
      },
      {
        title: 'a space in the signatures',
        text: document(body, signatures.replace(':', ': ')),
        expected: 'directory_malformed',
      },
      {
        title: 'a signature twice',
        text: document(body, signatures.replace(/^\[(.*)\]$/, '[$1,$1]')),
        expected: 'directory_malformed',
      },
      { title: 'no signature', text: document(body, '[]'), expected: 'directory_malformed' },
      { title: 'an unknown member', text: await sign({ more: 1 }, ada), expected: 'directory_malformed' },
      { title: 'another version', text: await sign({ v: 2 }, ada), expected: 'directory_unsupported' },
      {
        title: 'witnesses',
        text: await sign({ witnesses: [{ alg: 'ES256', key: otherHash, name: 'w' }], quorum: 1 }, ada),
        expected: 'directory_unsupported',
      },
      {
        title: 'guarded environments',
        text: await sign({ guarded: { [otherHash]: 1 } }, ada),
        expected: 'directory_unsupported',
      },
      {
        title: 'a kid that is not of its key',
        text: await sign({ signers: [{ ...one, kid: otherHash }] }, ada),
        expected: 'directory_malformed',
      },
      {
        title: 'the same signer twice',
        text: await sign({ signers: [one, one] }, ada),
        expected: 'directory_malformed',
      },
      {
        title: 'a threshold above the persons',
        text: await sign({ threshold: 2 }, ada, adaLaptop, ci),
        expected: 'directory_malformed',
      },
      { title: 'a threshold of 9', text: await sign({ threshold: 9 }, ada), expected: 'directory_malformed' },
      { title: 'a second root after none', text: await sign({ version: 2 }, ada), expected: 'directory_malformed' },
      { title: 'the signature of a stranger', text: await sign({}, stranger), expected: 'directory_unsigned' },
      {
        title: 'the signatures of the rescue keys alone',
        text: await sign({}, rescueOne, rescueTwo),
        expected: 'directory_unsigned',
      },
      {
        title: 'a signature by another key under a kid',
        text: await sign({}, { ...bob, kid: ada.kid }),
        expected: 'directory_unsigned',
      },
      {
        title: 'one person on two machines, and a token, where two persons are needed',
        text: await signDocument('or1', roots[1].body, [ada, adaLaptop, ci]),
        expected: 'directory_unsigned',
      },
      { title: 'a head', text: rootTexts[0].replace('or1', 'od1'), expected: 'directory_malformed' },
    ],
  }
}

/** A root after another one. */
async function stepRows({ rootTexts: [before, after], roots }: Scene) {
  const { body } = roots[1]
  const everyone = [ada, bob, cy, ci, rescueOne, rescueTwo]
  const sign = (change: object, ...by: DirectorySigner[]) => signDocument('or1', { ...body, ...change }, by)
  return {
    accepted: [
      { title: 'a signer of the root before', before, after },
      { title: 'the rescue keys instead', before, after: await sign({}, bob, cy, rescueOne, rescueTwo) },
    ],
    refused: [
      { title: 'nobody of the root before', before, after: await sign({}, bob, cy), expected: 'directory_unsigned' },
      {
        title: 'one rescue key of two',
        before,
        after: await sign({}, bob, cy, rescueOne),
        expected: 'directory_unsigned',
      },
      {
        title: 'another organization',
        before,
        after: await sign({ org: 'org_1111111111111111111111' }, ...everyone),
        expected: 'directory_other_org',
      },
      {
        title: 'another nonce',
        before,
        after: await sign({ nonce: 'AAAAAAAAAAAAAAAAAAAAAA' }, ...everyone),
        expected: 'directory_broken_chain',
      },
      {
        title: 'a version left out',
        before,
        after: await sign({ version: 3 }, ...everyone),
        expected: 'directory_broken_chain',
      },
      {
        title: 'another root before',
        before,
        after: await sign({ prev: otherHash }, ...everyone),
        expected: 'directory_broken_chain',
      },
      {
        title: 'an earlier time',
        before,
        after: await sign({ issuedAt: start - 1 }, ...everyone),
        expected: 'directory_broken_chain',
      },
    ],
  }
}

async function headRows({ heads, headTexts, roots }: Scene) {
  const sign = (change: object) => signDocument('od1', { ...heads[2].body, ...change }, [ada])
  const root = roots[1].hash
  return {
    accepted: headTexts.map((text, at) => ({ text, hash: heads[at]!.hash, root: heads[at]!.body.root })),
    refused: [
      { title: 'an unknown member', text: await sign({ more: 1 }), root, expected: 'directory_malformed' },
      { title: 'another version of the format', text: await sign({ v: 2 }), root, expected: 'directory_unsupported' },
      { title: 'no head before it', text: await sign({ prev: null }), root, expected: 'directory_malformed' },
      {
        title: 'a first head after another one',
        text: await sign({ version: 1 }),
        root,
        expected: 'directory_malformed',
      },
      { title: 'a negative number of entries', text: await sign({ count: -1 }), root, expected: 'directory_malformed' },
    ],
  }
}

async function entryRows() {
  const hasher = await openHasher()
  const [person] = entries as [DirectoryEntry]
  const refused = (title: string, key: string, value: unknown, expected = 'directory_malformed') => ({
    title,
    text: canonicalJson([key, value]),
    expected,
  })
  return {
    accepted: entries.map((entry) => ({
      text: formatEntry(entry),
      leaf: encodeBase64url(hasher.leaf([entry.key, entry.value])),
    })),
    refused: [
      refused('an unknown member', person.key, { ...person.value, more: 1 }),
      refused('a missing member', person.key, { kid: kidOf(1) }),
      refused('a capital letter in a name', 'environment/Shop/production', entries[4]!.value),
      refused('a group with layers', 'environment/shared:production', entries[4]!.value),
      refused('a guarded environment', `state/${otherHash}`, {}, 'directory_unsupported'),
      refused('an unknown kind', 'thing/x', {}, 'directory_unsupported'),
      {
        title: 'members out of order',
        text: `["${person.key}",{"kid":"${kidOf(1)}","email":"ada@example.com"}]`,
        expected: 'directory_malformed',
      },
    ],
  }
}

async function treeRows() {
  const list = (count: number): DirectoryEntry[] =>
    Array.from({ length: count }, (_, at) => ({
      key: `person/usr_${String(at).padStart(22, '0')}` as const,
      value: { email: `${at}@example.com`, kid: kidOf(at) },
    }))
  const roots = await Promise.all(
    Array.from({ length: 10 }, async (_, count) => ({ count, entries: (await directoryTree(list(count))).entries })),
  )
  const tree = await directoryTree(list(7))
  const [first, last] = [list(7)[3]!.key, list(7)[6]!.key]
  const [proof, lastProof] = [tree.prove(first)!, tree.prove(last)!]
  const under = { count: 7, entries: tree.entries }
  return {
    about:
      'Trees over person/usr_<22 digits> with the number as digits, <number>@example.com and 32 bytes of the number.',
    roots,
    accepted: [
      { key: first, ...under, proof },
      { key: last, ...under, proof: lastProof },
    ],
    refused: [
      { title: 'another entry', key: last, ...under, proof, expected: 'directory_unproven' },
      {
        title: 'another position',
        key: first,
        ...under,
        proof: { ...proof, index: 2 },
        expected: 'directory_unproven',
      },
      { title: 'a position outside', key: first, ...under, proof: { ...proof, index: 7 }, expected: 'malformed_proof' },
      {
        title: 'a hash too few',
        key: first,
        ...under,
        proof: { ...proof, path: proof.path.slice(1) },
        expected: 'malformed_proof',
      },
      {
        title: 'a hash too many',
        key: first,
        ...under,
        proof: { ...proof, path: [...proof.path, otherHash] },
        expected: 'malformed_proof',
      },
      {
        title: 'another hash',
        key: first,
        ...under,
        proof: { ...proof, path: [otherHash, ...proof.path.slice(1)] },
        expected: 'directory_unproven',
      },
      {
        title: 'a malformed hash',
        key: first,
        ...under,
        proof: { ...proof, path: ['', ...proof.path.slice(1)] },
        expected: 'directory_malformed',
      },
    ],
  }
}

/** Whole answers to a client, with its trust: the pins, its memory, its clock, and what it wants to do. */
async function answerRows(scene: Scene) {
  const [fresh, trust] = [freshAnswer(scene), freshTrust(scene)]
  const memory = {
    org,
    root: { version: 2, hash: scene.roots[1].hash },
    head: { version: 2, hash: scene.heads[1].hash },
    time: start + day,
    pins: [scene.roots[0].hash],
  }
  const newest = scene.heads[2].body
  const headSigned = (change: object, by = ada) => signDocument('od1', { ...newest, ...change }, [by])
  const now = newest.issuedAt
  const known = { ...memory, head: { version: 3, hash: scene.heads[2].hash }, time: now }
  const row = (title: string, expected: string, answer: object, more: object = {}) => ({
    title,
    answer: { ...fresh, ...answer },
    trust: { ...trust, ...more },
    expected,
  })
  const remembered = { roots: [scene.rootTexts[1]] }
  const rows = {
    accepted: [
      { title: 'a client with a pin', answer: fresh, trust, known },
      { title: 'a client with memory', answer: { ...fresh, ...remembered }, trust: { ...trust, known: memory }, known },
      { title: 'the same head again', answer: { ...fresh, ...remembered }, trust: { ...trust, known }, known },
      { title: 'the last second to read', answer: fresh, trust: { ...trust, now: now + 30 * day }, known },
      {
        title: 'the last second to write',
        answer: fresh,
        trust: { ...trust, now: now + 14 * day, purpose: 'write' },
        known,
      },
      { title: 'ten minutes early', answer: fresh, trust: { ...trust, now: now - 600 }, known },
    ],
    refused: [
      row('no pin', 'directory_unpinned', {}, { pins: [] }),
      row('another pin', 'directory_unpinned', {}, { pins: [{ root: otherHash, leastHead: 1 }] }),
      row(
        'a chain without one pin of two',
        'directory_unpinned',
        {},
        { pins: [...trust.pins, { root: otherHash, leastHead: 1 }] },
      ),
      row('a chain that begins after the pin', 'directory_unpinned', remembered),
      row('a root left out', 'directory_broken_chain', { roots: [scene.rootTexts[0], scene.rootTexts[0]] }),
      row('a head of the root before', 'directory_broken_chain', { heads: [scene.headTexts[0]] }),
      row('a head signed by a stranger', 'directory_unsigned', { heads: [await headSigned({}, stranger)] }),
      row('a head signed by a rescue key', 'directory_unsigned', { heads: [await headSigned({}, rescueOne)] }),
      row('a head below the pin', 'directory_rolled_back', {}, { pins: [{ ...trust.pins[0], leastHead: 4 }] }),
      row('another organization', 'directory_other_org', {}, { org: 'org_1111111111111111111111' }),
      row('a classic token', 'directory_too_weak', {}, { token: 'classic' }),
      row(
        'an older root than known',
        'directory_rolled_back',
        { roots: [scene.rootTexts[0]], heads: [scene.headTexts[0]] },
        { known },
      ),
      row('an older head than known', 'directory_rolled_back', { heads: [scene.headTexts[1]] }, { known }),
      row(
        'another head of the known version',
        'directory_rolled_back',
        { heads: [await headSigned({ count: 1 })] },
        { known },
      ),
      row(
        'a head that does not continue the known one',
        'directory_broken_chain',
        { heads: [await headSigned({ prev: otherHash })] },
        { known: memory },
      ),
      row('a second too old to read', 'directory_stale', {}, { now: now + 30 * day + 1 }),
      row('a second too old to write', 'directory_stale', {}, { now: now + 14 * day + 1, purpose: 'write' }),
      row('more than ten minutes early', 'directory_from_future', {}, { now: now - 601 }),
    ],
  }
  return withNamedDocuments(rows)
}

/** The rows of answers with names instead of texts, and the texts by their names. Many rows have the same documents. */
function withNamedDocuments(rows: Record<string, { answer: DirectoryAnswer }[]>) {
  const names = new Map<string, string>()
  const nameOf = (text: string) => {
    if (!names.has(text)) names.set(text, `document ${names.size + 1}`)
    return names.get(text) as string
  }
  const named = Object.entries(rows).map(([list, all]) => [
    list,
    all.map(({ answer: { roots, heads }, ...row }) => ({
      ...row,
      answer: { roots: roots.map(nameOf), heads: heads.map(nameOf) },
    })),
  ])
  return { documents: Object.fromEntries([...names].map(([text, name]) => [name, text])), ...Object.fromEntries(named) }
}

const commitmentRows = async () => ({
  environmentKeys: [
    {
      id: ids.production,
      key: encodeBase64url(keyOf(6)),
      commitment: await environmentKeyCommitment(ids.production, keyOf(6)),
    },
  ],
  managedKeys: [
    {
      id: 'kms_0000000000000000000008',
      version: 12,
      key: encodeBase64url(keyOf(8)),
      commitment: await managedKeyCommitment('kms_0000000000000000000008', 12, keyOf(8)),
    },
  ],
  readers: await Promise.all(
    [
      [],
      [
        [`token/${ids.ci}`, kidOf(4)],
        [`person/${ids.ada}`, kidOf(1)],
      ] as [string, string][],
    ].map(async (readers) => ({ readers, hash: await readersHash(readers) })),
  ),
})

const pinRows = ({ roots: [{ hash }] }: Scene) => ({
  accepted: [
    { text: hash, pin: { root: hash, leastHead: 1 } },
    { text: `${hash}@12`, pin: { root: hash, leastHead: 12 } },
  ],
  refused: [
    `${hash}@`,
    `${hash}@0`,
    `${hash}@1`,
    `${hash}@01`,
    `${hash}@9007199254740992`,
    `${hash}@2@3`,
    hash.slice(1),
    `${hash}=`,
    '',
  ],
  tokens: {
    accepted: [
      {
        text: `${tokens.derived[1]!.token}.${hash}@12.shop/production`,
        bearer: tokens.derived[1]!.bearer,
        pin: { root: hash, leastHead: 12 },
        environment: 'shop/production',
      },
      {
        text: `${tokens.derived[1]!.token}.${hash}`,
        bearer: tokens.derived[1]!.bearer,
        pin: { root: hash, leastHead: 1 },
        environment: null,
      },
    ],
    refused: [
      '',
      '.x',
      `.${hash}.`,
      `.${hash}.shop`,
      `.${hash}.shop:production`,
      `.${hash}.Shop/production`,
      `.${hash}.shop/production.x`,
      '..shop/production',
      `.${hash}@1`,
    ].map((after) => `${tokens.derived[1]!.token}${after}`),
  },
})

async function joiningRows({ roots: [{ hash }] }: Scene) {
  const code = await formatPrintedCode(new Uint8Array(16).fill(3), 'skerry/joining/check/v1/')
  const other = await formatPrintedCode(new Uint8Array(16).fill(4), 'skerry/joining/check/v1/')
  const invitation = {
    org,
    pin: { root: hash, leastHead: 1 },
    email: 'bob@example.com',
    role: 'member',
    issuedAt: start,
  } as const
  const [text, answer] = [
    await makeInvitation(code, invitation),
    await makeAnswer(code, { email: invitation.email, kid: kidOf(2) }),
  ]
  return {
    code,
    invitation,
    text,
    answer: { email: invitation.email, kid: kidOf(2) },
    answerText: answer,
    refused: [
      { title: 'another code', code: other, text, now: start, expected: 'not_authentic' },
      {
        title: 'the answer as an invitation',
        code,
        text: answer.replace('ja1', 'ji1'),
        now: start,
        expected: 'not_authentic',
      },
      { title: 'a mistyped code', code: code.slice(0, -1), text, now: start, expected: 'malformed_code' },
      { title: 'after 7 days', code, text, now: start + 7 * day + 1, expected: 'authentic_expired' },
      {
        title: 'a changed address',
        code,
        text: (await makeInvitation(other, { ...invitation, email: 'eve@example.com' })).replace(
          /[^.]+$/,
          text.split('.')[2]!,
        ),
        now: start,
        expected: 'not_authentic',
      },
    ],
  }
}

async function branchRows() {
  const manifest = { id: ids.shared, parent: ids.production, name: 'fix-login', key: otherHash, expiresAt: start + day }
  const text = await makeBranchManifest(keyOf(6), manifest)
  const endless = { ...manifest, expiresAt: null }
  return {
    accepted: [
      { parentKey: encodeBase64url(keyOf(6)), manifest, text },
      { parentKey: encodeBase64url(keyOf(6)), manifest: endless, text: await makeBranchManifest(keyOf(6), endless) },
    ],
    refused: [
      { title: 'another key', parentKey: encodeBase64url(keyOf(7)), text, now: start, expected: 'not_authentic' },
      {
        title: 'after its end',
        parentKey: encodeBase64url(keyOf(6)),
        text,
        now: start + day,
        expected: 'authentic_expired',
      },
    ],
  }
}
