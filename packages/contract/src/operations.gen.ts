// Generated from endpoints.ts by `npm run generate`. Loads no schemas, so clients start with it.
import type { Operation } from './endpoint.ts'

/** Heading and name -> what a client needs to call the endpoint. */
export const operations = {
  health: {
    live: { method: 'GET', path: '/health', surface: 'none' },
    ready: { method: 'GET', path: '/ready', surface: 'none' },
  },
  signup: {
    create: { method: 'POST', path: '/v1/signup', surface: 'none' },
  },
  oauth: {
    token: { method: 'POST', path: '/oauth/token', surface: 'none' },
  },
  signIn: {
    get: { method: 'GET', path: '/v1/sign-in', surface: 'none' },
    setUp: { method: 'POST', path: '/v1/sign-in/set-up', surface: 'none' },
    requestLink: { method: 'POST', path: '/v1/sign-in/links', surface: 'none' },
    redeemLink: { method: 'POST', path: '/v1/sign-in/links/redeem', surface: 'none' },
    passkeyOptions: { method: 'POST', path: '/v1/sign-in/passkeys/options', surface: 'none' },
    passkey: { method: 'POST', path: '/v1/sign-in/passkeys', surface: 'none' },
    refresh: { method: 'POST', path: '/v1/sign-in/refresh', surface: 'none' },
    signOut: { method: 'POST', path: '/v1/sign-in/sign-out', surface: 'none' },
  },
  cliLogin: {
    create: { method: 'POST', path: '/v1/cli-login', surface: 'none' },
    poll: { method: 'POST', path: '/v1/cli-login/poll', surface: 'none' },
    get: { method: 'GET', path: '/v1/cli-login/:code', surface: 'principal' },
    approve: { method: 'POST', path: '/v1/cli-login/:code/approve', surface: 'principal' },
    deny: { method: 'POST', path: '/v1/cli-login/:code/deny', surface: 'principal' },
  },
  me: {
    get: { method: 'GET', path: '/v1/me', surface: 'principal' },
    getKeys: { method: 'GET', path: '/v1/me/keys', surface: 'principal' },
    putKeys: { method: 'PUT', path: '/v1/me/keys', surface: 'principal' },
  },
  passkeys: {
    list: { method: 'GET', path: '/v1/me/passkeys', surface: 'principal' },
    create: { method: 'POST', path: '/v1/me/passkeys', surface: 'principal' },
    delete: { method: 'DELETE', path: '/v1/me/passkeys/:passkeyId', surface: 'principal' },
  },
  secondFactor: {
    get: { method: 'GET', path: '/v1/me/second-factor', surface: 'principal' },
    enrollTotp: { method: 'POST', path: '/v1/me/second-factor/totp', surface: 'principal' },
    confirmTotp: { method: 'POST', path: '/v1/me/second-factor/totp/confirm', surface: 'principal' },
    removeTotp: { method: 'DELETE', path: '/v1/me/second-factor/totp', surface: 'principal' },
    renewRecoveryCodes: { method: 'POST', path: '/v1/me/second-factor/recovery-codes', surface: 'principal' },
    stepUpOptions: { method: 'POST', path: '/v1/me/second-factor/passkey-options', surface: 'principal' },
    stepUp: { method: 'POST', path: '/v1/me/second-factor/enter', surface: 'principal' },
  },
  signInPasskeys: {
    list: { method: 'GET', path: '/v1/me/sign-in-passkeys', surface: 'principal' },
    options: { method: 'POST', path: '/v1/me/sign-in-passkeys/options', surface: 'principal' },
    create: { method: 'POST', path: '/v1/me/sign-in-passkeys', surface: 'principal' },
    delete: { method: 'DELETE', path: '/v1/me/sign-in-passkeys/:signInPasskeyId', surface: 'principal' },
  },
  sessions: {
    list: { method: 'GET', path: '/v1/me/sessions', surface: 'principal' },
    end: { method: 'DELETE', path: '/v1/me/sessions/:webSessionId', surface: 'principal' },
  },
  cliSessions: {
    list: { method: 'GET', path: '/v1/me/cli-sessions', surface: 'principal' },
    revoke: { method: 'DELETE', path: '/v1/me/cli-sessions/:cliSessionId', surface: 'principal' },
  },
  notifications: {
    get: { method: 'GET', path: '/v1/me/notifications', surface: 'principal' },
    put: { method: 'PUT', path: '/v1/me/notifications', surface: 'principal' },
  },
  orgs: {
    list: { method: 'GET', path: '/v1/orgs', surface: 'principal' },
    create: { method: 'POST', path: '/v1/orgs', surface: 'principal' },
    get: { method: 'GET', path: '/v1/orgs/:orgId', surface: 'principal' },
    update: { method: 'PATCH', path: '/v1/orgs/:orgId', surface: 'principal' },
    members: { method: 'GET', path: '/v1/orgs/:orgId/members', surface: 'principal' },
  },
  members: {
    update: { method: 'PATCH', path: '/v1/orgs/:orgId/members/:userId', surface: 'principal' },
    remove: { method: 'DELETE', path: '/v1/orgs/:orgId/members/:userId', surface: 'principal' },
  },
  mfaPolicy: {
    get: { method: 'GET', path: '/v1/orgs/:orgId/mfa-policy', surface: 'principal' },
    update: { method: 'PATCH', path: '/v1/orgs/:orgId/mfa-policy', surface: 'principal' },
  },
  invites: {
    list: { method: 'GET', path: '/v1/orgs/:orgId/invites', surface: 'principal' },
    create: { method: 'POST', path: '/v1/orgs/:orgId/invites', surface: 'principal' },
    delete: { method: 'DELETE', path: '/v1/orgs/:orgId/invites/:inviteId', surface: 'principal' },
  },
  apps: {
    list: { method: 'GET', path: '/v1/orgs/:orgId/apps', surface: 'principal' },
    create: { method: 'POST', path: '/v1/orgs/:orgId/apps', surface: 'principal' },
    get: { method: 'GET', path: '/v1/orgs/:orgId/apps/:appId', surface: 'principal' },
    update: { method: 'PATCH', path: '/v1/orgs/:orgId/apps/:appId', surface: 'principal' },
    delete: { method: 'DELETE', path: '/v1/orgs/:orgId/apps/:appId', surface: 'principal' },
    envs: { method: 'GET', path: '/v1/orgs/:orgId/apps/:appId/envs', surface: 'principal' },
    createEnv: { method: 'POST', path: '/v1/orgs/:orgId/apps/:appId/envs', surface: 'principal' },
    branches: { method: 'GET', path: '/v1/orgs/:orgId/apps/:appId/branches', surface: 'principal' },
  },
  envs: {
    get: { method: 'GET', path: '/v1/orgs/:orgId/envs/:envId', surface: 'principal' },
    update: { method: 'PATCH', path: '/v1/orgs/:orgId/envs/:envId', surface: 'principal' },
    delete: { method: 'DELETE', path: '/v1/orgs/:orgId/envs/:envId', surface: 'principal' },
    grantees: { method: 'GET', path: '/v1/orgs/:orgId/envs/:envId/grantees', surface: 'principal' },
  },
  rekey: {
    run: { method: 'POST', path: '/v1/orgs/:orgId/envs/:envId/rekey', surface: 'principal' },
  },
  branches: {
    list: { method: 'GET', path: '/v1/orgs/:orgId/envs/:envId/branches', surface: 'principal' },
    create: { method: 'POST', path: '/v1/orgs/:orgId/envs/:envId/branches', surface: 'principal' },
  },
  groups: {
    list: { method: 'GET', path: '/v1/orgs/:orgId/groups', surface: 'principal' },
    create: { method: 'POST', path: '/v1/orgs/:orgId/groups', surface: 'principal' },
    get: { method: 'GET', path: '/v1/orgs/:orgId/groups/:groupId', surface: 'principal' },
    update: { method: 'PATCH', path: '/v1/orgs/:orgId/groups/:groupId', surface: 'principal' },
    delete: { method: 'DELETE', path: '/v1/orgs/:orgId/groups/:groupId', surface: 'principal' },
    envs: { method: 'GET', path: '/v1/orgs/:orgId/groups/:groupId/envs', surface: 'principal' },
    createEnv: { method: 'POST', path: '/v1/orgs/:orgId/groups/:groupId/envs', surface: 'principal' },
  },
  composition: {
    list: { method: 'GET', path: '/v1/orgs/:orgId/envs/:envId/groups', surface: 'principal' },
    set: { method: 'POST', path: '/v1/orgs/:orgId/envs/:envId/groups', surface: 'principal' },
    delete: { method: 'DELETE', path: '/v1/orgs/:orgId/envs/:envId/groups/:groupId', surface: 'principal' },
  },
  secrets: {
    list: { method: 'GET', path: '/v1/orgs/:orgId/envs/:envId/secrets', surface: 'principal' },
    put: { method: 'PUT', path: '/v1/orgs/:orgId/envs/:envId/secrets/:name', surface: 'principal' },
    versions: { method: 'GET', path: '/v1/orgs/:orgId/envs/:envId/secrets/:name/versions', surface: 'principal' },
    restore: { method: 'POST', path: '/v1/orgs/:orgId/envs/:envId/secrets/:name/restore', surface: 'principal' },
    delete: { method: 'DELETE', path: '/v1/orgs/:orgId/envs/:envId/secrets/:name', surface: 'principal' },
  },
  protection: {
    get: { method: 'GET', path: '/v1/orgs/:orgId/envs/:envId/protection', surface: 'principal' },
    put: { method: 'PUT', path: '/v1/orgs/:orgId/envs/:envId/protection', surface: 'principal' },
    delete: { method: 'DELETE', path: '/v1/orgs/:orgId/envs/:envId/protection', surface: 'principal' },
  },
  changes: {
    list: { method: 'GET', path: '/v1/orgs/:orgId/change-requests', surface: 'principal' },
    get: { method: 'GET', path: '/v1/orgs/:orgId/change-requests/:changeRequestId', surface: 'principal' },
    approve: { method: 'POST', path: '/v1/orgs/:orgId/change-requests/:changeRequestId/approve', surface: 'principal' },
    reject: { method: 'POST', path: '/v1/orgs/:orgId/change-requests/:changeRequestId/reject', surface: 'principal' },
    withdraw: { method: 'POST', path: '/v1/orgs/:orgId/change-requests/:changeRequestId/withdraw', surface: 'principal' },
  },
  resolve: {
    get: { method: 'GET', path: '/v1/resolve', surface: 'principal' },
  },
  grants: {
    own: { method: 'GET', path: '/v1/orgs/:orgId/envs/:envId/key', surface: 'principal' },
    list: { method: 'GET', path: '/v1/orgs/:orgId/envs/:envId/keys', surface: 'principal' },
    create: { method: 'POST', path: '/v1/orgs/:orgId/envs/:envId/keys', surface: 'principal' },
    delete: { method: 'DELETE', path: '/v1/orgs/:orgId/envs/:envId/keys/:grantId', surface: 'principal' },
  },
  tokens: {
    list: { method: 'GET', path: '/v1/orgs/:orgId/tokens', surface: 'principal' },
    create: { method: 'POST', path: '/v1/orgs/:orgId/tokens', surface: 'principal' },
    update: { method: 'PATCH', path: '/v1/orgs/:orgId/tokens/:tokenId', surface: 'principal' },
    revoke: { method: 'DELETE', path: '/v1/orgs/:orgId/tokens/:tokenId', surface: 'principal' },
    delete: { method: 'DELETE', path: '/v1/orgs/:orgId/tokens/:tokenId/permanent', surface: 'principal' },
  },
  honeyTokens: {
    list: { method: 'GET', path: '/v1/orgs/:orgId/honey-tokens', surface: 'principal' },
    create: { method: 'POST', path: '/v1/orgs/:orgId/honey-tokens', surface: 'principal' },
    delete: { method: 'DELETE', path: '/v1/orgs/:orgId/honey-tokens/:honeyTokenId', surface: 'principal' },
  },
  leases: {
    brokerKey: { method: 'GET', path: '/v1/orgs/:orgId/leases/broker-key', surface: 'principal' },
    targets: { method: 'GET', path: '/v1/orgs/:orgId/leases/targets', surface: 'principal' },
    createTarget: { method: 'POST', path: '/v1/orgs/:orgId/leases/targets', surface: 'principal' },
    updateTarget: { method: 'PATCH', path: '/v1/orgs/:orgId/leases/targets/:targetId', surface: 'principal' },
    verifyTarget: { method: 'POST', path: '/v1/orgs/:orgId/leases/targets/:targetId/verify', surface: 'principal' },
    deleteTarget: { method: 'DELETE', path: '/v1/orgs/:orgId/leases/targets/:targetId', surface: 'principal' },
    list: { method: 'GET', path: '/v1/orgs/:orgId/leases', surface: 'principal' },
    get: { method: 'GET', path: '/v1/orgs/:orgId/leases/:leaseId', surface: 'principal' },
    create: { method: 'POST', path: '/v1/orgs/:orgId/leases', surface: 'principal' },
    revoke: { method: 'DELETE', path: '/v1/orgs/:orgId/leases/:leaseId', surface: 'principal' },
    forget: { method: 'POST', path: '/v1/orgs/:orgId/leases/:leaseId/forget', surface: 'principal' },
  },
  audit: {
    list: { method: 'GET', path: '/v1/orgs/:orgId/audit', surface: 'principal' },
  },
} as const satisfies Record<string, Record<string, Operation>>
