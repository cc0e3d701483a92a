import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeDirectoryVectors } from '../../test/directory-vectors.ts'
import { decodeBase64url, encodeBase64url, encodeUtf8 } from '../base64url.ts'
import { importPrivateKey } from '../keys.ts'
import { openHasher } from '../merkle.ts'
import { makeBranchManifest, openBranchManifest } from './branch-manifest.ts'
import { environmentKeyCommitment, managedKeyCommitment, readersHash } from './commitments.ts'
import { type DirectoryEntry, parseEntry } from './entries.ts'
import { parseHead } from './head.ts'
import { makeAnswer, makeInvitation, openAnswer, openInvitation } from './joining.ts'
import { formatPin, parsePin } from './pin.ts'
import { parsePinnedToken } from './pinned-token.ts'
import { verifyEntry } from './proof.ts'
import { openRoot, requireNextRoot } from './root.ts'
import { parseCanonical } from './shape.ts'
import { type DirectorySigner, signerOfPerson, signerOfRescueCode, signerOfToken } from './signing.ts'
import { directoryTree } from './tree.ts'
import { type DirectoryTrust, verifyDirectory } from './verify.ts'

const file = join(import.meta.dirname, '../../vectors/directory.json')
const made = `${JSON.stringify(await makeDirectoryVectors(), null, 2)}\n`
if (process.env.SKERRY_WRITE_VECTORS) writeFileSync(file, made)
const vectors = JSON.parse(readFileSync(file, 'utf8'))

interface Refused {
  title: string
  expected: string
}
const isRefused = (expected: string) => expect.objectContaining({ name: 'CryptoError', code: expected })

test('the file has the bytes that this program makes', () => {
  expect(made).toBe(readFileSync(file, 'utf8'))
})

describe('canonical JSON', () => {
  test.each<string>(vectors.canonicalJson.accepted)('%s is accepted', (text) => {
    expect(parseCanonical(encodeUtf8(text))).toEqual(JSON.parse(text))
  })
  test.each<string>(vectors.canonicalJson.refused)('%s is refused', (text) => {
    expect(() => parseCanonical(encodeUtf8(text))).toThrow(isRefused('directory_malformed'))
  })
})

describe('signing keys', () => {
  const row = ({ jwk, kid }: DirectorySigner) => ({ publicKeyJwk: JSON.stringify(jwk), kid })
  test('are derived from people, tokens and printed codes', async () => {
    for (const { pkcs8, ...expected } of vectors.signingKeys.persons) {
      const key = await importPrivateKey(decodeBase64url(pkcs8), { extractable: true })
      expect(row(await signerOfPerson(key))).toEqual(expected)
    }
    for (const { token, ...expected } of vectors.signingKeys.tokens)
      expect(row(await signerOfToken(token))).toEqual(expected)
    for (const { code, secret: _, ...expected } of vectors.signingKeys.rescueCodes)
      expect(row(await signerOfRescueCode(code))).toEqual(expected)
  })
  test('are refused to other codes and tokens', async () => {
    for (const code of vectors.signingKeys.refusedCodes)
      await expect(signerOfRescueCode(code)).rejects.toThrow(isRefused('malformed_code'))
    for (const token of vectors.signingKeys.refusedTokens)
      await expect(signerOfToken(token)).rejects.toThrow(isRefused('malformed_token'))
  })
})

describe('a root', () => {
  test.each<{ title: string; text: string; hash: string }>(vectors.roots.accepted)('$title', async ({ text, hash }) => {
    expect((await openRoot(text)).hash).toBe(hash)
  })
  test.each<Refused & { text: string }>(vectors.roots.refused)('is refused: $title', async ({ text, expected }) => {
    await expect(openRoot(text)).rejects.toThrow(isRefused(expected))
  })
})

describe('a root after another one', () => {
  const step = async (before: string, after: string) => requireNextRoot(await openRoot(before), await openRoot(after))
  test.each<{ title: string; before: string; after: string }>(vectors.steps.accepted)('$title', async (row) => {
    await expect(step(row.before, row.after)).resolves.toBeUndefined()
  })
  test.each<Refused & { before: string; after: string }>(vectors.steps.refused)('is refused: $title', async (row) => {
    await expect(step(row.before, row.after)).rejects.toThrow(isRefused(row.expected))
  })
})

describe('a head', () => {
  test.each<{ text: string; hash: string; root: string }>(vectors.heads.accepted)(
    '$hash',
    async ({ text, hash, root }) => {
      expect(await parseHead(text)).toMatchObject({ hash, body: { root } })
    },
  )
  test.each<Refused & { text: string }>(vectors.heads.refused)('is refused: $title', async ({ text, expected }) => {
    await expect(parseHead(text)).rejects.toThrow(isRefused(expected))
  })
})

