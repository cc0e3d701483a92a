import { type Endpoint, isTrusted } from '@skerry/contract/endpoint'
import { listEndpoints } from '@skerry/contract/endpoints'
import { newId, newSecret, sha256 } from '../src/kernel/context.ts'
import { cell, newKey, newTaskToken } from './agent-steps.ts'
import {
  bearerSecret,
  ciphertext,
  kitSealedKey,
  newPasskeyBody,
  publicKeyJwk,
  sealedDetails,
  sealedFormerNames,
  sealedPrivateKey,
  wrappedKey,
} from './blobs.ts'
import type { OneOfEach } from './callers.ts'
import { kmsGrant, signKey } from './kms-steps.ts'
import { sshLease, sshTarget } from './lease-steps.ts'
import { sinkBody } from './log-sink-steps.ts'
import { overrideOf } from './override-steps.ts'
import { recoveryBody } from './recovery-steps.ts'
import { bindingBody, type Connected, connectionBody, deksFor, keyOf, vaultedEnv, wrapped } from './sync-scene.ts'
import { newMember, newPerson } from './tenant.ts'
import { registration, returnOrigin, sealed, slotOf, webhookBody } from './vault-scene.ts'
import type { World } from './world.ts'

/** A caller who has access to an endpoint, and a valid body with every field. A suite then breaks one part of it. */
export interface Sample {
  as: string | undefined
  body: Record<string, unknown>
}

export const titleOf = ({ method, path }: Pick<Endpoint, 'method' | 'path'>) => `${method} ${path}`

/** Whether only a person may call the endpoint. */
export const isOfPerson = ({ path }: Pick<Endpoint, 'path'>) => /^\/v1\/(?:me|cli-login\/:code)/.test(path)

/** Whether only a custodian, who has a share of the recovery key, may call the endpoint. */
export const isOfCustodian = ({ path }: Pick<Endpoint, 'path'>) => /\/recovery\/(?:share|.*\/shares)$/.test(path)
/** Whether only the member who asked for access may call the endpoint. */
export const isOfAsker = ({ path }: Pick<Endpoint, 'path'>) => /:accessRequestId\/withdraw$/.test(path)

/** Returns true if only a person who holds the key may call the endpoint, about their own overrides. */
export const isOfOverrider = ({ path }: Pick<Endpoint, 'path'>) => /\/overrides(?:\/:overrideId)?$/.test(path)

/** Whether only an admin who is a person may call the endpoint, or any member who is one. */
export const isOfUserAdmin = ({ method, path }: Pick<Endpoint, 'method' | 'path'>) =>
  (method === 'POST' && /\/access-requests$|:accessRequestId\/withdraw$/.test(path)) ||
  /\/presence$|^\/v1\/orgs\/:orgId\/clients|:changeRequestId\/(?:approve|reject)$|:projectId\/(?:keys|registration-codes)$/.test(
    path,
  ) ||
  (method === 'POST' && /:agentId\/policies$/.test(path))

/** Documents of the signed directory in the form of the contract. */
const signed = {
  root: 'or1.AAAA.AAAA',
  head: 'od1.AAAA.AAAA',
  entries: [{ key: 'environment/shop/production', text: 'an entry' }],
}

/** Builds a sample for every endpoint with a body, by `METHOD path`. */
export async function buildSamples(world: World, place: OneOfEach): Promise<Record<string, Sample>> {
  const samples = await samplesOfEach(world, place)
  const { as } = place.tenant.admin
  for (const { endpoint } of listEndpoints()) {
    if (!isTrusted(endpoint.body)) continue
    const title = titleOf(endpoint)
    samples[title] = { as, ...samples[title], body: { ...samples[title]?.body, trust: signed } }
  }
  return samples
}

