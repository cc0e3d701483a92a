import { ConfigError } from './read.ts'
import { signingProblem } from './signing.ts'
import type { Check, Written } from './written.ts'

/** Contradictions between settings that are valid alone, each with its field and its problem. */
const checks: readonly Check[] = [
  ({ route, forward }) => route.length === 0 && forward === null && ['', 'there is neither a [[route]] nor [forward]'],
  ({ route }) => {
    const prefixes = route.map(({ prefix }) => prefix.replace(/\/+$/, ''))
    const again = prefixes.findIndex((prefix, at) => prefixes.indexOf(prefix) !== at)
    return again !== -1 && [`route[${again}].prefix`, 'is there twice']
  },
  ({ forward, policy }) =>
    policy.source === 'file' &&
    forward !== null &&
    forward.unmatchedHostPolicy === 'tunnel' &&
    forward.host.length === 0 && ['forward.host', 'there is none, so nothing would ever be looked at'],
  ({ policy }) =>
    policy.source === 'server' &&
    policy.agent === null &&
    policy.agents.length === 0 && ['policy.agent', 'is missing: whose policy is it?'],
  ({ policy }) =>
    policy.source === 'server' &&
    policy.signers.length === 0 && [
      'policy.signers',
      'there is none, and a policy that nobody vouches for is not enforced',
    ],
  ({ policy, forward }) =>
    policy.source === 'server' &&
    (forward?.host.length ?? 0) > 0 && ['forward.host', 'the policy comes from the server, and these would be ignored'],
  ({ policy, route }) => {
    if (policy.source !== 'server') return false
    const at = route.findIndex(({ allow, methods, paths }) => allow ?? methods ?? paths)
    return (
      at !== -1 && [`route[${at}]`, 'allow, methods and paths come from the server’s policy, and would be ignored here']
    )
  },
  ({ policy }) =>
    policy.source === 'file' &&
    policy.signers.length > 0 && ['policy.signers', 'nothing is signed where the policy is this file'],
  ({ policy }) =>
    policy.source === 'file' &&
    policy.ceiling.length > 0 && ['policy.ceiling', 'is for a policy of the server, and this file is the policy'],
  ({ policy }) =>
    policy.source === 'file' &&
    policy.ports !== null && ['policy.ports', 'is for a policy of the server: write ports into [[forward.host]]'],
  ({ policy }) =>
    policy.source === 'file' &&
    policy.in !== null && ['policy.in', 'is for a policy of the server: write in into [[route]] or [[forward.host]]'],
  ({ policy, route }) => {
    const at = policy.source === 'server' ? route.findIndex(({ in: places }) => places !== null) : -1
    return at !== -1 && [`route[${at}].in`, 'is ignored with a policy of the server: write in into [policy]']
  },
  signingProblem,
  ({ activity, policy }) =>
    activity !== null &&
    policy.agent === null &&
    policy.agents.length === 0 && ['policy.agent', 'is missing: activity is reported of an agent'],
  ({ tasks, policy }) =>
    tasks !== null &&
    policy.agent === null &&
    policy.agents.length === 0 && ['policy.agent', 'is missing: a task is one of an agent'],
  ({ requireTask, tasks, control }) =>
    requireTask === true &&
    tasks === null &&
    control === null && ['require_task', 'no request could present a task or ticket: add [tasks] or [control]'],
  ({ egress }) =>
    !egress.blockPrivateIps &&
    egress.allowCidr.length > 0 && ['egress.allow_cidr', 'allows nothing that block_private_ips = false does not'],
  ({ control }) =>
    control !== null && control.ttl > control.maxTtl && ['control.ttl', 'is longer than control.max_ttl'],
  ({ control }) =>
    control !== null &&
    control.socket === null &&
    control.allowUid !== null && ['control.allow_uid', 'is for control.socket, which is not set'],
  // The system lets no other user connect. It tells the proxy nothing more about the user who connects.
  ({ control }) =>
    control !== null &&
    control.allowUid !== null &&
    control.allowUid !== process.getuid?.() && ['control.allow_uid', 'only the user who runs the proxy can connect'],
  ({ control }) =>
    control?.allowBinary != null && ['control.allow_binary', 'this proxy cannot tell which program connects'],
  ({ control }) =>
    control?.allowSha256 != null && ['control.allow_sha256', 'this proxy cannot tell which program connects'],
]

/** @throws ConfigError for the first contradiction. */
export function checkTogether(written: Written): void {
  for (const check of checks) {
    const found = check(written)
    if (found) throw new ConfigError(...found)
  }
}
