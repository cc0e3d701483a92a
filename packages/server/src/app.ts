import type { Subscriber } from './events/events.ts'
import { jobs as agentJobs } from './features/agents/jobs.ts'
import { routes as agents } from './features/agents/routes.ts'
import { routes as apps } from './features/apps/routes.ts'
import { routes as audit } from './features/audit/routes.ts'
import type { AuditContext } from './features/audit/search.ts'
import { jobs as auditProofJobs } from './features/audit-proof/jobs.ts'
import { routes as auditProof } from './features/audit-proof/routes.ts'
import { jobs as billingJobs } from './features/billing/jobs.ts'
import { routes as billing, rawRoutes as webhooks } from './features/billing/routes.ts'
import { jobs as branchJobs } from './features/branches/jobs.ts'
import { routes as branches } from './features/branches/routes.ts'
import { routes as changes } from './features/changes/routes.ts'
import { jobs as cliLoginJobs } from './features/cli-login/jobs.ts'
import { routes as cliLogin } from './features/cli-login/routes.ts'
import { rawRoutes as connectPage } from './features/connect-page/routes.ts'
import { rawRoutes as dashboard } from './features/dashboard/routes.ts'
import { rawRoutes as docs } from './features/docs/routes.ts'
import { routes as envs } from './features/envs/routes.ts'
import { routes as exporting } from './features/export/routes.ts'
import { routes as grants } from './features/grants/routes.ts'
import { routes as groups } from './features/groups/routes.ts'
import { routes as health } from './features/health/routes.ts'
import { jobs as honeyTokenJobs } from './features/honey-tokens/jobs.ts'
import { routes as honeyTokens } from './features/honey-tokens/routes.ts'
import { jobs as identityLinkJobs } from './features/identity-links/jobs.ts'
import { routes as identityLinks } from './features/identity-links/routes.ts'
import { routes as kms } from './features/kms/routes.ts'
import { jobs as leaseJobs } from './features/leases/jobs.ts'
import { routes as leases } from './features/leases/routes.ts'
import { jobs as logSinkJobs } from './features/log-sink/jobs.ts'
import { routes as logSink } from './features/log-sink/routes.ts'
import { routes as machineClients } from './features/machine-clients/routes.ts'
import { routes as me } from './features/me/routes.ts'
import { routes as members } from './features/members/routes.ts'
import { subscribers as notificationSubscribers } from './features/notifications/deliver.ts'
import { jobs as notificationJobs } from './features/notifications/jobs.ts'
import { routes as notifications } from './features/notifications/routes.ts'
import { jobs as oauthJobs } from './features/oauth/jobs.ts'
import { routes as oauth } from './features/oauth/routes.ts'
import { routes as orgs } from './features/orgs/routes.ts'
import { routes as passkeys } from './features/passkeys/routes.ts'
import { jobs as recoveryJobs } from './features/recovery/jobs.ts'
import { routes as recovery } from './features/recovery/routes.ts'
import { routes as rekey } from './features/rekey/routes.ts'
import type { ResolveContext } from './features/resolve/cache.ts'
import { routes as resolve } from './features/resolve/routes.ts'
import { jobs as rotationJobs } from './features/rotation/jobs.ts'
import { routes as rotation } from './features/rotation/routes.ts'
import { routes as secondFactor } from './features/second-factor/routes.ts'
import type { SecretsContext } from './features/secrets/context.ts'
import { routes as secrets } from './features/secrets/routes.ts'
import { routes as sessions } from './features/sessions/routes.ts'
import { jobs as signInJobs } from './features/sign-in/jobs.ts'
import { rawRoutes as rawSignIn, routes as signIn } from './features/sign-in/routes.ts'
import { routes as signInPasskeys } from './features/sign-in-passkeys/routes.ts'
import { routes as signup } from './features/signup/routes.ts'
import { jobs as syncJobs } from './features/sync/jobs.ts'
import { routes as sync } from './features/sync/routes.ts'
import { jobs as taskJobs } from './features/tasks/jobs.ts'
import { routes as tasks } from './features/tasks/routes.ts'
import { routes as tokens } from './features/tokens/routes.ts'
import { jobs as vaultJobs } from './features/vault/connect/jobs.ts'
import { routes as vaultConnect } from './features/vault/connect/routes.ts'
import { routes as vaultExecutor } from './features/vault/executor/routes.ts'
import { routes as vaultPlatform } from './features/vault/platform/routes.ts'
import { routes as vaultProjects } from './features/vault/projects/routes.ts'
import { routes as vaultUsers } from './features/vault/users/routes.ts'
import { jobs as vaultWebhookJobs, subscribers as vaultWebhookSubscribers } from './features/vault/webhooks/jobs.ts'
import { routes as vaultWebhooks } from './features/vault/webhooks/routes.ts'
import type { RawRoute } from './http/raw.ts'
import type { Route } from './http/route.ts'
import { jobs as housekeeping } from './jobs/housekeeping.ts'
import type { Job } from './jobs/job.ts'

/**
 * Everything that the server works with. Made once in server.ts; tests make their own, with another clock. Each route and
 * each job names the part of it that it needs.
 */
export interface AppContext extends AuditContext, ResolveContext, SecretsContext {}

/** Everything that this server answers. */
export const routes: Route<AppContext>[] = [
  ...health,
  ...signup,
  ...oauth,
  ...signIn,
  ...identityLinks,
  ...cliLogin,
  ...me,
  ...passkeys,
  ...secondFactor,
  ...signInPasskeys,
  ...sessions,
  ...notifications,
  ...orgs,
  ...members,
  ...apps,
  ...envs,
  ...rekey,
  ...branches,
  ...groups,
  ...secrets,
  ...changes,
  ...resolve,
  ...grants,
  ...tokens,
  ...machineClients,
  ...honeyTokens,
  ...kms,
  ...leases,
  ...recovery,
  ...rotation,
  ...sync,
  ...agents,
  ...tasks,
  ...vaultProjects,
  ...vaultUsers,
  ...vaultWebhooks,
  ...vaultPlatform,
  ...vaultConnect,
  ...vaultExecutor,
  ...audit,
  ...auditProof,
  ...billing,
  ...logSink,
  ...exporting,
]

/** And what it serves beside the API. */
export const rawRoutes: RawRoute[] = [...rawSignIn, ...webhooks, ...dashboard, ...connectPage, ...docs]
/** Everyone here who is told of events. */
export const subscribers: Subscriber<AppContext>[] = [...notificationSubscribers, ...vaultWebhookSubscribers]

/** Everything that this server does later, or by itself. */
export const jobs: Job<never, AppContext>[] = [
  ...signInJobs,
  ...identityLinkJobs,
  ...notificationJobs,
  ...honeyTokenJobs,
  ...branchJobs,
  ...cliLoginJobs,
  ...oauthJobs,
  ...leaseJobs,
  ...recoveryJobs,
  ...rotationJobs,
  ...syncJobs,
  ...agentJobs,
  ...taskJobs,
  ...vaultJobs,
  ...vaultWebhookJobs,
  ...auditProofJobs,
  ...billingJobs,
  ...logSinkJobs,
  ...housekeeping,
  ...subscribers.map(({ job }) => job),
]