async function samplesOfEach(world: World, place: OneOfEach): Promise<Record<string, Sample>> {
  const { tenant, params } = place
  const { as } = tenant.admin
  const person = (await newPerson(world, 'keyless@example.com', { keys: false })).as
  const reviewer = (await newMember(world, tenant, 'admin')).as
  const [clientId, clientSecret] = Buffer.from(tenant.machine.as.slice(6), 'base64').toString().split(':')
  const override = await overrideOf(world, place.overrider)
  const named = { name: 'Name', slug: 'sample' }
  const environment = { ...named, wrappedDek: wrappedKey(), recoveryWrappedDek: wrappedKey() }
  const grant = { principalType: 'service_token', principalId: params.tokenId, wrappedDek: wrappedKey() }
  const keys = { publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() }
  const token = {
    name: 'Name',
    tokenId: newId('serviceToken'),
    tokenHash: sha256(bearerSecret()),
    publicKeyJwk: publicKeyJwk(),
    role: 'member',
    environmentId: params.envId,
    expiresAt: '2090-01-01T00:00:00.000Z',
  }
  const client = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, scope: 'all' }
  const linkToken = newSecret()
  const { token: taskToken, ...registered } = newTaskToken()
  const address = { email: 'sample@example.com' }
  const answered = {
    challengeId: newId('challenge'),
    response: { id: 'AAAA', type: 'public-key', response: { clientDataJSON: 'AAAA' } },
  }
  const entered = { code: '123456', recoveryCode: 'AAAAA-AAAAA', passkey: answered }
  const org = '/v1/orgs/:orgId'
  const inEnv = `${org}/envs/:envId`
  const replacement = {
    expectedVersions: { NAME: 1 },
    grants: [{ ...grant, principalId: tenant.admin.id }],
    dropReaders: [{ principalType: 'sync_connection', principalId: 'syn_1' }],
    secrets: [{ name: 'NAME', ciphertext: ciphertext() }],
    recoveryWrappedDek: wrappedKey(),
    details: [{ name: 'NAME', sealed: sealedDetails(), expectedRevision: 1 }],
    manifests: [{ environmentId: newId('environment'), manifest: 'bm1.AAAA.AAAA' }],
  }
  return {
    'POST /v1/signup': { as: undefined, body: { orgName: 'Name', orgSlug: 'sample', clientName: 'Name' } },
    'POST /oauth/token': { as: undefined, body: client },
    'POST /v1/sign-in/set-up': {
      as: undefined,
      body: { ...address, token: linkToken, name: 'Name', orgName: 'Name', orgSlug: 'sample' },
    },
    'POST /v1/sign-in/identity-link/confirm': { as: undefined, body: { token: linkToken } },
    'POST /v1/sign-in/identity-link/second-factor': { as: undefined, body: entered },
    'POST /v1/sign-in/links': { as: undefined, body: { ...address, returnTo: '/' } },
    'POST /v1/sign-in/links/invitation': { as: undefined, body: { token: linkToken } },
    'POST /v1/sign-in/links/redeem': { as: undefined, body: { token: linkToken, name: 'Name' } },
    'POST /v1/sign-in/passkeys': { as: undefined, body: answered },
    'POST /v1/me/second-factor/totp/confirm': { as: person, body: { code: '123456' } },
    'POST /v1/me/second-factor/enter': { as: person, body: entered },
    'POST /v1/me/sign-in-passkeys': { as: person, body: { ...answered, label: 'Name' } },
    'PUT /v1/me/keys': { as: person, body: keys },
    'PATCH /v1/me/keys': { as: person, body: keys },
    'POST /v1/me/keys/replacement': { as: person, body: keys },
    'PUT /v1/me/keys/recovery-kit': { as: person, body: { ...keys, encryptedPrivateKey: kitSealedKey() } },
    'POST /v1/cli-login': {
      as: undefined,
      body: { sessionId: newId('cliSession'), tokenHash: sha256(bearerSecret()), deviceLabel: 'Name', client: 'Name' },
    },
    'POST /v1/cli-login/poll': { as: undefined, body: { code: params.code } },
    'POST /v1/me/passkeys': { as: person, body: newPasskeyBody() },
    'PUT /v1/me/notifications': { as: person, body: { prefs: { invitation: true } } },
    'POST /v1/orgs': { as: person, body: named },
    [`PATCH ${org}`]: { as, body: { name: 'Name' } },
    [`PATCH ${org}/members/:userId`]: { as, body: { role: 'member' } },
    [`PATCH ${org}/mfa-policy`]: { as, body: { required: false } },
    [`POST ${org}/invites`]: {
      as,
      body: {
        email: 'sample@example.com',
        role: 'member',
        teamIds: [params.teamId],
        environmentIds: [params.envId],
        joining: 'ji1.AAAA.AAAA',
      },
    },
    [`POST ${org}/invites/:inviteId/resend`]: { as, body: { joining: 'ji1.AAAA.AAAA' } },
    'POST /v1/me/invites/:inviteId/accept': { as: person, body: { joiningAnswer: 'ja1.AAAA.AAAA' } },
    [`POST ${org}/apps`]: { as, body: named },
    [`PATCH ${org}/apps/:appId`]: { as, body: { name: 'Name' } },
    [`POST ${org}/apps/:appId/envs`]: { as, body: environment },
    [`PATCH ${inEnv}`]: { as, body: { name: 'Name' } },
    [`POST ${inEnv}/branches`]: {
      as,
      body: { ...environment, id: newId('environment'), manifest: 'bm1.AAAA.AAAA', ttlSeconds: 3600, grants: [grant] },
    },
    [`POST ${inEnv}/rekey`]: { as, body: replacement },
    [`POST ${inEnv}/change-requests/rekey`]: { as, body: replacement },
    [`POST ${org}/groups`]: { as, body: named },
    [`PATCH ${org}/groups/:groupId`]: { as, body: { name: 'Name' } },
    [`POST ${org}/groups/:groupId/envs`]: { as, body: { ...environment, slug: 'another' } },
    [`POST ${inEnv}/groups`]: { as, body: { groupId: params.groupId, position: 1 } },
    [`PUT ${inEnv}/secrets/:name`]: { as, body: { ciphertext: ciphertext(), expectedVersion: 1 } },
    [`POST ${inEnv}/secrets/:name/rename`]: {
      as,
      body: {
        newName: 'OTHER',
        ciphertext: ciphertext(),
        formerNames: sealedFormerNames(),
        expectedVersion: 1,
        details: { sealed: sealedDetails(), expectedRevision: 1 },
      },
    },
    [`POST ${inEnv}/secrets/:name/restore`]: {
      as,
      body: { version: 1, expectedVersion: 1, ciphertext: ciphertext() },
    },
    [`PATCH ${inEnv}/secret-details/:name`]: {
      as,
      body: {
        sealed: sealedDetails(),
        ownerId: params.userId,
        expiresAt: '2090-01-01T00:00:00.000Z',
        notNeeded: true,
        expectedRevision: 0,
      },
    },
    [`POST ${inEnv}/deleted-secrets/:secretId/restore`]: { as, body: { ciphertext: ciphertext() } },
    [`DELETE ${inEnv}/secrets/:name`]: { as, body: { expectedVersion: 1 } },
    [`PUT ${inEnv}/protection`]: { as, body: { requiredApprovals: 2, allowSelfApproval: true } },
    [`POST ${inEnv}/overrides`]: {
      as: place.overrider.as,
      body: { ...override, seen: [params.overrideId] },
    },
    [`PUT ${inEnv}/overrides/:overrideId`]: {
      as: place.overrider.as,
      body: { ...override, expectedRevision: 1 },
    },
    [`POST ${inEnv}/change-requests`]: {
      as,
      body: {
        puts: [{ name: 'NEW', ciphertext: ciphertext(), expectedVersion: 0 }],
        deletes: [{ name: 'NAME', expectedVersion: 1 }],
      },
    },
    [`POST ${org}/change-requests/:changeRequestId/approve`]: {
      as: reviewer,
      body: { comment: 'Comment', rekey: true },
    },
    [`POST ${org}/change-requests/:changeRequestId/reject`]: { as: reviewer, body: { comment: 'Comment' } },
    [`POST ${inEnv}/keys`]: { as, body: { ...grant, seconds: 3600 } },
    [`POST ${org}/access-requests`]: {
      as: reviewer,
      body: { environmentIds: [params.envId], reason: 'Reason', forSeconds: 3600 },
    },
    [`POST ${org}/access-requests/:accessRequestId/decline`]: { as, body: { reason: 'Reason' } },
    [`POST ${org}/offboardings`]: { as, body: { userId: params.userId, confirmEmail: 'sample@example.com' } },
    [`PATCH ${org}/offboardings/:offboardingId/rows/:offboardingRowId`]: {
      as,
      body: { state: 'not_needed', note: 'Note', assigneeId: params.userId },
    },
    [`POST ${org}/offboardings/:offboardingId/finish`]: { as, body: { acceptOpen: true } },
    [`POST ${org}/grants`]: {
      as,
      body: {
        grants: [
          {
            environmentId: params.envId,
            ...grant,
            publicKeyJwk: publicKeyJwk(),
            ownWrappedDek: wrappedKey(),
            direct: true,
          },
        ],
      },
    },
    [`PUT ${org}/members/:userId/planned-grants`]: { as, body: { environmentIds: [params.envId] } },
    [`POST ${org}/teams`]: { as, body: { name: 'Name' } },
    [`PATCH ${org}/teams/:teamId`]: { as, body: { name: 'Name' } },
    [`POST ${org}/teams/:teamId/members`]: { as, body: { userIds: [params.userId] } },
    [`POST ${org}/teams/:teamId/environments`]: { as, body: { environmentIds: [params.envId] } },
    [`POST ${org}/tokens`]: { as, body: token },
    [`POST ${org}/honey-tokens`]: {
      as,
      body: { tokenId: newId('serviceToken'), tokenHash: sha256(bearerSecret()), placement: 'a wiki' },
    },
    [`PATCH ${org}/tokens/:tokenId`]: { as, body: { name: 'Name' } },
    [`POST ${org}/clients`]: { as: reviewer, body: { name: 'Name' } },
    [`POST ${org}/billing/checkout`]: { as, body: { family: 'platform', plan: 'team' } },
    [`POST ${org}/billing/promo`]: { as, body: { code: 'SAMPLE' } },
    [`POST ${org}/kms/keys`]: {
      as,
      body: signKey([{ id: params.tokenId as string }], {
        name: 'sample',
        applicationId: params.appId,
        groupId: params.groupId,
      }),
    },
    [`POST ${org}/kms/keys/:kmsKeyId/grants`]: { as, body: kmsGrant({ id: params.tokenId as string }, { version: 1 }) },
    [`POST ${org}/kms/keys/:kmsKeyId/rotate`]: {
      as,
      body: { publicKeyJwk: publicKeyJwk(), grants: [kmsGrant({ id: params.tokenId as string })] },
    },
    [`POST ${org}/leases/targets`]: { as, body: { ...(await sshTarget(world, tenant)), name: 'sample' } },
    [`PATCH ${org}/leases/targets/:targetId`]: {
      as,
      body: { name: 'another', wrappedAdminSecret: (await sshTarget(world, tenant)).wrappedAdminSecret },
    },
    ...(await recoverySamples(world, place)),
    [`POST ${org}/rotation`]: {
      as,
      body: {
        environmentId: params.envId,
        secretName: 'NAME',
        config: { kind: 'generated' },
        intervalSeconds: 3600,
        targetId: params.targetId,
        wrappedDek: wrappedKey(),
        rotateNow: true,
      },
    },
    [`PATCH ${org}/rotation/:rotationId`]: {
      as,
      body: { intervalSeconds: 3600, config: { kind: 'generated' }, status: 'paused' },
    },
    ...(await syncSamples(world, { tenant, params })),
    [`POST ${org}/agents`]: { as, body: { ...named, environmentId: params.envId } },
    [`PATCH ${org}/agents/:agentId`]: { as, body: { name: 'Name', enabled: true, environmentId: params.envId } },
    [`POST ${org}/agents/:agentId/policies`]: { as: reviewer, body: { bundle: 'ap1.AAAA.AAAA' } },
    'POST /v1/agents/:agentRef/dispatch': {
      as,
      body: {
        ...registered,
        scopes: ['API_KEY'],
        ttlSeconds: 60,
        label: 'Name',
        proofJwk: JSON.parse(newKey().publicKeyJwk),
      },
    },
    'POST /v1/tasks/introspect': { as, body: { token: taskToken } },
    'POST /v1/agents/:agentRef/activity': {
      as,
      body: {
        windowStart: world.clock.now().toISOString(),
        policyVersion: 1,
        entries: [{ ...cell, secrets: { API_KEY: 1 }, redactions: { API_KEY: 1 } }],
      },
    },
    [`POST ${org}/export`]: { as, body: { includeVersions: true, includeAudit: true, auditLimit: 10 } },
    ...vaultSamples(place, reviewer),
    [`PUT ${org}/directory`]: { as, body: signed },
    [`PUT ${org}/log-sink`]: { as, body: sinkBody() },
    [`POST ${org}/leases`]: {
      as,
      body: {
        ...sshLease(params.targetId as string),
        roleName: 'reader',
        verifier: 'a verifier',
        recipientPublicKey: publicKeyJwk(),
      },
    },
    'POST /v1/provisioner/jobs/claim': { as, body: { waitSeconds: 1 } },
    'POST /v1/provisioner/jobs/:jobId/report': {
      as,
      body: {
        ok: false,
        error: { message: 'no', changedNothing: true, crashed: true },
        server: 'PostgreSQL',
        notes: ['note'],
        dropped: ['function'],
        reassigned: ['table'],
      },
    },
  }
}

