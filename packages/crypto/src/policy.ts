import { isPolicyBody, type PolicyBody, type PolicyRule, policyBodyProblem } from '@skerry/contract/agents/policy-body'
import { type Bytes, decodeBase64url, decodeUtf8, encodeBase64url, encodeUtf8 } from './base64url.ts'
import { sha256 } from './digest.ts'
import { CryptoError } from './errors.ts'
import { exportPrivateKey, formatPublicKeyJwk, type PrivateKey, parsePublicKeyJwk } from './keys.ts'

/**
 * A signer of policies: a key in this process, or a program or device that keeps it elsewhere. `point` is the public
 * half.
 */
export interface PolicySigner {
  readonly point: Bytes
  /** Signs the body of a policy: ECDSA P-256 with SHA-256, r and s of 32 bytes each. */
  sign(body: Bytes): Promise<Bytes>
}

/** The parts of a policy that a person decides. `signPolicy` adds the rest. Times are Unix seconds. */
export interface PolicyDraft {
  org: string
  agent: string
  agentSlug: string
  policyVersion: number
  issuedAt: number
  expiresAt: number
  rules: readonly PolicyRule[]
}

/** The signers and the agent that an enforcement point accepts. */
export interface PolicyTrust {
  /** Thumbprints of the keys that may sign; see `fingerprint`. */
  signers: readonly string[]
  /** Id or slug of the agent. */
  agent: string
  /** Id of the organization. Any by default. */
  org?: string | undefined
  /** Unix seconds. */
  now: number
}

const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' } as const
const ecdsaSha256 = { name: 'ECDSA', hash: 'SHA-256' } as const

/**
 * Makes a signer from a private key. A person has one key pair, which opens what is wrapped to them and signs policies.
 * The two uses share no input, because only the bodies of policies are signed.
 *
 * @param privateKey must be exportable, because platforms bind a key to one use.
 * @throws CryptoError `invalid_argument` for a key that was not made exportable.
 */
export async function policySigner(privateKey: PrivateKey): Promise<PolicySigner> {
  const pkcs8 = await exportPrivateKey(privateKey)
  const key = await crypto.subtle.importKey('pkcs8', pkcs8, ecdsa, false, ['sign'])
  return {
    point: privateKey.point,
    sign: async (body) => new Uint8Array(await crypto.subtle.sign(ecdsaSha256, key, body)),
  }
}

/**
 * Signs a policy: `ap1.<body>.<signature>`. The body is in its canonical form: members in a fixed order, no whitespace,
 * hosts in lower case, methods in capitals.
 *
 * @throws CryptoError `policy_invalid`, with the position of the error.
 * @example
 * const times = { issuedAt: 1_767_225_600, expiresAt: 1_769_904_000 }
 * const agent = { org: orgId, agent: 'agt_...', agentSlug: 'builder' }
 * const bundle = await signPolicy({ ...agent, ...times, policyVersion: 1, rules }, signer)
 */
export async function signPolicy(draft: PolicyDraft, signer: PolicySigner): Promise<string> {
  const jwk = JSON.parse(formatPublicKeyJwk(signer.point)) as PolicyBody['signer']['jwk']
  const body: PolicyBody = {
    v: 1,
    org: draft.org,
    agent: draft.agent,
    agent_slug: draft.agentSlug,
    policy_version: draft.policyVersion,
    issued_at: draft.issuedAt,
    expires_at: draft.expiresAt,
    rules: canonicalRules(draft.rules),
    signer: { kid: await thumbprint(jwk), jwk },
  }
  const problem = isPolicyBody(body) ? policyBodyProblem(body) : 'a field has the wrong type'
  if (problem !== null) throw new CryptoError('policy_invalid', problem)
  const bytes = encodeUtf8(JSON.stringify(body))
  return `ap1.${encodeBase64url(bytes)}.${encodeBase64url(await signer.sign(bytes))}`
}

/**
 * Puts rules into the form that is signed: members in their order, hosts in lower case, methods in capitals.
 *
 * @example canonicalRules([{ host: 'API.example.com', methods: ['get'], paths: [], allow: [] }])[0]?.host // 'api.example.com'
 */
