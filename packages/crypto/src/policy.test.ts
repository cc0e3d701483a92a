import { createPublicKey, verify } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import vectors from '../vectors/policies.json' with { type: 'json' }
import { decodeBase64url, decodeUtf8, encodeBase64url, encodeUtf8 } from './base64url.ts'
import { fingerprint } from './digest.ts'
import { generateKeyPair } from './keys.ts'
import {
  type PolicyDraft,
  type PolicySigner,
  policySigner,
  readUnverifiedPolicy,
  signPolicy,
  verifyPolicy,
} from './policy.ts'

const org = 'org_aaaaaaaaaaaaaaaaaaaaaa'
const agent = 'agt_aaaaaaaaaaaaaaaaaaaaaa'
const draft: PolicyDraft = {
  org,
  agent,
  agentSlug: 'builder',
  policyVersion: 3,
  issuedAt: 1000,
  expiresAt: 9000,
  rules: vectors.rules,
}

let signer: PolicySigner
let pinned: string
let bundle: string

beforeAll(async () => {
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  signer = await policySigner(privateKey)
  pinned = await fingerprint(publicKeyJwk)
  bundle = await signPolicy(draft, signer)
})

const trust = (more: object = {}) => ({ signers: [pinned], agent: 'builder', org, now: 5000, ...more })
/** Signs any body, including bodies that no client of Skerry would sign. */
async function forge(change: (body: Record<string, never>) => unknown, by = signer): Promise<string> {
  const body = JSON.parse(decodeUtf8(decodeBase64url(bundle.split('.')[1]!)))
  const bytes = encodeUtf8(JSON.stringify(change(body) ?? body))
  return `ap1.${encodeBase64url(bytes)}.${encodeBase64url(await by.sign(bytes))}`
}
const refused = (text: string, code: string, more: object = {}) =>
  expect(verifyPolicy(text, trust(more))).rejects.toMatchObject({ code })

describe('a signed policy', () => {
  test('verifies by the id and by the slug of its agent, and returns what was signed', async () => {
    const body = await verifyPolicy(bundle, trust())
    expect(body.rules[2]?.host).toBe('api.github.com')
    expect(await verifyPolicy(bundle, trust({ agent, org: undefined }))).toEqual(body)
    expect(readUnverifiedPolicy(bundle)).toEqual(body)
  })

  test('has its members in the order of the published form, without whitespace', () => {
    const text = decodeUtf8(decodeBase64url(bundle.split('.')[1]!))
    expect(text).toMatch(
      /^\{"v":1,"org":"[^"]+","agent":"[^"]+","agent_slug":"builder","policy_version":3,"issued_at":1000,"expires_at":9000,"rules":\[\{"host":"api\.openai\.com","methods":\["POST"\],"paths":\[/,
    )
    expect(text).toMatch(/"signer":\{"kid":"[^"]{43}","jwk":\{"crv":"P-256","kty":"EC","x":"[^"]+","y":"[^"]+"\}\}\}$/)
  })

  test('verifies with an independent implementation of ES256', async () => {
    const [, body = '', signature = ''] = bundle.split('.')
    const { jwk } = readUnverifiedPolicy(bundle).signer
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const isGood = (text: string) =>
      verify('sha256', decodeBase64url(text), { key, dsaEncoding: 'ieee-p1363' }, decodeBase64url(signature))
    expect(isGood(body)).toBe(true)
    expect(isGood(body.replace(/.{4}$/, 'AAAA'))).toBe(false)
  })
})

describe('a verifier refuses, in this order', () => {
  test('everything, without a pinned signer', () => refused('', 'policy_no_signers', { signers: [] }))

  test('a malformed bundle', async () => {
    const [, body, signature] = bundle.split('.')
    for (const text of [
      '',
      `ap2.${body}.${signature}`,
      'ap1',
      'ap1..',
      `ap1.${body}`,
      `ap1.${body}.`,
      `${bundle}.x`,
      `ap1.${body}=.${signature}`,
      `ap1.e30.${signature}`,
      `ap1.${encodeBase64url(encodeUtf8('{'))}.${signature}`,
    ])
      await refused(text, 'policy_malformed')
  })

  test('a key that does not match the named id, before it checks whether that id is pinned', async () => {
    const other = await forge((body) => Object.assign(body.signer!, { kid: 'A'.repeat(43) }) && undefined)
    await refused(other, 'policy_kid_mismatch')
    await refused(other, 'policy_kid_mismatch', { signers: ['A'.repeat(43)] })
  })

  test('a signer that is not pinned, before the signature', async () => {
    await refused(`${bundle.slice(0, -4)}AAAA`, 'policy_unpinned_signer', { signers: ['A'.repeat(43)] })
  })

  test('a changed body or signature, and a signature by another key', async () => {
    await refused(`${bundle.slice(0, -4)}AAAA`, 'policy_bad_signature')
    const changed = bundle.split('.')
    const body = decodeUtf8(decodeBase64url(changed[1]!)).replace('"allow":[]', '"allow":["OPENAI_API_KEY"]')
    await refused(`ap1.${encodeBase64url(encodeUtf8(body))}.${changed[2]}`, 'policy_bad_signature')
    const { privateKey } = await generateKeyPair()
    await refused(await forge(() => undefined, await policySigner(privateKey)), 'policy_bad_signature')
    await refused(`ap1.${changed[1]}.${encodeBase64url(new Uint8Array(63))}`, 'policy_bad_signature')
  })

  test('then another version of the format, another organization, another agent, and an expired policy', async () => {
    const all = await forge((body) => ({ ...body, v: 2, org: 'org_other', agent: 'x', agent_slug: 'y', expires_at: 1 }))
    await refused(all, 'policy_unsupported')
    const org = await forge((body) => ({ ...body, org: 'org_other', agent: 'x', agent_slug: 'y', expires_at: 1 }))
    await refused(org, 'policy_other_org')
    await refused(org, 'policy_other_agent', { org: undefined })
    await refused(bundle, 'policy_other_agent', { agent: 'other' })
    await refused(bundle, 'policy_expired', { now: 9000 })
  })
})

test.each([
  [{ host: 'https://api.example.com' }, 'rules[0].host'],
  [{ host: '*.example.com' }, 'rules[0].host'],
  [{ host: 'api.example.com:443' }, 'rules[0].host'],
  [{ methods: ['GET', 'get'] }, 'rules[0].methods[1]: is there twice'],
  [{ paths: ['v1'] }, 'rules[0].paths[0]'],
  [{ paths: ['/v1?x=1'] }, 'rules[0].paths[0]'],
  [{ allow: ['A-B'] }, 'rules[0].allow[0]'],
])('rules with %j are not signed, and the error names the position', async (change, place) => {
  const rule = { host: 'api.example.com', methods: [], paths: [], allow: [], ...change }
  const signing = signPolicy({ ...draft, rules: [rule] }, signer)
  await expect(signing).rejects.toThrow(place)
})