function vaultSamples({ tenant, params, vault }: OneOfEach, reviewer: string): Record<string, Sample> {
  const { as } = tenant.admin
  const projects = '/v1/orgs/:orgId/vault/projects'
  const display = {
    name: 'Name',
    logoUrl: 'https://example.com/logo.png',
    accent: '#3366cc',
    returnOrigins: [returnOrigin],
  }
  const { platform, executor, connects, manages } = vault
  const { code, ...registered } = registration(`vrc_${bearerSecret()}`)
  const { catalog, sdkVersion, wrappingKey } = registered
  const link = { userRef: 'user-1', returnUrl: `${returnOrigin}/done`, expiresInSeconds: 60 }
  const named = { origin: registered.origin, thumbprint: executor.key.thumbprint }
  const repair = {
    ...{ providerId: 'acme', purpose: 'reconnect', connectionId: params.vaultConnectionId },
    executor: named,
    allowAccountChange: false,
  }
  const captured = { slots: [slotOf(vault)], accountLabel: 'Name' }
  const webhook = { ...webhookBody(), events: ['connection.ready'] }
  const own = '/v1/vault/executor'
  const connection = `${own}/connections/:vaultConnectionId`
  return {
    [`POST ${projects}`]: { as, body: { name: 'Name', display } },
    [`PATCH ${projects}/:projectId`]: { as, body: { name: 'Name', display, status: 'disabled' } },
    [`POST ${projects}/:projectId/keys`]: { as: reviewer, body: { name: 'Name' } },
    'POST /v1/vault/connect-sessions': { as: platform.as, body: { ...link, ...repair } },
    'POST /v1/vault/manage-sessions': { as: platform.as, body: link },
    'POST /v1/vault/webhooks': { as: platform.as, body: webhook },
    [`POST ${projects}/:projectId/webhooks`]: { as, body: webhook },
    [`PATCH ${projects}/:projectId/webhooks/:vaultWebhookId`]: { as, body: { ...webhook, status: 'active' } },
    'POST /v1/vault/connect/claim': { as: undefined, body: { token: `vct_${bearerSecret()}` } },
    'POST /v1/vault/connect/consent': { as: connects, body: { consentVersion: 1 } },
    'POST /v1/vault/connect/submit': { as: connects, body: captured },
    'POST /v1/vault/connect/manage/revoke': { as: manages, body: { connectionId: params.vaultConnectionId } },
    [`POST ${own}/register`]: { as: undefined, body: { code, ...registered, proof: 'A'.repeat(86) } },
    [`PUT ${own}/catalog`]: { as: executor.as, body: { catalog, sdkVersion } },
    [`POST ${own}/keys`]: { as: executor.as, body: { wrappingKey } },
    [`POST ${own}/connect-sessions/verify`]: { as: executor.as, body: { claimToken: `vcl_${bearerSecret()}` } },
    [`POST ${own}/connect-sessions/:connectSessionId/complete`]: {
      as: executor.as,
      body: { ...captured, accountDigest: 'A'.repeat(43) },
    },
    [`PUT ${connection}/credentials/:slot`]: { as: executor.as, body: { expectedRevision: 1, ...sealed(vault) } },
    [`POST ${connection}/status`]: {
      as: executor.as,
      body: { status: 'reauth_required', reason: 'refresh_rejected' },
    },
  }
}

