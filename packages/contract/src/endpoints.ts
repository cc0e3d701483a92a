import { accessRequests } from './access-requests/endpoints.ts'
import { agents } from './agents/endpoints.ts'
import { apps } from './apps/endpoints.ts'
import { audit } from './audit/endpoints.ts'
import { auditProof } from './audit-proof/endpoints.ts'
import { billing } from './billing/endpoints.ts'
import { branches } from './branches/endpoints.ts'
import { changes, protection } from './changes/endpoints.ts'
import { cliLogin } from './cli-login/endpoints.ts'
import { directory } from './directory/endpoints.ts'
import type { Endpoint } from './endpoint.ts'
import { envs } from './envs/endpoints.ts'
import { exporting } from './export/endpoints.ts'
import { grants } from './grants/endpoints.ts'
import { composition, groups } from './groups/endpoints.ts'
import { health } from './health/endpoints.ts'
import { honeyTokens } from './honey-tokens/endpoints.ts'
import { identityLinks } from './identity-links/endpoints.ts'
import { kms } from './kms/endpoints.ts'
import { leases } from './leases/endpoints.ts'
import { provisioner } from './leases/provisioner.ts'
import { live } from './live/endpoints.ts'
import { logSink } from './log-sink/endpoints.ts'
import { machineClients } from './machine-clients/endpoints.ts'
import { cliSessions } from './me/cli-sessions.ts'
import { me } from './me/endpoints.ts'
import { recoveryKit } from './me/recovery-kit.ts'
import { invites, members } from './members/endpoints.ts'
import { ownInvites } from './members/own-invites.ts'
import { notifications } from './notifications/endpoints.ts'
import { oauth } from './oauth/endpoints.ts'
import { offboardings } from './offboardings/endpoints.ts'
import { mfaPolicy, orgs } from './orgs/endpoints.ts'
import { overrides } from './overrides/endpoints.ts'
import { passkeys } from './passkeys/endpoints.ts'
import { recovery, recoveryRequests } from './recovery/endpoints.ts'
import { rekey } from './rekey/endpoints.ts'
import { resolve } from './resolve/endpoints.ts'
import { rotation } from './rotation/endpoints.ts'
import { secondFactor } from './second-factor/endpoints.ts'
import { secretDetails } from './secret-details/endpoints.ts'
import { deletedSecrets, secrets } from './secrets/endpoints.ts'
import { sessions } from './sessions/endpoints.ts'
import { signIn } from './sign-in/endpoints.ts'
import { signInPasskeys } from './sign-in-passkeys/endpoints.ts'
import { signup } from './signup/endpoints.ts'
import { sync } from './sync/endpoints.ts'
import { tasks } from './tasks/endpoints.ts'
import { teams } from './teams/endpoints.ts'
import { tokens } from './tokens/endpoints.ts'
import { vaultConnect } from './vault/connect.ts'
import { vaultExecutor } from './vault/executor.ts'
import { vaultPlatform } from './vault/platform.ts'
import { vaultProjects } from './vault/projects.ts'
import { vaultWebhooks } from './vault/webhooks.ts'

/** The whole API, by the specification's headings. Server, SDK, OpenAPI document and reference page derive from it. */
export const endpoints = {
  health,
  signup,
  oauth,
  signIn,
  identityLinks,
  cliLogin,
  me,
  recoveryKit,
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
  deletedSecrets,
  secretDetails,
  overrides,
  protection,
  changes,
  resolve,
  directory,
  grants,
  accessRequests,
  offboardings,
  teams,
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
  live,
  audit,
  auditProof,
  billing,
  logSink,
  exporting,
}

/** Lists the heading, name and endpoint of every operation, in the table's order. */
export function listEndpoints(): { heading: string; name: string; endpoint: Endpoint }[] {
  return Object.entries(endpoints).flatMap(([heading, operations]) =>
    Object.entries(operations).map(([name, endpoint]) => ({ heading, name, endpoint: endpoint as Endpoint })),
  )
}
