import { beforeAll, describe, expect, test } from 'vitest'
import { firstBody, makeScene, partOf, type Scene, signers } from '../../test/directory-scene.ts'
import { decodeUtf8, encodeBase64url, encodeUtf8 } from '../base64url.ts'
import { canonicalJson } from '../canonical-json.ts'
import { addSignature, parseDocument, signDocument } from './document.ts'
import { validKids } from './signing.ts'

const refused = (detail: string) => ({ code: 'directory_malformed', message: expect.stringContaining(detail) })
let scene: Scene
let text: string

beforeAll(async () => {
  scene = await makeScene()
  text = scene.rootTexts[1]
})

/** The document with another text of its body or of its signatures. */
const withBody = (body: string) => `or1.${encodeBase64url(encodeUtf8(body))}.${text.split('.')[2]}`
const withSignatures = (signatures: unknown) =>
  `${text.split('.').slice(0, 2).join('.')}.${encodeBase64url(encodeUtf8(JSON.stringify(signatures)))}`

describe('a document', () => {
  test('is read as it was signed, and its hash is that of its body', async () => {
    const document = await parseDocument('or1', text)
    expect(document.body).toEqual(scene.roots[1].body)
    const digest = await crypto.subtle.digest('SHA-256', partOf(text, 1))
    expect(document.hash).toBe(encodeBase64url(new Uint8Array(digest)))
    expect(decodeUtf8(document.signed)).toBe(`or1.${decodeUtf8(partOf(text, 1))}`)
  })

  test('has one text for one set of signatures, in whatever order they were made', async () => {
    const both = await signDocument('or1', scene.roots[1].body, [signers.bob, signers.ada])
    const added = await addSignature('or1', await signDocument('or1', scene.roots[1].body, [signers.bob]), signers.ada)
    expect(both).toBe(text)
    expect(added).toBe(text)
    expect(await addSignature('or1', text, signers.ada)).toBe(text)
  })

  test('keeps its hash when a signature is added', async () => {
    const more = await addSignature('or1', text, signers.stranger)
    expect((await parseDocument('or1', more)).hash).toBe(scene.roots[1].hash)
  })

  test('of another kind has other signatures, because they cover the prefix', async () => {
    const head = await parseDocument('od1', text.replace('or1', 'od1'))
    expect(await validKids(head, [signers.ada, signers.bob])).toEqual(new Set())
    expect((await validKids(await parseDocument('or1', text), [signers.ada, signers.bob])).size).toBe(2)
  })
})

describe('a document is refused', () => {
  test.each([
    ['with another prefix', () => text.replace('or1', 'od1'), 'does not start'],
    ['with a space before it', () => ` ${text}`, 'does not start'],
    ['with two parts', () => text.split('.').slice(0, 2).join('.'), 'three parts'],
    ['with four parts', () => `${text}.AA`, 'three parts'],
    ['without a body', () => `or1..${text.split('.')[2]}`, 'three parts'],
    ['with a line break at its end', () => `${text}\n`, 'alphabet'],
    ['with padding', () => `${text}=`, 'base64url'],
    ['longer than any document', () => `${text}${'A'.repeat(100_000)}`, 'too long'],
    ['that is no text', () => undefined as unknown as string, 'too long'],
  ])('%s', async (_, forge, detail) => {
    const message = detail === 'base64url' ? '' : detail
    await expect(parseDocument('or1', forge())).rejects.toMatchObject(refused(message))
  })

  test('if its body is spelled in another way', async () => {
    const body = decodeUtf8(partOf(text, 1))
    const spellings = [
      ` ${body}`,
      `${body}\n`,
      `\ufeff${body}`,
      body.replace('"v":1', '"v":1.0'),
      body.replace('"v":1', '"v":1e0'),
      body.replace('"v":1', '"v": 1'),
      body.replace('"v":1', '"v":1,"v":1'),
      body.replace('"threshold":2', '"threshold":3,"threshold":2'),
      body.replace('"nonce"', '"n\\u006fnce"'),
      body.replace('"org_', '"\\u006frg_'),
      body.replace('"v":1', '"v":9007199254740993'),
      body.replace('"v":1', '"v":-0'),
      body.replace('"v":1', '"v":1e400'),
      body.replace(/,"v":1}$/, '}').replace('{', '{"v":1,'),
      body.replace('"org"', '"\\ud800"'),
      body.slice(0, -1),
      '',
    ]
    for (const spelling of spellings) {
      expect(spelling).not.toBe(body)
      const refusal = expect.objectContaining({ code: 'directory_malformed' })
      await expect(parseDocument('or1', withBody(spelling)), spelling.slice(0, 40)).rejects.toThrow(refusal)
    }
  })

  test('if its signatures are malformed, repeated or out of order', async () => {
    const { signatures } = await parseDocument('or1', text)
    const [one, two] = signatures as [(typeof signatures)[0], (typeof signatures)[0]]
    for (const other of [
      [],
      null,
      {},
      [two, one],
      [one, one],
      [one, { ...one, sig: two.sig }],
      [{ ...one, alg: 'ES256' }],
      [{ kid: one.kid }],
      [{ ...one, kid: one.kid.slice(1) }],
      [{ ...one, sig: one.sig.slice(2) }],
      [{ ...one, sig: `${one.sig.slice(0, -1)}B` }],
      [{ ...one, sig: 1 }],
      [{ sig: one.sig, kid: one.kid }],
    ])
      await expect(parseDocument('or1', withSignatures(other)), JSON.stringify(other)).rejects.toMatchObject({
        code: 'directory_malformed',
      })
  })

  test('with more than 32 signatures, and not with 32', async () => {
    const kids = Array.from({ length: 33 }, (_, at) => encodeBase64url(new Uint8Array(32).fill(at))).sort()
    const all = kids.map((kid) => ({ kid, sig: encodeBase64url(new Uint8Array(64)) }))
    await expect(parseDocument('or1', withSignatures(all))).rejects.toMatchObject(refused('32'))
    expect((await parseDocument('or1', withSignatures(all.slice(1)))).signatures).toHaveLength(32)
  })

  test('with a body above 64 KiB, and not with 64 KiB', async () => {
    const bodyOf = (length: number) => canonicalJson({ a: 'x'.repeat(length - 8) })
    expect((await parseDocument('or1', withBody(bodyOf(65_536)))).body).toEqual({ a: expect.any(String) })
    await expect(parseDocument('or1', withBody(bodyOf(65_537)))).rejects.toMatchObject(refused('64 KiB'))
    const large = { ...firstBody, org: 'x'.repeat(65_536) }
    await expect(signDocument('or1', large, [signers.ada])).rejects.toMatchObject(refused('64 KiB'))
  })

  test('before it is signed, without a signer and with the same one twice', async () => {
    await expect(signDocument('or1', firstBody, [])).rejects.toMatchObject(refused('signatures'))
    await expect(signDocument('or1', firstBody, [signers.ada, signers.ada])).rejects.toMatchObject(refused('order'))
  })

  test('at each changed character, or it has another body, or lacks a signature', async () => {
    const keys = [signers.ada, signers.bob]
    for (let at = 4; at < text.length; at += 7) {
      const other = text[at] === 'A' ? 'B' : 'A'
      const changed = `${text.slice(0, at)}${other}${text.slice(at + 1)}`
      if (changed === text) continue
      const valid = await parseDocument('or1', changed).then(
        async (document) => (await validKids(document, keys)).size,
        () => 0,
      )
      expect(valid, String(at)).toBeLessThan(2)
    }
  })
})
