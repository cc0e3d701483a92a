import type { Endpoint } from '@skerry/contract/endpoint'
import { newId, newSecret, sha256 } from '../src/kernel/context.ts'
import { bearerSecret, ciphertext, newPasskeyBody, publicKeyJwk, sealedPrivateKey, wrappedKey } from './blobs.ts'
import type { Place } from './callers.ts'
import { sshLease, sshTarget } from './lease-steps.ts'
import { newMember, newPerson } from './tenant.ts'
import type { World } from './world.ts'

/** A caller who passes the access of an endpoint, and a body with every field that is sound but for what a suite breaks. */
export interface Sample {
  as: string | undefined
  body: Record<string, unknown>
}

export const titleOf = ({ method, path }: Pick<Endpoint, 'method' | 'path'>) => `${method} ${path}`

/** What only a person may call; everything else an admin token may. */
export const isOfPerson = ({ path }: Pick<Endpoint, 'path'>) => /^\/v1\/(?:me|cli-login\/:code)/.test(path)

/** By `METHOD path`, for every endpoint that takes a body. */
export async function buildSamples(world: World, { tenant, params }: Place): Promise<Record<string, Sample>> {
  const { as } = tenant.admin
  const person = (await newPerson(world, 'keyless@example.com', { keys: false })).as
  const reviewer = (await newMember(world, tenant, 'admin')).as
  const [clientId, clientSecret] = Buffer.from(tenant.machine.as.slice(6), 'base64').toString().split(':')
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
  const address = { email: 'sample@example.com' }
  const answered = {
    challengeId: newId('challenge'),
    response: { id: 'AAAA', type: 'public-key', response: { clientDataJSON: 'AAAA' } },
  }
  const entered = { code: '123456', recoveryCode: 'AAAAA-AAAAA', passkey: answered }
  const org = '/v1/orgs/:orgId'
  const inEnv = `${org}/envs/:envId`
  return {
    'POST /v1/signup': { as: undefined, body: { orgName: 'Name', orgSlug: 'sample', clientName: 'Name' } },
    'POST /oauth/token': { as: undefined, body: client },
    'POST /v1/sign-in/set-up': {
      as: undefined,
      body: { ...address, token: linkToken, name: 'Name', orgName: 'Name', orgSlug: 'sample' },
    },
    'POST /v1/sign-in/links': { as: undefined, body: { ...address, returnTo: '/' } },
    'POST /v1/sign-in/links/redeem': { as: undefined, body: { token: linkToken } },
    'POST /v1/sign-in/passkeys': { as: undefined, body: answered },
    'POST /v1/me/second-factor/totp/confirm': { as: person, body: { code: '123456' } },
    'POST /v1/me/second-factor/enter': { as: person, body: entered },
    'POST /v1/me/sign-in-passkeys': { as: person, body: { ...answered, label: 'Name' } },
    'PUT /v1/me/keys': { as: person, body: keys },
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
    [`POST ${org}/invites`]: { as, body: { email: 'sample@example.com', role: 'member' } },
    [`POST ${org}/apps`]: { as, body: named },
    [`PATCH ${org}/apps/:appId`]: { as, body: { name: 'Name' } },
    [`POST ${org}/apps/:appId/envs`]: { as, body: environment },
    [`PATCH ${inEnv}`]: { as, body: { name: 'Name' } },
    [`POST ${inEnv}/branches`]: { as, body: { ...environment, ttlSeconds: 3600, grants: [grant] } },
    [`POST ${inEnv}/rekey`]: {
      as,
      body: {
        expectedVersions: { NAME: 1 },
        grants: [{ ...grant, principalId: tenant.admin.id }],
        dropReaders: [{ principalType: 'sync_connection', principalId: 'syn_1' }],
        secrets: [{ name: 'NAME', ciphertext: ciphertext() }],
        recoveryWrappedDek: wrappedKey(),
      },
    },
    [`POST ${org}/groups`]: { as, body: named },
    [`PATCH ${org}/groups/:groupId`]: { as, body: { name: 'Name' } },
    [`POST ${org}/groups/:groupId/envs`]: { as, body: { ...environment, slug: 'another' } },
    [`POST ${inEnv}/groups`]: { as, body: { groupId: params.groupId, position: 1 } },
    [`PUT ${inEnv}/secrets/:name`]: { as, body: { ciphertext: ciphertext(), expectedVersion: 1 } },
    [`POST ${inEnv}/secrets/:name/restore`]: { as, body: { version: 1, expectedVersion: 1 } },
    [`DELETE ${inEnv}/secrets/:name`]: { as, body: { expectedVersion: 1 } },
    [`PUT ${inEnv}/protection`]: { as, body: { requiredApprovals: 2, allowSelfApproval: true } },
    [`POST ${org}/change-requests/:changeRequestId/approve`]: { as: reviewer, body: { comment: 'Comment' } },
    [`POST ${org}/change-requests/:changeRequestId/reject`]: { as: reviewer, body: { comment: 'Comment' } },
    [`POST ${inEnv}/keys`]: { as, body: grant },
    [`POST ${org}/tokens`]: { as, body: token },
    [`POST ${org}/honey-tokens`]: {
      as,
      body: { tokenId: newId('serviceToken'), tokenHash: sha256(bearerSecret()), placement: 'a wiki' },
    },
    [`PATCH ${org}/tokens/:tokenId`]: { as, body: { name: 'Name' } },
    [`POST ${org}/leases/targets`]: { as, body: { ...(await sshTarget(world, tenant)), name: 'sample' } },
    [`PATCH ${org}/leases/targets/:targetId`]: {
      as,
      body: { name: 'another', wrappedAdminSecret: (await sshTarget(world, tenant)).wrappedAdminSecret },
    },
    [`POST ${org}/leases`]: {
      as,
      body: {
        ...sshLease(params.targetId as string),
        roleName: 'reader',
        verifier: 'a verifier',
        recipientPublicKey: publicKeyJwk(),
      },
    },
  }
}

/** A path with the place's ids in it. */
export function pathOf({ path }: Pick<Endpoint, 'path'>, params: Record<string, string>): string {
  return path.replace(/:(\w+)/g, (_, name) => {
    const value = params[name]
    if (value === undefined) throw new Error(`${path}: the place has no ${name}`)
    return value
  })
}
