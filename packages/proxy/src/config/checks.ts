import { ConfigError } from './read.ts'
import { signingProblem } from './signing.ts'
import type { Check, Written } from './written.ts'

/** Contradictions between settings that are valid alone, each with its field and its problem. */
const checks: readonly Check[] = [
  ({ route, forward }) =>
    route.length === 0 && forward === null && ['', 'the settings have neither a [[route]] nor [forward]'],
  ({ route }) => {
    const prefixes = route.map(({ prefix }) => prefix.replace(/\/+$/, ''))
    const again = prefixes.findIndex((prefix, at) => prefixes.indexOf(prefix) !== at)
    return again !== -1 && [`route[${again}].prefix`, 'another route has the same prefix']
  },
  ({ forward, policy }) =>
    policy.source === 'file' &&
    forward !== null &&
    forward.unmatchedHostPolicy === 'tunnel' &&
    forward.host.length === 0 && [
      'forward.host',
      'there is none, so the proxy would check nothing: add a [[forward.host]]',
    ],
  ({ policy }) =>
    policy.source === 'server' &&
    policy.agent === null &&
    policy.agents.length === 0 && ['policy.agent', 'is missing: name the agent whose policy the proxy enforces'],
  ({ policy }) =>
    policy.source === 'server' &&
    policy.signers.length === 0 && [
      'policy.signers',
      'is empty: list the thumbprints of the keys that may sign the policy',
    ],
  ({ policy, forward }) =>
    policy.source === 'server' &&
    (forward?.host.length ?? 0) > 0 && ['forward.host', 'must be removed: the policy comes from the server'],
  ({ policy, route }) => {
    if (policy.source !== 'server') return false
    const at = route.findIndex(({ allow, methods, paths }) => allow ?? methods ?? paths)
    return at !== -1 && [`route[${at}]`, 'remove allow, methods and paths: the policy comes from the server']
  },
  ({ policy }) =>
    policy.source === 'file' &&
    policy.signers.length > 0 && ['policy.signers', 'must be removed: a policy in this file is not signed'],
  ({ policy }) =>
    policy.source === 'file' &&
    policy.ceiling.length > 0 && ['policy.ceiling', 'must be removed: it is only for a policy from the server'],
  ({ policy }) =>
    policy.source === 'file' &&
    policy.ports !== null && ['policy.ports', 'is only for a policy from the server: write ports in [[forward.host]]'],
  ({ policy }) =>
    policy.source === 'file' &&
    policy.in !== null && [
      'policy.in',
      'is only for a policy from the server: write `in` in [[route]] or [[forward.host]]',
    ],
  ({ policy, route }) => {
    const at = policy.source === 'server' ? route.findIndex(({ in: places }) => places !== null) : -1
    return at !== -1 && [`route[${at}].in`, 'is ignored with a policy from the server: write `in` in [policy]']
  },
  signingProblem,
  ({ activity, policy }) =>
    activity !== null &&
    policy.agent === null &&
    policy.agents.length === 0 && ['policy.agent', 'is missing: [activity] reports the requests of one agent'],
  ({ tasks, policy }) =>
    tasks !== null &&
    policy.agent === null &&
    policy.agents.length === 0 && ['policy.agent', 'is missing: a task belongs to an agent'],
  ({ requireTask, tasks, control }) =>
    requireTask === true &&
    tasks === null &&
    control === null && [
      'require_task',
      'requires a task or a ticket, but no request could have one: add [tasks] or [control]',
    ],
  ({ egress }) =>
    !egress.blockPrivateIps &&
    egress.allowCidr.length > 0 && [
      'egress.allow_cidr',
      'has no effect with block_private_ips = false: remove one of the two',
    ],
  ({ control }) =>
    control !== null && control.ttl > control.maxTtl && ['control.ttl', 'is longer than control.max_ttl'],
  ({ control }) =>
    control !== null &&
    control.socket === null &&
    control.allowUid !== null && ['control.allow_uid', 'needs control.socket, which is not set'],
  // The system lets no other user connect. It tells the proxy nothing more about the user who connects.
  ({ control }) =>
    control !== null &&
    control.allowUid !== null &&
    control.allowUid !== process.getuid?.() && [
      'control.allow_uid',
      'must be the user who runs the proxy: no other user can connect',
    ],
  ({ control }) =>
    control?.allowBinary != null && [
      'control.allow_binary',
      'is not supported: this proxy cannot see which program connects',
    ],
  ({ control }) =>
    control?.allowSha256 != null && [
      'control.allow_sha256',
      'is not supported: this proxy cannot see which program connects',
    ],
]

/** @throws ConfigError for the first contradiction. */
export function checkTogether(written: Written): void {
  for (const check of checks) {
    const found = check(written)
    if (found) throw new ConfigError(...found)
  }
}