async function syncSamples(world: World, { tenant, params }: Pick<OneOfEach, 'tenant' | 'params'>) {
  const { as } = tenant.admin
  const org = '/v1/orgs/:orgId/sync'
  const key: Connected = await keyOf(world, tenant, params.connectionId)
  const env = await vaultedEnv(world, tenant)
  const settings = {
    destination: { provider: 'app-platform-c', appName: 'sample' },
    nameTransform: { prefix: 'P_', suffix: '_S', case: 'upper' },
    include: ['NAME*'],
    exclude: ['OTHER'],
    onDelete: 'delete',
    adopt: true,
  }
  const more = { mode: 'manual', enabled: true }
  return {
    [`POST ${org}/connections`]: { as, body: (await connectionBody(world, tenant, 'fm2_sample', 'sample')).body },
    [`PATCH ${org}/connections/:connectionId`]: {
      as,
      body: { name: 'another', wrappedCredential: await wrapped('fm2_sample', key) },
    },
    [`POST ${org}/connections/:connectionId/verify`]: { as, body: { destination: settings.destination } },
    [`POST ${org}/bindings`]: { as, body: { ...(await bindingBody(key, [env], 'sample')), ...settings, ...more } },
    [`PATCH ${org}/bindings/:bindingId`]: {
      as,
      body: { ...settings, ...more, wrappedDeks: await deksFor([env], key), acknowledgedDecryption: true },
    },
    [`POST ${org}/bindings/:bindingId/plan`]: { as, body: settings },
    [`POST ${org}/bindings/:bindingId/run`]: { as, body: { adopt: ['NAME'] } },
  }
}

