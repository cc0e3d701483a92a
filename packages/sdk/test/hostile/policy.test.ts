import { fingerprint } from '@skerry/crypto/digest'
import { generateKeyPair } from '@skerry/crypto/keys'
import { type PolicySigner, policySigner, signPolicy } from '@skerry/crypto/policy'
import { beforeAll, expect, test } from 'vitest'
import type { Cache } from '../../src/cache.ts'
import { createClient } from '../../src/client.ts'
import { createPolicySource, type PolicySourceSettings } from '../../src/policy-source.ts'
import { startServer } from '../server.ts'

// A server that shows invalid policies to an enforcement point. The earlier policy stays in force until it expires.

const agent = 'agt_aaaaaaaaaaaaaaaaaaaaaa'
const other = 'agt_bbbbbbbbbbbbbbbbbbbbbb'
const org = 'org_aaaaaaaaaaaaaaaaaaaaaa'
const nowSeconds = 1_000_000
const rules = [{ host: 'api.example.com', methods: [], paths: [], allow: ['API_KEY'] }]

let signer: PolicySigner
let stranger: PolicySigner
let pinned: string

beforeAll(async () => {
  const [mine, theirs] = [await generateKeyPair(), await generateKeyPair()]
  signer = await policySigner(mine.privateKey)
  stranger = await policySigner(theirs.privateKey)
  pinned = await fingerprint(mine.publicKeyJwk)
})

const bundleOf = (more: object = {}, by = signer) =>
  signPolicy(
    {
      org,
      agent,
      agentSlug: 'builder',
      policyVersion: 2,
      issuedAt: 1,
      expiresAt: nowSeconds + 100,
      rules,
      ...more,
    },
    by,
  )

/** A server that shows one bundle after another, and the policy source of a proxy. */
async function source(more: Partial<PolicySourceSettings> = {}) {
  const server = await startServer()
  const shows = (bundle: string) =>
    server.on('agents.policy', () => ({
      text: JSON.stringify({ bundle }),
      headers: { etag: `"${bundle.slice(-8)}"` },
    }))
  const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: 'x' }, retry: { attempts: 1 } })
  const clock = { seconds: nowSeconds }
  const settings = { client, principalId: 'skt_1', agent: 'builder', signers: [pinned], org }
  const made = createPolicySource({ ...settings, now: () => clock.seconds * 1000, ...more })
  return { ...made, shows, server, clock }
}

test('an older, forged, expired or malformed policy, or that of another agent, does not replace the current one', async () => {
  const { refresh, current, shows, server } = await source()
  shows(await bundleOf())
  const good = await refresh()
  const hostile: [string, string][] = [
    [await bundleOf({ policyVersion: 1 }), 'rollback'],
    [await bundleOf({ policyVersion: 3 }, stranger), 'policy_unpinned_signer'],
    [await bundleOf({ policyVersion: 3, agent: other, agentSlug: 'other' }), 'policy_other_agent'],
    [await bundleOf({ policyVersion: 3, org: 'org_bbbbbbbbbbbbbbbbbbbbbb' }), 'policy_other_org'],
    [await bundleOf({ policyVersion: 3, expiresAt: nowSeconds }), 'policy_expired'],
    [`${(await bundleOf()).slice(0, -4)}AAAA`, 'policy_bad_signature'],
    ['', 'policy_malformed'],
  ]
  for (const [bundle, code] of hostile) {
    shows(bundle)
    await expect(refresh()).rejects.toMatchObject({ code })
    expect(current()).toEqual(good)
  }
  server.on('agents.policy', () => ({ text: '{}' }))
  await expect(refresh()).rejects.toMatchObject({ code: 'malformed_answer' })
  expect(current()).toEqual(good)
})

test('a policy in force permits nothing after it has expired', async () => {
  const { refresh, current, shows, clock } = await source()
  expect(current()).toBeUndefined()
  shows(await bundleOf())
  await refresh()
  clock.seconds += 100
  expect(current()).toBeUndefined()
})

