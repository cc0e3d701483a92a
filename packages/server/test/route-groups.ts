// Groups of routes by what kinds of callers may call them. The suite on access compares them with the committed matrix.

interface Titled {
  /** `GET /v1/orgs/:orgId`, with a note where one route has two kinds of object. */
  title: string
}

interface Group {
  (row: Titled): boolean
  /** The number of routes. */
  count: number
}

/** Makes the group of routes with these titles, in which `org` stands for `/v1/orgs/:orgId`. */
function titled(list: string): Group {
  const wanted = new Set(list.trim().split('\n'))
  const has = ({ title }: Titled) => wanted.has(title.replace('/v1/orgs/:orgId', 'org'))
  return Object.assign(has, { count: wanted.size })
}

export const ofOrg = ({ title }: Titled) => title.includes('/:orgId')

/** Routes that a member may call. The specification marks all other routes of an organization with (admin). */
export const forMembers = titled(`
GET org
GET org/members
GET org/billing
GET org/recovery/public-key
DELETE org/members/:userId
GET org/apps
GET org/apps/:appId
GET org/apps/:appId/envs
GET org/apps/:appId/branches
GET org/envs/:envId
GET org/envs/:envId/grantees
GET org/envs/:envId/branches
POST org/envs/:envId/branches
GET org/groups
GET org/groups/:groupId
GET org/groups/:groupId/envs
GET org/envs/:envId/groups
GET org/envs/:envId/secrets
PUT org/envs/:envId/secrets/:name
GET org/envs/:envId/secrets/:name/versions
POST org/envs/:envId/secrets/:name/rename
POST org/envs/:envId/secrets/:name/restore
DELETE org/envs/:envId/secrets/:name
GET org/envs/:envId/deleted-secrets
POST org/envs/:envId/deleted-secrets/:secretId/restore
DELETE org/envs/:envId/deleted-secrets/:secretId
GET org/envs/:envId/secret-details
PATCH org/envs/:envId/secret-details/:name
GET org/envs/:envId/key
GET org/envs/:envId/protection
GET org/change-requests
POST org/envs/:envId/change-requests
GET org/change-requests/:changeRequestId
GET org/change-requests/:changeRequestId/rekey
DELETE org/envs/:envId (a branch)
GET org/kms/keys
GET org/kms/keys/:kmsKeyId/key
GET org/kms/keys/:kmsKeyId/public
GET org/events
GET org/missing-grants
GET org/teams
GET org/teams/:teamId
GET org/directory
`)

/** Routes with which a person asks for access. A member sees and withdraws the own requests alone. */
export const forAskers = titled(`
GET org/access-requests
POST org/access-requests
GET org/access-requests/:accessRequestId
POST org/access-requests/:accessRequestId/withdraw
`)

/** Routes that a member may call in person, whatever the role. */
export const forPeople = titled(`
PUT org/apps/:appId/presence
DELETE org/apps/:appId/presence
`)

/** Routes about a person’s own overrides: a token may call none of them, and a person needs the environment's key. */
export const forOverriders = titled(`
GET org/envs/:envId/overrides
POST org/envs/:envId/overrides
PUT org/envs/:envId/overrides/:overrideId
DELETE org/envs/:envId/overrides/:overrideId
`)

/**
 * Routes that name an application, an environment or a change request. A bound token may call its application's. An
 * environment of a team belongs to no application alone.
 */
export const ofApplication = ({ title }: Titled) =>
  /\/:(?:appId|envId|changeRequestId)/.test(title) && !title.includes('/:teamId')

/**
 * Routes that a member may call, but not a token that is bound here: the change request is in another application, and
 * the stream of events, the teams and the missing keys tell of all applications.
 */
export const notForBound = titled(`
DELETE org/members/:userId
GET org/events
GET org/change-requests/:changeRequestId
GET org/change-requests/:changeRequestId/rekey
GET org/missing-grants
GET org/teams
GET org/teams/:teamId
`)

/** Routes that a bound token may call for its own environment only. The suites of rotation and agents test that. */
export const narrowedInside = titled(`
GET org/rotation
POST org/rotation
GET org/rotation/rotator-key
GET org/agents
POST org/agents
`)

