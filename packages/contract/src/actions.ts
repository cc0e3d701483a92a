import { actions as accessRequests } from './access-requests/actions.ts'
import { actions as agents } from './agents/actions.ts'
import { actions as apps } from './apps/actions.ts'
import { actions as audit } from './audit/actions.ts'
import { actions as billing } from './billing/actions.ts'
import { actions as branches } from './branches/actions.ts'
import { actions as changes } from './changes/actions.ts'
import { actions as cliLogin } from './cli-login/actions.ts'
import { actions as directory } from './directory/actions.ts'
import { actions as envs } from './envs/actions.ts'
import { actions as exporting } from './export/actions.ts'
import { actions as grants } from './grants/actions.ts'
import { actions as groups } from './groups/actions.ts'
import { actions as honeyTokens } from './honey-tokens/actions.ts'
import { actions as identityLinks } from './identity-links/actions.ts'
import { actions as kms } from './kms/actions.ts'
import { actions as leases } from './leases/actions.ts'
import { actions as logSink } from './log-sink/actions.ts'
import { actions as machineClients } from './machine-clients/actions.ts'
import { actions as me } from './me/actions.ts'
import { actions as members } from './members/actions.ts'
import { actions as notifications } from './notifications/actions.ts'
import { actions as offboardings } from './offboardings/actions.ts'
import { actions as orgs } from './orgs/actions.ts'
import { actions as overrides } from './overrides/actions.ts'
import { actions as passkeys } from './passkeys/actions.ts'
import { actions as recovery } from './recovery/actions.ts'
import { actions as rekey } from './rekey/actions.ts'
import { actions as resolve } from './resolve/actions.ts'
import { actions as rotation } from './rotation/actions.ts'
import { actions as secondFactor } from './second-factor/actions.ts'
import { actions as secretDetails } from './secret-details/actions.ts'
import { actions as secrets } from './secrets/actions.ts'
import { actions as signIn } from './sign-in/actions.ts'
import { actions as signInPasskeys } from './sign-in-passkeys/actions.ts'
import { actions as sync } from './sync/actions.ts'
import { actions as tasks } from './tasks/actions.ts'
import { actions as teams } from './teams/actions.ts'
import { actions as tokens } from './tokens/actions.ts'
import { actions as vault } from './vault/actions.ts'

/** Every audit action. Each feature has its own in its folder. */
export const auditActions = {
  ...orgs,
  ...exporting,
  ...audit,
  ...members,
  ...signIn,
  ...identityLinks,
  ...me,
  ...notifications,
  ...passkeys,
  ...signInPasskeys,
  ...secondFactor,
  ...cliLogin,
  ...machineClients,
  ...apps,
  ...groups,
  ...envs,
  ...resolve,
  ...changes,
  ...rekey,
  ...branches,
  ...grants,
  ...accessRequests,
  ...offboardings,
  ...teams,
  ...tokens,
  ...honeyTokens,
  ...secrets,
  ...secretDetails,
  ...overrides,
  ...kms,
  ...leases,
  ...recovery,
  ...rotation,
  ...sync,
  ...agents,
  ...tasks,
  ...billing,
  ...vault,
  ...logSink,
  ...directory,
}

export type AuditAction = keyof typeof auditActions