test('the policy source remembers the highest version across restarts, unless a rollback is accepted', async () => {
  const kept = new Map<string, string>()
  const store: Cache = {
    read: async (key) => kept.get(key),
    write: async (key, text) => void kept.set(key, text),
    delete: async (key) => void kept.delete(key),
  }
  const server = await startServer()
  const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: 'x' }, retry: { attempts: 1 } })
  const shown = async (policyVersion: number, acceptRollback = false) => {
    const bundle = await bundleOf({ policyVersion })
    server.on('agents.policy', () => ({ text: JSON.stringify({ bundle }) }))
    const now = () => nowSeconds * 1000
    const settings = { client, principalId: 'skt_1', agent: 'builder', signers: [pinned], store, now }
    return createPolicySource({ ...settings, acceptRollback }).refresh()
  }
  await shown(5)
  await expect(shown(4)).rejects.toMatchObject({ code: 'rollback' })
  await expect(shown(4, true)).resolves.toMatchObject({ policy_version: 4 })
})

test('the policy source refuses a policy above the ceiling as a whole, and needs a pinned signer', async () => {
  const { refresh, shows } = await source({ ceiling: [{ host: 'API.example.com', allow: ['OTHER'] }] })
  shows(await bundleOf())
  await expect(refresh()).rejects.toMatchObject({ code: 'policy_above_ceiling' })
  await expect(source({ signers: [] })).rejects.toMatchObject({ code: 'policy_no_signers' })
})

test('at a start without the server the last good bundle is used, verified again, but not after a refusal', async () => {
  const kept = new Map<string, string>()
  const store: Cache = {
    read: async (key) => kept.get(key),
    write: async (key, text) => void kept.set(key, text),
    delete: async (key) => void kept.delete(key),
  }
  const server = await startServer()
  const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: 'x' }, retry: { attempts: 1 } })
  const clock = { seconds: nowSeconds }
  const start = (more: Partial<PolicySourceSettings> = {}) => {
    const settings = { client, principalId: 'skt_1', agent: 'builder', signers: [pinned], org, ...more }
    const cache = { store, token: 'token', maxAgeSeconds: 60 }
    return createPolicySource({ cache, now: () => clock.seconds * 1000, ...settings }).refresh()
  }
  const bundle = await bundleOf()
  server.on('agents.policy', () => ({ text: JSON.stringify({ bundle }) }))
  const good = await start()
  expect([...kept.values()].join()).not.toContain(bundle.slice(4, 40))
  server.on('agents.policy', () => ({ status: 500, text: '{}' }))
  expect(await start()).toEqual(good)
  await expect(start({ signers: ['A'.repeat(43)] })).rejects.toMatchObject({ code: 'policy_unpinned_signer' })
  clock.seconds += 60
  await expect(start()).rejects.toMatchObject({ code: 'unavailable' })
  clock.seconds -= 60
  server.on('agents.policy', () => ({ status: 403, text: '{"error":{"code":"forbidden","message":"disabled"}}' }))
  await expect(start()).rejects.toMatchObject({ code: 'forbidden' })
  server.on('agents.policy', () => ({ status: 500, text: '{}' }))
  await expect(start()).rejects.toMatchObject({ code: 'unavailable' })
})

test('a full disk stops no policy, and the program is warned', async () => {
  const full = async () => {
    throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
  }
  const server = await startServer()
  const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: 'x' }, retry: { attempts: 1 } })
  const bundle = await bundleOf()
  server.on('agents.policy', () => ({ text: JSON.stringify({ bundle }) }))
  const warnings: string[] = []
  const source = createPolicySource({
    ...{ client, principalId: 'skt_1', agent: 'builder', signers: [pinned], org, now: () => nowSeconds * 1000 },
    cache: { store: { read: full, write: full, delete: full }, token: 'token', maxAgeSeconds: 60 },
    warn: (message) => void warnings.push(message),
  })
  expect((await source.refresh()).policy_version).toBe(2)
  expect(source.current()?.policy_version).toBe(2)
  expect(warnings).toEqual(['cache: write failed: ENOSPC'])
})