/** Routes that need a key grant on the environment, whatever the role. */
export const forHolders = titled(`
POST org/envs/:envId/branches
POST org/envs/:envId/rekey
POST org/envs/:envId/change-requests/rekey
POST org/envs/:envId/keys
GET org/envs/:envId/secrets
PUT org/envs/:envId/secrets/:name
GET org/envs/:envId/secrets/:name/versions
POST org/envs/:envId/secrets/:name/rename
POST org/envs/:envId/secrets/:name/restore
DELETE org/envs/:envId/secrets/:name
GET org/envs/:envId/deleted-secrets
POST org/envs/:envId/deleted-secrets/:secretId/restore
DELETE org/envs/:envId/deleted-secrets/:secretId
GET org/envs/:envId/secret-details
PATCH org/envs/:envId/secret-details/:name
POST org/envs/:envId/change-requests
GET org/envs/:envId/key
GET org/envs/:envId/overrides
POST org/envs/:envId/overrides
PUT org/envs/:envId/overrides/:overrideId
DELETE org/envs/:envId/overrides/:overrideId
`)

/** Routes that need a key or a person. A machine client has no key and is not a person. */
export const notForMachines = titled(`
GET org/recovery/share
POST org/recovery/requests/:recoveryRequestId/shares
GET /v1/resolve
GET /v1/me/keys
PUT /v1/me/keys
PATCH /v1/me/keys
GET /v1/me/keys/holdings
POST /v1/me/keys/replacement
GET /v1/me/keys/recovery-kit
PUT /v1/me/keys/recovery-kit
DELETE /v1/me/keys/recovery-kit
GET /v1/me/second-factor
POST /v1/me/second-factor/totp
POST /v1/me/second-factor/totp/confirm
DELETE /v1/me/second-factor/totp
POST /v1/me/second-factor/recovery-codes
POST /v1/me/second-factor/passkey-options
POST /v1/me/second-factor/enter
GET /v1/me/sign-in-passkeys
POST /v1/me/sign-in-passkeys/options
POST /v1/me/sign-in-passkeys
DELETE /v1/me/sign-in-passkeys/:signInPasskeyId
GET /v1/me/invites
POST /v1/me/invites/:inviteId/accept
POST /v1/me/invites/:inviteId/decline
GET /v1/me/sessions
DELETE /v1/me/sessions/:webSessionId
POST /v1/orgs
GET org/directory
GET org/directory/entries
GET org/directory/claims
PUT org/directory
GET org/events
PUT org/apps/:appId/presence
DELETE org/apps/:appId/presence
POST org/access-requests
POST org/access-requests/:accessRequestId/withdraw
POST org/apps/:appId/envs
POST org/groups/:groupId/envs
POST org/envs/:envId/branches
POST org/envs/:envId/rekey
POST org/envs/:envId/change-requests/rekey
POST org/envs/:envId/keys
POST org/grants
GET org/envs/:envId/secrets
PUT org/envs/:envId/secrets/:name
GET org/envs/:envId/secrets/:name/versions
POST org/envs/:envId/secrets/:name/rename
GET org/envs/:envId/deleted-secrets
POST org/envs/:envId/deleted-secrets/:secretId/restore
GET org/envs/:envId/secret-details
PATCH org/envs/:envId/secret-details/:name
POST org/envs/:envId/change-requests
GET org/envs/:envId/key
GET org/envs/:envId/overrides
POST org/envs/:envId/overrides
PUT org/envs/:envId/overrides/:overrideId
DELETE org/envs/:envId/overrides/:overrideId
GET org/kms/keys/:kmsKeyId/key
POST org/change-requests/:changeRequestId/approve
POST org/change-requests/:changeRequestId/reject
GET org/clients
POST org/clients
POST org/clients/:clientId/secret
DELETE org/clients/:clientId
POST org/agents/:agentId/policies
POST org/vault/projects/:projectId/keys
POST org/vault/projects/:projectId/registration-codes
GET /v1/agents/:agentRef/policy
POST /v1/agents/:agentRef/activity
POST /v1/tasks/introspect
`)
