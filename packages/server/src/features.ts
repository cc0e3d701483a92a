import { feature as accessRequests } from './features/access-requests/feature.ts'
import { feature as agents } from './features/agents/feature.ts'
import { feature as apps } from './features/apps/feature.ts'
import { feature as audit } from './features/audit/feature.ts'
import { feature as auditProof } from './features/audit-proof/feature.ts'
import { feature as billing } from './features/billing/feature.ts'
import { feature as branches } from './features/branches/feature.ts'
import { feature as changes } from './features/changes/feature.ts'
import { feature as cliLogin } from './features/cli-login/feature.ts'
import { feature as connectPage } from './features/connect-page/feature.ts'
import { feature as dashboard } from './features/dashboard/feature.ts'
import { feature as directory } from './features/directory/feature.ts'
import { feature as docs } from './features/docs/feature.ts'
import { feature as envs } from './features/envs/feature.ts'
import { feature as exporting } from './features/export/feature.ts'
import { feature as grants } from './features/grants/feature.ts'
import { feature as groups } from './features/groups/feature.ts'
import { feature as health } from './features/health/feature.ts'
import { feature as honeyTokens } from './features/honey-tokens/feature.ts'
import { feature as identityLinks } from './features/identity-links/feature.ts'
import { feature as kms } from './features/kms/feature.ts'
import { feature as leases } from './features/leases/feature.ts'
import { feature as live } from './features/live/feature.ts'
import { feature as logSink } from './features/log-sink/feature.ts'
import { feature as machineClients } from './features/machine-clients/feature.ts'
import { feature as me } from './features/me/feature.ts'
import { feature as members } from './features/members/feature.ts'
import { feature as notifications } from './features/notifications/feature.ts'
import { feature as oauth } from './features/oauth/feature.ts'
import { feature as offboardings } from './features/offboardings/feature.ts'
import { feature as orgs } from './features/orgs/feature.ts'
import { feature as overrides } from './features/overrides/feature.ts'
import { feature as passkeys } from './features/passkeys/feature.ts'
import { feature as people } from './features/people/feature.ts'
import { feature as recovery } from './features/recovery/feature.ts'
import { feature as rekey } from './features/rekey/feature.ts'
import { feature as resolve } from './features/resolve/feature.ts'
import { feature as rotation } from './features/rotation/feature.ts'
import { feature as secondFactor } from './features/second-factor/feature.ts'
import { feature as secretDetails } from './features/secret-details/feature.ts'
import { feature as secrets } from './features/secrets/feature.ts'
import { feature as sessions } from './features/sessions/feature.ts'
import { feature as signIn } from './features/sign-in/feature.ts'
import { feature as signInPasskeys } from './features/sign-in-passkeys/feature.ts'
import { feature as signup } from './features/signup/feature.ts'
import { feature as sync } from './features/sync/feature.ts'
import { feature as tasks } from './features/tasks/feature.ts'
import { feature as teams } from './features/teams/feature.ts'
import { feature as tokens } from './features/tokens/feature.ts'
import { feature as vault } from './features/vault/feature.ts'

/** Every feature of the server. Lists of endpoints, pages and jobs have this order. */
export const features = [
  health,
  signup,
  oauth,
  signIn,
  identityLinks,
  cliLogin,
  me,
  people,
  passkeys,
  secondFactor,
  signInPasskeys,
  sessions,
  notifications,
  orgs,
  members,
  apps,
  envs,
  rekey,
  branches,
  groups,
  secrets,
  secretDetails,
  overrides,
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
  rotation,
  sync,
  agents,
  tasks,
  vault,
  live,
  audit,
  auditProof,
  billing,
  logSink,
  exporting,
  dashboard,
  connectPage,
  docs,
]
