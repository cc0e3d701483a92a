import { agents } from './agents.ts'
import { apps } from './apps.ts'
import { audit } from './audit.ts'
import { auditProof } from './audit-proof.ts'
import { billing } from './billing.ts'
import { changes, protection } from './changes.ts'
import { cliLogin } from './cli-login.ts'
import { cliSessions } from './cli-sessions.ts'
import type { Endpoint } from './endpoint.ts'
import { branches, envs, rekey } from './envs.ts'
import { exporting } from './export.ts'
import { grants } from './grants.ts'
import { composition, groups } from './groups.ts'
import { health } from './health.ts'
import { honeyTokens } from './honey-tokens.ts'
import { identityLinks } from './identity-links.ts'
import { kms } from './kms.ts'
import { leases } from './leases.ts'
import { logSink } from './log-sink.ts'
import { machineClients } from './machine-clients.ts'
import { me } from './me.ts'
import { notifications } from './notifications.ts'
import { oauth } from './oauth.ts'
import { invites, members, mfaPolicy, orgs } from './orgs.ts'
import { ownInvites } from './own-invites.ts'
import { passkeys } from './passkeys.ts'
import { provisioner } from './provisioner.ts'
import { recovery, recoveryRequests } from './recovery.ts'
import { resolve } from './resolve.ts'
import { rotation } from './rotation.ts'
import { secondFactor, signInPasskeys } from './second-factor.ts'
import { secrets } from './secrets.ts'
import { sessions, signIn } from './sign-in.ts'
import { signup } from './signup.ts'
import { sync } from './sync.ts'
import { tasks } from './tasks.ts'
import { tokens } from './tokens.ts'
import { vaultConnect } from './vault-connect.ts'
import { vaultExecutor } from './vault-executor.ts'
import { vaultPlatform } from './vault-platform.ts'
import { vaultProjects } from './vault-projects.ts'
import { vaultWebhooks } from './vault-webhooks.ts'

/** The whole API, by the specification's headings. Server, SDK, OpenAPI document and reference page derive from it. */
export const endpoints = {
  health,
  signup,
  oauth,
  signIn,
  identityLinks,
  cliLogin,
  me,
  passkeys,
  secondFactor,
  signInPasskeys,
  sessions,
  cliSessions,
  notifications,
  orgs,
  members,
  mfaPolicy,
  invites,
  ownInvites,
  apps,
  envs,
  rekey,
  branches,
  groups,
  composition,
  secrets,
  protection,
  changes,
  resolve,
  grants,
  tokens,
  machineClients,
  honeyTokens,
  kms,
  leases,
  recovery,
  recoveryRequests,
  rotation,
  sync,
  provisioner,
  agents,
  tasks,
  vaultProjects,
  vaultWebhooks,
  vaultPlatform,
  vaultConnect,
  vaultExecutor,
  audit,
  auditProof,
  billing,
  logSink,
  exporting,
}

/** Heading, name and endpoint of every operation, in the table's order. */
export function listEndpoints(): { heading: string; name: string; endpoint: Endpoint }[] {
  return Object.entries(endpoints).flatMap(([heading, operations]) =>
    Object.entries(operations).map(([name, endpoint]) => ({ heading, name, endpoint: endpoint as Endpoint })),
  )
}
