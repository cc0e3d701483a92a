import { p256 } from '@noble/curves/nist.js'
import { decodeBase64url, encodeBase64url, encodeUtf8 } from '../src/base64url.ts'
import { fingerprint } from '../src/digest.ts'
import { environmentKeyCommitment, readersHash } from '../src/directory/commitments.ts'
import { signDocument } from '../src/directory/document.ts'
import type { DirectoryEntry } from '../src/directory/entries.ts'
import { type HeadBody, type HeadDocument, nextHead, parseHead } from '../src/directory/head.ts'
import { parseRoot, type RootBody, type RootDocument, type RootDraft, type RootSigner } from '../src/directory/root.ts'
import type { DirectorySigner } from '../src/directory/signing.ts'
import { type DirectoryTree, directoryTree } from '../src/directory/tree.ts'
import type { DirectoryAnswer, DirectoryTrust } from '../src/directory/verify.ts'
import { formatPublicKeyJwk } from '../src/keys.ts'
import { numberTo32Bytes, publicPointOf } from '../src/p256.ts'

// One organization with two roots and three heads. All keys and times are fixed, and signatures are those of RFC 6979,
// so that every run gives the same bytes.

export const org = 'org_0000000000000000000000'
export const start = 1_767_225_600
export const day = 86_400

/** A signer with a fixed key, whose signatures are always the same. */
export async function fixedSigner(scalar: bigint): Promise<DirectorySigner> {
  const publicKeyJwk = formatPublicKeyJwk(publicPointOf(scalar))
  return {
    kid: await fingerprint(publicKeyJwk),
    jwk: JSON.parse(publicKeyJwk) as DirectorySigner['jwk'],
    sign: async (bytes) => new Uint8Array(p256.sign(bytes, numberTo32Bytes(scalar), { lowS: false })),
  }
}

const idOf = (prefix: string, digit: number) => `${prefix}_${String(digit).padStart(22, '0')}`
export const ids = {
  ada: idOf('usr', 1),
  bob: idOf('usr', 2),
  cy: idOf('usr', 3),
  ci: idOf('skt', 4),
  rotator: idOf('org', 0),
  production: idOf('env', 6),
  shared: idOf('env', 7),
}

/** Signing keys: three people, a second machine of Ada, an admin token, two rescue keys, and a stranger. */
export const signers = {
  ada: await fixedSigner(101n),
  adaLaptop: await fixedSigner(102n),
  bob: await fixedSigner(103n),
  cy: await fixedSigner(104n),
  ci: await fixedSigner(105n),
  rescueOne: await fixedSigner(106n),
  rescueTwo: await fixedSigner(107n),
  stranger: await fixedSigner(108n),
}

const named = ({ kid, jwk }: DirectorySigner) => ({ kid, alg: 'ES256', jwk, policyKid: null }) as const
export const person = (signer: DirectorySigner, id: string): RootSigner => ({ ...named(signer), person: id })
export const tokenSigner = (signer: DirectorySigner, id: string): RootSigner => ({ ...named(signer), token: id })
const rescueKey = ({ kid, jwk }: DirectorySigner) => ({ kid, alg: 'ES256', jwk }) as const

/** The first root: Ada alone, on two machines, and the token of the CI. Two rescue keys are needed together. */
export const firstDraft: RootDraft = {
  threshold: 1,
  signers: [person(signers.ada, ids.ada), person(signers.adaLaptop, ids.ada), tokenSigner(signers.ci, ids.ci)],
  rescue: { threshold: 2, keys: [rescueKey(signers.rescueOne), rescueKey(signers.rescueTwo)] },
  recovery: null,
  minimum: { wrap: 'wd1', token: 'classic' },
}

/** The second root: Ada and Bob must agree. Classic tokens are no longer accepted. */
export const secondDraft: RootDraft = {
  ...firstDraft,
  threshold: 2,
  signers: [...firstDraft.signers, person(signers.bob, ids.bob), person(signers.cy, ids.cy)],
  minimum: { wrap: 'wd1', token: 'skerry' },
}

