import type { PolicyBody } from '@skerry/contract/agents/policy-body'
import { CryptoError } from '@skerry/crypto/errors'
import { verifyPolicy } from '@skerry/crypto/policy'
import type { Cache } from './cache.ts'
import type { Client } from './client.ts'
import { clientError, RefusedError, SkerryError, UnavailableError } from './errors.ts'
import { openMemory } from './known-state-memory.ts'
import { isUsable, policyKey, type SealedCopy, sealedCopy } from './sealed-copy.ts'

/** One row of a ceiling: the only secrets that a policy may permit for this host. */
interface CeilingRow {
  host: string
  allow: readonly string[]
}

export interface PolicySourceSettings {
  client: Client
  /** Id of the token, under which seen versions are remembered. */
  principalId: string
  /** Slug or id of the agent. */
  agent: string
  /** Thumbprints of the keys that may sign. At least one is required. */
  signers: readonly string[]
  /** Id of the organization. Any by default. */
  org?: string | undefined
  /** A policy that permits more than this is refused as a whole. */
  ceiling?: readonly CeilingRow[] | undefined
  /** Accepts a lower version than was seen before, for a server on which an admin used `rollback`. */
  acceptRollback?: boolean | undefined
  /**
   * Remembers the highest version across restarts, for example `diskMemory()`. By default only this process remembers
   * it.
   */
  store?: Cache | undefined
  /** A function that returns the present time, in milliseconds since 1970. Default: the clock of this machine. */
  now?: (() => number) | undefined
  warn?: ((message: string) => void) | undefined
  /**
   * Stores the last good bundle, encrypted under the token, for a start while the server is unavailable. A stored
   * bundle is verified in full again. A refusal deletes it. A stored bundle is used only while it is strictly younger
   * than `maxAgeSeconds`.
   */
  cache?: { store: Cache; token: string; maxAgeSeconds: number } | undefined
}

export interface PolicySource {
  /**
   * Asks the server for the policy. If the new policy is refused, the one in force stays until it expires.
   *
   * @throws CryptoError `policy_...`; SkerryError `rollback`, `policy_above_ceiling`; RefusedError; UnavailableError.
   */
  refresh(): Promise<PolicyBody>
  /** The policy in force. It is undefined before the first policy and after its expiry; then nothing is permitted. */
  current(): PolicyBody | undefined
}

/**
 * Fetches the policy of an agent for an enforcement point. The server is not trusted: the bundle must be signed by a
 * pinned key, belong to this agent, still be valid, and be no older than what was seen before.
 *
 * @throws CryptoError `policy_no_signers` at once, before any request.
 * @example
 * const source = createPolicySource({ client, principalId, agent: 'builder', signers: [remembered] })
 * await source.refresh()
 * const operation = { host: 'api.example.com', method: 'POST', path: '/v1/items', secret: 'API_KEY' }
 * decide(source.current()?.rules ?? [], operation)
 */
export function createPolicySource(settings: PolicySourceSettings): PolicySource {
  const { client, agent, signers, org, now = Date.now } = settings
  if (signers.length === 0) throw new CryptoError('policy_no_signers')
  const memory = openSeen(settings)
  let inForce: { body: PolicyBody; etag: string | undefined } | undefined

  const isValid = (body: PolicyBody) => now() / 1000 < body.expires_at
  const fetchBundle = async () => {
    // The ETag is sent only for a policy in force, because only such a policy can be confirmed as unchanged.
    const etag = inForce && isValid(inForce.body) ? inForce.etag : undefined
    const options = etag === undefined ? {} : { etag }
    return client.request('agents', 'policy', { params: { agentRef: agent } }, options)
  }
  const adopt = async (text: string, etag: string | undefined): Promise<PolicyBody> => {
    const body = await verifyPolicy(bundleOf(text), { signers, agent, org, now: now() / 1000 })
    checkCeiling(body, settings.ceiling)
    await memory.check(body)
    inForce = { body, etag }
    return body
  }
  const copy = once(() => openCopy(settings))
  const adoptKept = async (): Promise<PolicyBody | undefined> => {
    const kept = await (await copy())?.read()
    const isYoung = kept && isUsable(kept, settings.cache!.maxAgeSeconds, now())
    return isYoung ? adopt(kept.text, undefined) : undefined
  }
  const refresh = async (): Promise<PolicyBody> => {
    try {
      const received = await fetchBundle()
      if (received.status === 304) {
        if (!inForce) throw clientError('malformed_answer', 'it is 304 Not Modified, but the request had no condition')
        return inForce.body
      }
      const body = await adopt(received.text, received.etag ?? undefined)
      await (await copy())?.write({ text: received.text, etag: received.etag, fetchedAtMs: now() })
      return body
    } catch (error) {
      // After an error the next answer is fetched and verified in full.
      if (inForce) inForce.etag = undefined
      if (error instanceof RefusedError) await (await copy())?.delete()
      const kept = error instanceof UnavailableError && !inForce ? await adoptKept() : undefined
      if (kept) return kept
      throw error
    }
  }
  return Object.freeze({
    refresh,
    current: () => (inForce && isValid(inForce.body) ? inForce.body : undefined),
  })
}

async function openCopy({
  cache,
  client,
  agent,
  warn = () => {},
}: PolicySourceSettings): Promise<SealedCopy | undefined> {
  if (!cache) return undefined
  return sealedCopy(cache.store, await policyKey(client.baseUrl, cache.token, agent), cache.token, warn)
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined
  return () => {
    done ??= work()
    return done
  }
}

function bundleOf(text: string): string {
  let bundle: unknown
  try {
    bundle = JSON.parse(text).bundle
  } catch {
    bundle = undefined
  }
  if (typeof bundle !== 'string') throw clientError('malformed_answer', 'it contains no policy bundle')
  return bundle
}

function checkCeiling({ rules }: PolicyBody, ceiling: readonly CeilingRow[] | undefined): void {
  if (ceiling === undefined) return
  const names = new Map(ceiling.map(({ host, allow }) => [host.toLowerCase(), allow]))
  for (const { host, allow } of rules) {
    const above = allow.find((name) => !names.get(host.toLowerCase())?.includes(name))
    if (above !== undefined)
      throw new SkerryError('policy_above_ceiling', `the policy allows ${above} for ${host}, but the ceiling does not`)
  }
}

/** Remembers the highest version seen of each agent, in this process and, with a store, in earlier ones. */
function openSeen({ store, client, principalId, acceptRollback = false, warn }: PolicySourceSettings) {
  const { baseUrl } = client
  const memory = store && openMemory({ store, baseUrl, principalId, ...(warn ? { warn } : {}) })
  const highest = new Map<string, number>()
  return {
    check: async ({ agent, policy_version: version }: PolicyBody) => {
      const place = await memory?.ownPlace('policy', agent)
      const kept = place === undefined ? undefined : await memory?.read<number>(place)
      const seen = Math.max(highest.get(agent) ?? 0, Number.isSafeInteger(kept) ? (kept as number) : 0)
      if (version < seen && !acceptRollback)
        throw new SkerryError(
          'rollback',
          `the server shows policy version ${version}, but it showed version ${seen} before`,
        )
      highest.set(agent, version)
      if (place !== undefined && version !== kept) await memory?.write(place, version)
    },
  }
}
