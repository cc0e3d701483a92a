import { decide } from '@skerry/crypto/policy-decide'
import type { Route, SigningNames } from './config/config.ts'
import type { Core } from './core.ts'
import { type Fillable, fill, type ValueIn } from './placeholders.ts'
import { type Decision, Refusal, sentences } from './refusal.ts'
import type { Session } from './sessions.ts'
import { keyOf } from './signing.ts'
import type { SigningKey } from './sigv4/signer.ts'

/** A request in the form that the policy checks. */
export interface Asking {
  /** Null for a request to the forward proxy. */
  route: Route | null
  host: string
  port: number
  /** Whether the settings permit the port of the host. */
  isPortPermitted: boolean
  method: string
  ticket: string | undefined
  /** The names of the key that signs the request. Null if it is not signed. */
  signing: SigningNames | null
  /** Whether secrets may be sent to this destination: not without TLS, unless the settings allow it. */
  isSafe: boolean
}

/** A request to fill. Its body may have any length, so it is read only if a rule may fill it. */
export interface Filling extends Omit<Fillable, 'body'> {
  body: () => Promise<Buffer | null>
}

/** A request that may be sent, with the values that were put into it. */
export interface Authorized {
  filled: Fillable
  /** Null if nothing is signed. */
  key: SigningKey | null
  session: Session
  secrets: { name: string; value: string }[]
  ruleIndex: number
  version: number | undefined
}

/**
 * Decides whether a request may be sent, and with which values. It checks the session, the policy, the ratchet, then
 * each placeholder. It refuses everything that is not permitted, and counts the refusals.
 *
 * @throws Refusal.
 */
export async function authorize(core: Core, asking: Asking, request: Filling): Promise<Authorized> {
  const { host, method, route, signing } = asking
  let ruleIndex: number | null = null
  let version: number | undefined
  const refuse = (decision: Decision, message: string, secret?: string): never => {
    core.activity?.record({ host, method, decision, ruleIndex, version, secrets: secret === undefined ? [] : [secret] })
    throw new Refusal(403, decision, message, secret)
  }
  try {
    const session = await core.sessions.of(asking.ticket)
    if (core.secrets.isRefused())
      throw new Refusal(403, 'policy_unavailable', 'the Skerry server refused the proxy’s token')
    const inForce = core.policies.of(session, route)
    version = inForce.version
    const operation = { host, method, path: request.target }
    const found = decide(inForce.rules, operation, session.scopes)
    ruleIndex = found.ruleIndex
    if (found.decision !== 'no_rule' && !asking.isPortPermitted)
      return refuse('no_rule', `no rule covers port ${asking.port} of this host; add the port to the setting "ports"`)
    if (found.decision !== 'allow') return refuse(found.decision, sentences[found.decision])
    const lost = core.ratchet.host(session.run, host)
    if (lost !== null) return refuse('ratchet_withdrawn', lost)
    const used = new Map<string, string>()
    const give = (name: string, rules = inForce.rules): string => {
      if (!asking.isSafe) return refuse('secret_not_allowed', `${name} is not sent over plain HTTP; use https://`, name)
      const { decision } = decide(rules, { ...operation, secret: name }, session.scopes)
      if (decision !== 'allow') return refuse('secret_not_allowed', `${sentences.secret_not_allowed} ${name}`, name)
      const withdrawn = core.ratchet.secret(session.run, name)
      if (withdrawn !== null) return refuse('ratchet_withdrawn', withdrawn, name)
      const value = core.secrets.get(name)
      if (value === undefined) return refuse('unknown_secret', `${sentences.unknown_secret} ${name}`, name)
      used.set(name, value)
      return value
    }
    const places = inForce.placesOf(found.ruleIndex)
    const giveIn: ValueIn = (name, place) => {
      if (place === 'own' || places === null || places.includes(place)) return give(name)
      return refuse('secret_not_allowed', `the rule for this request does not allow placeholders in the ${place}`, name)
    }
    const { allow } = inForce.rules[found.ruleIndex]!
    const fillsBody = allow.length > 0 && session.scopes?.length !== 0 && places?.includes('body') !== false
    const filled = fill({ ...request, body: fillsBody ? await request.body() : null }, giveIn)
    // In the settings file, `sigv4` itself permits its key to sign. A policy of the server has to permit the names.
    const rule = {
      ...inForce.rules[found.ruleIndex]!,
      allow: Object.values(signing ?? {}).filter((one) => one !== null),
    }
    const key = signing && keyOf(signing, (name) => give(name, version === undefined ? [rule] : inForce.rules))
    const secrets = [...used].map(([name, value]) => ({ name, value }))
    return { filled, key, session, secrets, ruleIndex: found.ruleIndex, version }
  } catch (error) {
    if (error instanceof Refusal && error.reason === 'policy_unavailable')
      core.activity?.record({ host, method, decision: 'policy_unavailable', ruleIndex: null, version, secrets: [] })
    throw error
  }
}
