import type { PolicyRule } from '@skerry/contract/agents/policy-body'
import { limits } from '@skerry/contract/limits'
import { fingerprint } from '@skerry/crypto/digest'
import { formatPublicKeyJwk } from '@skerry/crypto/keys'
import { type PolicySigner, readUnverifiedPolicy, verifyPolicy } from '@skerry/crypto/policy'
import { decide } from '@skerry/crypto/policy-decide'
import { type Agent, type AgentPolicy, publishPolicy } from '@skerry/sdk/internal/agents'
import { parseDuration } from '../duration.ts'
import { Failure, usage } from '../failure.ts'
import { checkWritable, type Overwriting, readableByAll, writeNamed } from '../files.ts'
import type { SignedIn } from '../frame.ts'
import { mustVerifyIn } from '../known-directories.ts'
import { note, type Output, warn, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { notedTime, shownTime } from '../times.ts'
import { count } from '../units.ts'
import { agentOf } from './identities.ts'
import { printRules, readRules } from './rules.ts'

interface PublishOptions extends Flags {
  expires: string
  yes?: boolean
}

async function versionsOf(session: Session, orgId: string, agent: Agent): Promise<AgentPolicy[]> {
  return (await session.client.agents.policies({ params: { orgId, agentId: agent.id } })).policies
}

/** The rules of the newest policy, without verification. Only a proxy knows which signatures it accepts. */
export async function rulesInForce(session: Session, orgId: string, agent: Agent): Promise<PolicyRule[]> {
  const [newest] = await versionsOf(session, orgId, agent)
  return newest ? readUnverifiedPolicy(newest.bundle).rules : []
}

export async function edit(
  wanted: string,
  { session, flags }: SignedIn<Flags & Overwriting & { file: string }>,
): Promise<Output> {
  const { orgId, agent } = await agentOf(session, wanted)
  const rules = await rulesInForce(session, orgId, agent)
  writeNamed(flags.file, `${JSON.stringify({ rules }, null, 2)}\n`, { force: flags.force, mode: readableByAll })
  note(
    `wrote ${count(rules.length, 'rule')} to ${flags.file}; next: \`skerry agent policy publish ${agent.slug} --file ${flags.file}\``,
  )
  return { json: { file: flags.file, rules } }
}

export const checkEdit = (flags: Flags & Overwriting & { file: string }): void => checkWritable(flags.file, flags)

export async function simulate(
  wanted: string,
  method: string,
  _url: string,
  { session, flags, input: { asked } }: SignedIn<Flags & { secret?: string; file?: string }, typeof parseSimulate>,
): Promise<Output> {
  const { orgId, agent } = await agentOf(session, wanted)
  const rules = flags.file === undefined ? await rulesInForce(session, orgId, agent) : await readRules(flags.file)
  const { hostname: host, pathname: path } = asked
  const said = decide(rules, { host, method, path, secret: flags.secret })
  return {
    json: said,
    text: () => writeLine(said.ruleIndex === null ? said.decision : `${said.decision} (rule ${said.ruleIndex})`),
  }
}

export function parseSimulate(
  _flags: Flags & { secret?: string; file?: string },
  _wanted: string,
  _method: string,
  url: string,
) {
  const asked = URL.parse(url)
  if (!asked) throw usage(`'${url}' is not a URL`, 'write it as https://api.example.com/v1/items')
  return { asked }
}

export async function publish(
  wanted: string,
  { session, flags, input: { rules } }: SignedIn<PublishOptions & { file: string }, typeof parsePublish>,
): Promise<Output> {
  const { orgId, agent } = await agentOf(session, wanted)
  return signAndPublish(session, { orgId, agent, rules }, flags)
}

export async function parsePublish(flags: PublishOptions & { file: string }) {
  expiryOf(flags)
  return { rules: await readRules(flags.file) }
}

export const checkRollback = (flags: PublishOptions): void => void expiryOf(flags)

/** Returns the lifetime of a policy in seconds. */
function expiryOf({ expires }: PublishOptions): number {
  const seconds = parseDuration(expires, '--expires')
  if (seconds < limits.policyExpiryMinSeconds || seconds > limits.policyExpiryMaxSeconds)
    throw usage(`--expires must be between 1 hour and 90 days (you gave ${expires})`)
  return seconds
}

/** Signs the earlier rules again under the next version, so that no proxy sees the version number fall. */
export async function rollback(
  wanted: string,
  version: string,
  { session, flags }: SignedIn<PublishOptions>,
): Promise<Output> {
  const { orgId, agent } = await agentOf(session, wanted)
  const earlier = (await versionsOf(session, orgId, agent)).find((one) => String(one.version) === version)
  if (!earlier)
    throw new Failure(
      'notFound',
      `agent ${agent.slug} has no policy version ${version}`,
      `see \`skerry agent policy history ${agent.slug}\``,
    )
  const { rules } = readUnverifiedPolicy(earlier.bundle)
  const isOwn = await isSignedBy(await signerOf(session), earlier.bundle, { orgId, agent })
  if (!isOwn) warn(`version ${version} was not signed with your key: check its rules before you sign them`)
  return signAndPublish(session, { orgId, agent, rules }, flags)
}

/** Whether this person signed the bundle. The expiry does not matter here. */
async function isSignedBy(
  signer: PolicySigner,
  bundle: string,
  { orgId, agent }: { orgId: string; agent: Agent },
): Promise<boolean> {
  return verifyPolicy(bundle, { signers: [await kidOf(signer)], agent: agent.id, org: orgId, now: 0 }).then(
    () => true,
    () => false,
  )
}

const kidOf = ({ point }: PolicySigner): Promise<string> => fingerprint(formatPublicKeyJwk(point))

async function signAndPublish(
  session: Session,
  { orgId, agent, rules }: { orgId: string; agent: Agent; rules: PolicyRule[] },
  flags: PublishOptions,
): Promise<Output> {
  const seconds = expiryOf(flags)
  // The lifetime of a policy: one minute less than the maximum, because the clocks of this machine and of the server
  // may differ.
  const longest = limits.policyExpiryMaxSeconds - 60
  const signer = await signerOf(session)
  if (mustVerifyIn(session, orgId)) {
    const { requirePolicySigner } = await import('../trust/policy-signers.ts')
    await requirePolicySigner(session, orgId, await kidOf(signer))
  }
  // Printed before the question and not as output, because the user must read the rules first.
  if (!flags.json) printRules(rules)
  await confirmOrRefuse(
    `signs ${rules.length === 1 ? 'this rule' : `these ${rules.length} rules`} as version ${agent.policyVersion + 1} of the policy of ${agent.slug}`,
    flags,
  )
  const issuedAtMs = Date.now()
  const expiresAtMs = issuedAtMs + Math.min(Math.max(seconds, limits.policyExpiryMinSeconds + 60), longest) * 1000
  const policy = await publishPolicy(session.client, signer, { agent, orgId, rules, issuedAtMs, expiresAtMs })
  return {
    json: { policy },
    after: () => {
      note(
        `published version ${policy.version} of the policy of ${agent.slug}, valid until ${notedTime(policy.expiresAt)}`,
      )
      note(`proxies accept it if their settings list this signer: ${policy.signerThumbprint}`)
    },
  }
}

/** The key of a person, from the agent of the keyring or opened here. */
async function signerOf({ principal, client, settings }: Session): Promise<PolicySigner> {
  if (principal.type !== 'user')
    throw new Failure('refused', 'a service token cannot sign a policy', 'sign in as a person with `skerry login`')
  const { personSigner } = await import('../keyring/unlock.ts')
  return personSigner({ client, url: settings.url, userId: principal.id })
}

export async function history(wanted: string, { session }: SignedIn): Promise<Output> {
  const { orgId, agent } = await agentOf(session, wanted)
  const policies = await versionsOf(session, orgId, agent)
  return {
    json: { policies },
    text: () =>
      writeTable(
        ['version', 'rules', 'signed by', 'until', 'published', ''],
        policies.map((one) => [
          String(one.version),
          String(one.rules.length),
          one.signerThumbprint,
          shownTime(one.expiresAt),
          shownTime(one.createdAt),
          one.rolledBackFrom === null ? '' : `again version ${one.rolledBackFrom}`,
        ]),
        'no policy is published yet; publish one with `skerry agent policy publish <agent>`',
      ),
  }
}
