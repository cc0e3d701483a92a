import type { Endpoint } from '@skerry/contract/endpoint'
import { newId, sha256 } from '../src/http/context.ts'
import { bearerSecret, ciphertext, publicKeyJwk, sealedPrivateKey, wrappedKey } from './blobs.ts'
import type { Place } from './callers.ts'
import { newPerson } from './tenant.ts'
import type { World } from './world.ts'

/** A caller who passes the access of an endpoint, and a body with every field that is sound but for what a suite breaks. */
export interface Sample {
  as: string | undefined
  body: Record<string, unknown>
}

export const titleOf = ({ method, path }: Pick<Endpoint, 'method' | 'path'>) => `${method} ${path}`

/** By `METHOD path`, for every endpoint that takes a body. */
export async function buildSamples(world: World, { tenant, params }: Place): Promise<Record<string, Sample>> {
  const { as } = tenant.admin
  const person = (await newPerson(world, 'keyless@example.com', { keys: false })).as
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
  const org = '/v1/orgs/:orgId'
  const inEnv = `${org}/envs/:envId`
  return {
    'POST /v1/signup': { as: undefined, body: { orgName: 'Name', orgSlug: 'sample', clientName: 'Name' } },
    'POST /oauth/token': { as: undefined, body: client },
    'PUT /v1/me/keys': { as: person, body: keys },
    'POST /v1/orgs': { as: person, body: named },
    [`PATCH ${org}`]: { as, body: { name: 'Name' } },
    [`POST ${org}/invites`]: { as, body: { email: 'sample@example.com', role: 'member' } },
    [`POST ${org}/apps`]: { as, body: named },
    [`PATCH ${org}/apps/:appId`]: { as, body: { name: 'Name' } },
    [`POST ${org}/apps/:appId/envs`]: { as, body: environment },
    [`PATCH ${inEnv}`]: { as, body: { name: 'Name' } },
    [`POST ${inEnv}/branches`]: { as, body: { ...environment, ttlSeconds: 3600, grants: [grant] } },
    [`POST ${org}/groups`]: { as, body: named },
    [`PATCH ${org}/groups/:groupId`]: { as, body: { name: 'Name' } },
    [`POST ${org}/groups/:groupId/envs`]: { as, body: { ...environment, slug: 'another' } },
    [`POST ${inEnv}/groups`]: { as, body: { groupId: params.groupId, position: 1 } },
    [`PUT ${inEnv}/secrets/:name`]: { as, body: { ciphertext: ciphertext(), expectedVersion: 1 } },
    [`POST ${inEnv}/secrets/:name/restore`]: { as, body: { version: 1, expectedVersion: 1 } },
    [`DELETE ${inEnv}/secrets/:name`]: { as, body: { expectedVersion: 1 } },
    [`POST ${inEnv}/keys`]: { as, body: grant },
    [`POST ${org}/tokens`]: { as, body: token },
    [`PATCH ${org}/tokens/:tokenId`]: { as, body: { name: 'Name' } },
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