export const canonicalRules = (rules: readonly PolicyRule[]): PolicyRule[] =>
  rules.map(({ host, methods, paths, allow, label }) => ({
    host: host.toLowerCase(),
    methods: methods.map((method) => method.toUpperCase()),
    paths: [...paths],
    allow: [...allow],
    ...(label === undefined ? {} : { label }),
  }))

/**
 * Verifies a bundle and returns the policy in it. Nothing in a bundle is trusted before its signature by a pinned key
 * is verified, whichever server sent it. Refusals come in a fixed order, which the vectors in policies.json define.
 *
 * @throws CryptoError `policy_no_signers`, `policy_malformed`, `policy_kid_mismatch`, `policy_unpinned_signer`,
 *   `policy_bad_signature`; then `policy_unsupported`, `policy_other_org`, `policy_other_agent`, `policy_expired`.
 * @example const { rules } = await verifyPolicy(blob, { signers: [remembered], agent: 'builder', now: Date.now() / 1000 })
 */
export async function verifyPolicy(bundle: string, trust: PolicyTrust): Promise<PolicyBody> {
  const body = await verifySignature(bundle, trust.signers)
  if (body.v !== 1) throw new CryptoError('policy_unsupported')
  if (trust.org !== undefined && body.org !== trust.org) throw new CryptoError('policy_other_org')
  if (body.agent !== trust.agent && body.agent_slug !== trust.agent) throw new CryptoError('policy_other_agent')
  if (trust.now >= body.expires_at) throw new CryptoError('policy_expired')
  return body
}

async function verifySignature(bundle: string, signers: readonly string[]): Promise<PolicyBody> {
  if (signers.length === 0) throw new CryptoError('policy_no_signers')
  const { bytes, signature, body } = parse(bundle)
  const { kid, jwk } = body.signer
  if (kid !== (await thumbprint(jwk))) throw new CryptoError('policy_kid_mismatch')
  if (!signers.includes(kid)) throw new CryptoError('policy_unpinned_signer')
  const key = await importSignerKey(jwk)
  const isGood = signature.length === 64 && (await crypto.subtle.verify(ecdsaSha256, key, signature, bytes))
  if (!isGood) throw new CryptoError('policy_bad_signature')
  return body
}

/**
 * Reads a bundle without any verification: for display, and for the versions that a person signed themselves.
 *
 * @throws CryptoError `policy_malformed`.
 */
export const readUnverifiedPolicy = (bundle: string): PolicyBody => parse(bundle).body

function parse(bundle: string): { bytes: Bytes; signature: Bytes; body: PolicyBody } {
  const [prefix, bodyText, signatureText, ...more] = bundle.split('.')
  if (prefix !== 'ap1') throw malformed('it does not start with ap1')
  if (!bodyText) throw malformed('it has no body')
  if (!signatureText) throw malformed('it has no signature')
  if (more.length > 0) throw malformed('it has more than three parts')
  const bytes = decodeBase64url(bodyText, 'policy_malformed')
  const signature = decodeBase64url(signatureText, 'policy_malformed')
  let body: unknown
  try {
    body = JSON.parse(decodeUtf8(bytes))
  } catch {
    throw malformed('its body is not JSON')
  }
  if (!isPolicyBody(body)) throw malformed('its body is not a policy')
  return { bytes, signature, body }
}

const malformed = (what: string) => new CryptoError('policy_malformed', what)

/** The RFC 7638 thumbprint of any key. Whether it is a P-256 key is checked later. */
const thumbprint = async ({ crv, kty, x, y }: PolicyBody['signer']['jwk']): Promise<string> =>
  encodeBase64url(await sha256(encodeUtf8(JSON.stringify({ crv, kty, x, y }))))

async function importSignerKey(jwk: PolicyBody['signer']['jwk']): Promise<CryptoKey> {
  try {
    return await crypto.subtle.importKey('raw', parsePublicKeyJwk(JSON.stringify(jwk)), ecdsa, false, ['verify'])
  } catch {
    throw malformed('its key is not a P-256 key')
  }
}