async function recoverySamples(
  world: World,
  { tenant, params, custodian }: OneOfEach,
): Promise<Record<string, Sample>> {
  const { as } = tenant.admin
  const org = '/v1/orgs/:orgId'
  const person = await newMember(world, tenant)
  const second = await newMember(world, tenant)
  const keyAndShares = recoveryBody([person, second], 2, [params.envId as string])
  const principal = { principalType: 'user', principalId: person.id }
  const request = `${org}/recovery/requests/:recoveryRequestId`
  return {
    [`POST ${org}/recovery`]: { as, body: keyAndShares },
    [`POST ${org}/recovery/rotate`]: { as, body: keyAndShares },
    [`POST ${org}/recovery/grants`]: { as, body: { grants: keyAndShares.grants } },
    [`POST ${org}/recovery/requests`]: {
      as,
      body: {
        targetPublicKeyJwk: publicKeyJwk(),
        targetType: 'user',
        targetId: person.id,
        reason: 'Reason',
        drill: false,
      },
    },
    [`POST ${request}/shares`]: { as: custodian.as, body: { shareIndex: 1, contributedShare: wrappedKey() } },
    [`POST ${request}/complete`]: { as, body: { ...principal, grants: keyAndShares.grants } },
  }
}

/** Returns the path with these ids as its parameters. */
export function pathOf({ path }: Pick<Endpoint, 'path'>, params: Record<string, string>): string {
  return path.replace(/:(\w+)/g, (_, name) => {
    const value = params[name]
    if (value === undefined) throw new Error(`${path}: the place has no ${name}`)
    return value
  })
}