describe('an entry', () => {
  test.each<{ text: string; leaf: string }>(vectors.entries.accepted)('$text', async ({ text, leaf }) => {
    const { key, value } = parseEntry(text)
    expect(encodeBase64url((await openHasher()).leaf([key, value]))).toBe(leaf)
  })
  test.each<Refused & { text: string }>(vectors.entries.refused)('is refused: $title', ({ text, expected }) => {
    expect(() => parseEntry(text)).toThrow(isRefused(expected))
  })
})

describe('a tree', () => {
  test.each<{ count: number; entries: string }>(vectors.trees.roots)(
    'of $count entries',
    async ({ count, entries }) => {
      const list = Array.from({ length: count }, (_, at) => ({
        key: `person/usr_${String(at).padStart(22, '0')}` as const,
        value: { email: `${at}@example.com`, kid: encodeBase64url(new Uint8Array(32).fill(at)) },
      }))
      expect(await directoryTree(list)).toMatchObject({ count, entries })
    },
  )
  const verify = ({ key, proof, ...head }: Proven) => verifyEntry({ ...head, version: 1 }, key, proof)
  type Proven = { key: DirectoryEntry['key']; count: number; entries: string; proof: Parameters<typeof verifyEntry>[2] }
  test.each<Proven>(vectors.trees.accepted)('proves $key', async (row) => {
    expect(await verify(row)).toMatchObject({ key: row.key })
  })
  test.each<Proven & Refused>(vectors.trees.refused)('does not prove $title', async (row) => {
    await expect(verify(row)).rejects.toThrow(isRefused(row.expected))
  })
})

describe('an answer', () => {
  interface Row {
    title: string
    answer: { roots: string[]; heads: string[] }
    trust: DirectoryTrust
  }
  const textOf = (name: string): string => vectors.answers.documents[name]
  const verify = ({ answer: { roots, heads }, trust }: Row) =>
    verifyDirectory({ roots: roots.map(textOf), heads: heads.map(textOf) }, trust)
  test.each<Row & { known: object }>(vectors.answers.accepted)('is accepted: $title', async (row) => {
    expect((await verify(row)).known).toEqual(row.known)
  })
  test.each<Row & Refused>(vectors.answers.refused)('is refused: $title', async (row) => {
    await expect(verify(row)).rejects.toThrow(isRefused(row.expected))
  })
})

test('commitments', async () => {
  const { environmentKeys, managedKeys, readers } = vectors.commitments
  for (const { id, key, commitment } of environmentKeys)
    expect(await environmentKeyCommitment(id, decodeBase64url(key))).toBe(commitment)
  for (const { id, version, key, commitment } of managedKeys)
    expect(await managedKeyCommitment(id, version, decodeBase64url(key))).toBe(commitment)
  for (const row of readers) expect(await readersHash(row.readers)).toBe(row.hash)
})

test('pins, and tokens with a pin', async () => {
  for (const { text, pin } of vectors.pins.accepted) {
    expect(parsePin(text)).toEqual(pin)
    expect(formatPin(pin)).toBe(text)
  }
  for (const text of vectors.pins.refused) expect(() => parsePin(text)).toThrow(isRefused('malformed_pin'))
  for (const { text, ...parsed } of vectors.pins.tokens.accepted)
    expect(await parsePinnedToken(text)).toMatchObject(parsed)
  for (const text of vectors.pins.tokens.refused)
    await expect(parsePinnedToken(text), text).rejects.toMatchObject({
      code: expect.stringMatching(/^malformed_(pin|token)$/),
    })
})

describe('joining', () => {
  const { code, invitation, text, answer, answerText, refused } = vectors.joining
  test('has one text for each side', async () => {
    expect(await makeInvitation(code, invitation)).toBe(text)
    expect(await openInvitation(code, text, invitation.issuedAt)).toEqual(invitation)
    expect(await makeAnswer(code, answer)).toBe(answerText)
    expect(await openAnswer(code, answerText, invitation, invitation.issuedAt)).toEqual(answer)
  })
  test.each<Refused & { code: string; text: string; now: number }>(refused)('is refused: $title', async (row) => {
    await expect(openInvitation(row.code, row.text, row.now)).rejects.toThrow(isRefused(row.expected))
  })
})

test('manifests of branches', async () => {
  const { accepted, refused } = vectors.branchManifests
  const [{ manifest: wanted }] = accepted
  for (const { parentKey, manifest, text } of accepted) {
    expect(await makeBranchManifest(decodeBase64url(parentKey), manifest)).toBe(text)
    expect(await openBranchManifest(decodeBase64url(parentKey), text, manifest, 0)).toEqual(manifest)
  }
  for (const { parentKey, text, now, expected } of refused)
    await expect(openBranchManifest(decodeBase64url(parentKey), text, wanted, now)).rejects.toThrow(isRefused(expected))
})