export const firstBody: RootBody = {
  v: 1,
  org,
  nonce: encodeBase64url(new Uint8Array(16).fill(7)),
  version: 1,
  prev: null,
  issuedAt: start,
  ...firstDraft,
  witnesses: [],
  quorum: 0,
  freshHours: 0,
  guarded: {},
}

/** A wrong key id or hash of the right form. */
export const otherHash = encodeBase64url(new Uint8Array(32).fill(9))

export const kidOf = (byte: number) => encodeBase64url(new Uint8Array(32).fill(byte))
export const keyOf = (byte: number) => new Uint8Array(32).fill(byte)

export const entries: DirectoryEntry[] = [
  { key: `person/${ids.ada}`, value: { email: 'ada@example.com', kid: kidOf(1) } },
  { key: `person/${ids.bob}`, value: { email: 'bob@example.com', kid: kidOf(2) } },
  { key: `token/${ids.ci}`, value: { name: 'ci', environment: 'shop/production', kid: kidOf(4) } },
  { key: `worker/${ids.rotator}`, value: { kid: kidOf(5), heldBy: 'server' } },
  {
    key: 'environment/shop/production',
    value: {
      id: ids.production,
      key: await environmentKeyCommitment(ids.production, keyOf(6)),
      layers: ['shared:production'],
      readers: await readersHash([
        [`person/${ids.ada}`, kidOf(1)],
        [`token/${ids.ci}`, kidOf(4)],
      ]),
    },
  },
  {
    key: 'environment/shared:production',
    value: {
      id: ids.shared,
      key: await environmentKeyCommitment(ids.shared, keyOf(7)),
      layers: [],
      readers: await readersHash([[`person/${ids.ada}`, kidOf(1)]]),
    },
  },
  {
    key: 'key/invoices',
    value: {
      id: idOf('kms', 8),
      readers: await readersHash([]),
      versions: [
        { version: 1, commitment: kidOf(8) },
        { version: 3, commitment: kidOf(9) },
      ],
    },
  },
]

export interface Scene {
  roots: [RootDocument, RootDocument]
  rootTexts: [string, string]
  heads: [HeadDocument, HeadDocument, HeadDocument]
  headTexts: [string, string, string]
  tree: DirectoryTree
}

/** Two roots, and three heads: the first of the first root, the others of the second one. */
export async function makeScene(): Promise<Scene> {
  const tree = await directoryTree(entries)
  const firstText = await signDocument('or1', firstBody, [signers.ada])
  const first = await parseRoot(firstText)
  const secondBody: RootBody = { ...firstBody, ...secondDraft, version: 2, prev: first.hash, issuedAt: start + day }
  const secondText = await signDocument('or1', secondBody, [signers.ada, signers.bob])
  const second = await parseRoot(secondText)
  const one = await headOf(nextHead(null, first, tree, start), signers.ci)
  const two = await headOf(nextHead(one.head, second, tree, start + day), signers.bob)
  const three = await headOf(nextHead(two.head, second, tree, start + 2 * day), signers.ada)
  return {
    roots: [first, second],
    rootTexts: [firstText, secondText],
    heads: [one.head, two.head, three.head],
    headTexts: [one.text, two.text, three.text],
    tree,
  }
}

export async function headOf(body: HeadBody, signer: DirectorySigner): Promise<{ text: string; head: HeadDocument }> {
  const text = await signDocument('od1', body, [signer])
  return { text, head: await parseHead(text) }
}

/** The answer to a client that knows nothing but the pin of the first root, and its trust. */
export const freshAnswer = ({ rootTexts, headTexts }: Scene): DirectoryAnswer => ({
  roots: rootTexts,
  heads: [headTexts[2]],
})
export const freshTrust = ({ roots }: Scene): DirectoryTrust => ({
  pins: [{ root: roots[0].hash, leastHead: 1 }],
  known: null,
  now: start + 3 * day,
  purpose: 'read',
})

/** The bytes of a part of a document. */
export const partOf = (text: string, part: number): Uint8Array<ArrayBuffer> =>
  decodeBase64url(text.split('.')[part] as string)

/** The text of a root with this body and these signatures, valid or not. */
export const document = (body: string, signatures: string) =>
  `or1.${encodeBase64url(encodeUtf8(body))}.${encodeBase64url(encodeUtf8(signatures))}`
