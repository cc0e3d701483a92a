import type { Endpoint } from '@skerry/contract/endpoint'
import { vaultConnect } from '@skerry/contract/vault/connect'
import { vaultExecutor } from '@skerry/contract/vault/executor'
import type { VaultSlot } from '@skerry/contract/vault/facts'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { vaultProjects } from '@skerry/contract/vault/projects'
import type { VaultCatalog, VaultProvider } from '@skerry/contract/vault/schemas'
import { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import type { Static } from 'typebox'
import { sha256 } from '../src/kernel/context.ts'
import { newKey } from './agent-steps.ts'
import { ciphertext, wrappedKey } from './blobs.ts'
import { newMember, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

type Provider = Static<typeof VaultProvider>

const common = { consentSummary: 'Reads your things.', consentVersion: 1 }

export const apiKey: Provider = { id: 'acme', displayName: 'Acme', method: 'api_key', slots: ['api_key'], ...common }
export const oauth: Provider = {
  ...{ id: 'mail', displayName: 'Mail', method: 'oauth2', slots: ['oauth2'] },
  ...{ ...common, scopes: ['mail.read'] },
}
export const site: Provider = {
  id: 'site',
  displayName: 'Site',
  method: 'browser',
  slots: ['login', 'session'],
  ...common,
}
export const catalog: Static<typeof VaultCatalog> = { providers: [apiKey, oauth, site] }

export const returnOrigin = 'https://app.example.com'

/** Makes a public key in the form in which an executor registers it. */
export function newWrappingKey() {
  const { publicKeyJwk } = newKey()
  return { jwk: JSON.parse(publicKeyJwk), thumbprint: sha256(publicKeyJwk) }
}

type WrappingKey = ReturnType<typeof newWrappingKey>

/** Returns the body of a call that must succeed. */
export async function sent<E extends Endpoint>(world: World, endpoint: E, input: Parameters<typeof world.call<E>>[1]) {
  const answer = await world.call(endpoint, input)
  if (answer.status >= 300) throw new Error(`${endpoint.path}: ${answer.error?.message}`)
  return answer.body
}

export async function newProject(world: World, { orgId, admin }: Tenant) {
  const body = { name: 'Product', display: { name: 'Product', returnOrigins: [returnOrigin] } }
  return (await sent(world, vaultProjects.create, { as: admin.as, params: { orgId }, body })).project
}

/** Creates a platform key, as an admin who is a person. */
export async function newPlatformKey(world: World, { orgId }: Tenant, projectId: string, person: { as: string }) {
  const made = { as: person.as, params: { orgId, projectId }, body: { name: 'backend' } }
  const { key, secret } = await sent(world, vaultProjects.createKey, made)
  return { id: key.id, as: `Bearer ${secret}` }
}

export async function newCode(world: World, { orgId }: Tenant, projectId: string, person: { as: string }) {
  const params = { orgId, projectId }
  return (await sent(world, vaultProjects.createRegistrationCode, { as: person.as, params })).code
}

export const registration = (code: string, wrappingKey = newWrappingKey()) => ({
  ...{ code, origin: 'https://executor.example.com', wrappingKey, catalog, sdkVersion: 'test/1' },
})

export async function newExecutor(world: World, code: string, wrappingKey?: WrappingKey) {
  const body = registration(code, wrappingKey)
  const { credential, executorId } = await sent(world, vaultExecutor.register, { body })
  return { id: executorId, as: `Bearer ${credential}`, key: body.wrappingKey }
}

export interface Vault {
  tenant: Tenant
  person: { as: string; id: string }
  projectId: string
  platform: { id: string; as: string }
  executor: { id: string; as: string; key: WrappingKey }
}

/** Creates a project with a platform key and an executor. */
export async function newVault(world: World, tenant: Tenant): Promise<Vault> {
  const person = await newMember(world, tenant, 'admin')
  const projectId = (await newProject(world, tenant)).id
  const platform = await newPlatformKey(world, tenant, projectId, person)
  const executor = await newExecutor(world, await newCode(world, tenant, projectId, person))
  return { tenant, person, projectId, platform, executor }
}

export const newLink = async (world: World, { platform }: Pick<Vault, 'platform'>, more: object = {}) =>
  (
    await sent(world, vaultPlatform.createSession, {
      as: platform.as,
      body: { userRef: 'user-1', providerId: 'acme', returnUrl: `${returnOrigin}/done`, ...more },
    })
  ).session

export const newManageLink = async (world: World, { platform }: Pick<Vault, 'platform'>, userRef = 'user-1') =>
  (await sent(world, vaultPlatform.createManageSession, { as: platform.as, body: { userRef } })).session

/** Opens a link, as a browser does. */
export async function open(world: World, { token }: { token: string }) {
  const { claimToken, session } = await sent(world, vaultConnect.claim, { body: { token } })
  return { claimToken, as: `Bearer ${claimToken}`, session }
}

/** Creates a link that a person has opened and consented to. */
export async function consented(world: World, vault: Pick<Vault, 'platform'>, more: object = {}) {
  const link = await newLink(world, vault, more)
  const opened = await open(world, link)
  await sent(world, vaultConnect.consent, { as: opened.as, body: { consentVersion: 1 } })
  return { ...link, ...opened }
}

export const sealed = ({ executor }: Pick<Vault, 'executor'>) => ({
  ciphertext: ciphertext(),
  wrappedDek: wrappedKey(),
  keyThumbprint: executor.key.thumbprint,
})

export const slotOf = (vault: Pick<Vault, 'executor'>, slot: VaultSlot = 'api_key', revision = 1) => ({
  ...{ slot, revision },
  ...sealed(vault),
})

/** Connects an API key of a person -> the id of the connection. */
export async function newConnection(world: World, vault: Vault, more: object = {}): Promise<string> {
  const { as } = await consented(world, vault, more)
  const { connectionId } = await sent(world, vaultConnect.submit, { as, body: { slots: [slotOf(vault)] } })
  return connectionId
}

/** Connects with any method: the page captures an API key, and the executor captures everything else. */
export async function newConnectionOf(world: World, vault: Vault, provider: Provider): Promise<string> {
  if (provider.method === 'api_key') return newConnection(world, vault)
  const { id } = await consented(world, vault, { providerId: provider.id })
  const slots = provider.slots.map((slot) => slotOf(vault, slot))
  const params = { connectSessionId: id }
  const answer = await sent(world, vaultExecutor.complete, { as: vault.executor.as, params, body: { slots } })
  return answer.connectionId
}

/** A webhook at an address that a server in a test may not reach, so that nothing is sent. */
export const webhookBody = () => ({ url: 'https://10.0.0.1/hook', description: 'Backend' })

/** Creates a webhook with a delivery. It is disabled, so that the server sends nothing to it by itself. */
async function newSending(world: World, { tenant: { orgId, admin }, projectId, platform }: Vault) {
  const { endpoint } = await sent(world, vaultPlatform.createWebhook, { as: platform.as, body: webhookBody() })
  const params = { orgId, projectId, vaultWebhookId: endpoint.id }
  const { deliveryId } = await sent(world, vaultPlatform.testWebhook, { as: platform.as, params })
  await sent(world, vaultWebhooks.update, { as: admin.as, params, body: { status: 'disabled' } })
  return { vaultWebhookId: endpoint.id, vaultDeliveryId: deliveryId }
}

/** A vault with a credential for each of its surfaces. */
export interface Surfaces extends Vault {
  /** The Authorization headers for a link to connect and for a link to manage. */
  connects: string
  manages: string
  params: Record<string, string>
}

/** Creates a vault with one object of each kind that a path of the vault can name. */
export async function newSurfaces(world: World, tenant: Tenant): Promise<Surfaces> {
  const vault = await newVault(world, tenant)
  const vaultConnectionId = await newConnection(world, vault)
  const { as: connects, id: connectSessionId } = await consented(world, vault)
  const { as: manages } = await open(world, await newManageLink(world, vault))
  const { projectId, platform } = vault
  const sending = await newSending(world, vault)
  const params = {
    ...{ projectId, vaultKeyId: platform.id, connectSessionId, vaultConnectionId, slot: 'api_key', userRef: 'user-0' },
    ...sending,
  }
  return { ...vault, connects, manages, params }
}

/** Returns the credential for an endpoint of the vault, and undefined for all other endpoints. */
export function bearerFor(surfaces: Surfaces, { surface, path }: Pick<Endpoint, 'surface' | 'path'>) {
  if (surface === 'platform') return surfaces.platform.as
  if (surface === 'executor') return surfaces.executor.as
  if (surface === 'claim') return path.includes('/manage') ? surfaces.manages : surfaces.connects
  return undefined
}
