import { createHash, randomBytes } from 'node:crypto'
import { bearerSecret, ciphertext, publicKeyJwk, wrappedKey } from '../../packages/server/test/blobs.ts'

/** An organization made through the API: an application environment with a composed group, and tokens for it. */
export interface Tenant {
  orgId: string
  environmentId: string
  admin: Bearer
  /** A member token that is bound to the environment. */
  member: Bearer
}

export interface Bearer {
  id: string
  bearer: string
}

/** The number of secrets in a usual environment. */
export const usualSecrets = 20

/** How many of the secrets are in the group. */
const groupSecretCount = 5
const putsAtOnce = 20

/** Creates an organization with this many secrets in total. */
export async function makeTenant(url: string, secretCount: number): Promise<Tenant> {
  const { org, m2m } = await call<SignedUp>(url, 'POST', '/v1/signup', '', { orgName: 'Bench', orgSlug: 'bench' })
  const machine = `Basic ${Buffer.from(`${m2m.clientId}:${m2m.clientSecret}`).toString('base64')}`
  const at = `/v1/orgs/${org.id}`
  const newToken = async (more: object): Promise<Bearer> => {
    const token = newBearer()
    const body = { name: 'bench', tokenId: token.id, tokenHash: token.hash, publicKeyJwk: publicKeyJwk(), ...more }
    await call(url, 'POST', `${at}/tokens`, machine, body)
    return token
  }
  const admin = await newToken({ role: 'admin' })
  const asAdmin = <T>(method: string, path: string, body: object) =>
    call<T>(url, method, at + path, `Bearer ${admin.bearer}`, body)
  const newEnv = async (path: string): Promise<string> => {
    const body = { name: 'Production', slug: 'production', wrappedDek: wrappedKey() }
    const { environment } = await asAdmin<{ environment: { id: string } }>('POST', `${path}/envs`, body)
    return environment.id
  }
  const { app } = await asAdmin<{ app: { id: string } }>('POST', '/apps', { name: 'App', slug: 'app' })
  const { group } = await asAdmin<{ group: { id: string } }>('POST', '/groups', { name: 'Group', slug: 'group' })
  const environmentId = await newEnv(`/apps/${app.id}`)
  const groupEnvironmentId = await newEnv(`/groups/${group.id}`)
  await asAdmin('POST', `/envs/${environmentId}/groups`, { groupId: group.id })
  const member = await newToken({ role: 'member', environmentId })
  for (const id of [environmentId, groupEnvironmentId]) {
    const grant = { principalType: 'service_token', principalId: member.id, wrappedDek: wrappedKey() }
    await asAdmin('POST', `/envs/${id}/keys`, grant)
  }
  const put = (i: number) => {
    const id = i < groupSecretCount ? groupEnvironmentId : environmentId
    return asAdmin('PUT', `/envs/${id}/secrets/${secretName(i)}`, { ciphertext: newCiphertext() })
  }
  for (let i = 0; i < secretCount; i += putsAtOnce)
    await Promise.all(Array.from({ length: Math.min(putsAtOnce, secretCount - i) }, (_, n) => put(i + n)))
  return { orgId: org.id, environmentId, admin, member }
}

/** Creates more environments of the organization, each in its own application -> their ids. */
export async function newEnvironments(url: string, { orgId, admin }: Tenant, count: number): Promise<string[]> {
  const made = Array.from({ length: count }, async (_, i) => {
    const post = <T>(path: string, body: object) =>
      call<T>(url, 'POST', `/v1/orgs/${orgId}${path}`, `Bearer ${admin.bearer}`, body)
    const { app } = await post<{ app: { id: string } }>('/apps', { name: `App ${i}`, slug: `app-${i}` })
    const body = { name: 'Production', slug: 'production', wrappedDek: wrappedKey() }
    return (await post<{ environment: { id: string } }>(`/apps/${app.id}/envs`, body)).environment.id
  })
  return Promise.all(made)
}

interface SignedUp {
  org: { id: string }
  m2m: { clientId: string; clientSecret: string }
}

/** A ciphertext as long as that of a 48-byte value, such as a connection string or an API key. */
export const newCiphertext = () => ciphertext(48)

/** A service token, and the hash that the server stores. */
export function newBearer(): Bearer & { hash: string } {
  const id = `skt_${randomBytes(11).toString('hex')}`
  const bearer = `${id}_${bearerSecret()}`
  return { id, bearer, hash: createHash('sha256').update(bearer).digest('base64url') }
}

export const secretName = (i: number) => `SECRET_NUMBER_${String(i).padStart(3, '0')}`

/** Sends one request, which must succeed -> its answer. */
export async function call<T>(url: string, method: string, path: string, as: string, body?: object): Promise<T> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: as, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text) as T
}

/** The text of an HTTP/1.1 request. */
export function request(method: string, path: string, bearer: string, body?: object): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const form = text === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n`
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${bearer}\r\n${form}\r\n${text}`
}
