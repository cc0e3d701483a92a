import type { Answer, Body } from '@skerry/contract/endpoint'
import type { sync } from '@skerry/contract/sync/endpoints'
import { encodeUtf8 } from '@skerry/crypto/base64url'
import { newId } from '@skerry/crypto/random'
import { wrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import type { EnvironmentKey } from './environment-key.ts'
import { pagesOf } from './pages.ts'

export type SyncConnection = Answer<typeof sync.updateConnection>['connection']
export type SyncBinding = Answer<typeof sync.updateBinding>['binding']
export type SyncPlan = Answer<typeof sync.plan>['plan']
export type SyncRun = Answer<typeof sync.run>['run']

/** The settings of a binding as the API takes them. The wrapped keys are missing, because this module makes them. */
export type BindingSettings = Omit<Body<typeof sync.createBinding>, 'wrappedDeks' | 'acknowledgedDecryption'>

/** The key of a layer that a binding reads. */
export interface LayerKey {
  envId: string
  key: Pick<EnvironmentKey, 'bytes'>
}

/**
 * Creates a sync connection. The credential is wrapped to the connection's own key, whose private half the server has:
 * **the server can read it**. Tell this to the person who enters the credential.
 *
 * @param credential in the form that `credential` of the provider's row in the contract describes: a token, a key,
 *   JSON.
 * @throws RefusedError `invalid_request`, `forbidden`, `conflict` (the name is in use); UnavailableError.
 * @example
 * const config = { provider: 'app-platform-c' } as const
 * const connection = await createSyncConnection(client, { orgId, name: 'shop', config, credential: 'fo1_...' })
 */
export async function createSyncConnection(
  client: Client,
  settings: { orgId: string; name: string; config: BindingSettings['destination']; credential: string },
): Promise<SyncConnection> {
  const { orgId, credential, ...body } = settings
  const id = newId('syncConnection')
  const { publicKeyJwk } = await client.sync.publicKey({ params: { orgId, connectionId: id } })
  const wrappedCredential = await wrapKey(encodeUtf8(credential), publicKeyJwk)
  return (await client.sync.createConnection({ params: { orgId }, body: { id, ...body, wrappedCredential } }))
    .connection
}

/**
 * Replaces the credential of a connection, which the server can read. Pushes that failed with the old credential are
 * tried again soon.
 *
 * @param connection the caller must have checked its public key
 * @throws The errors of `createSyncConnection`.
 * @example await replaceSyncCredential(client, connection, { orgId, credential: 'fo1_...' })
 */
export async function replaceSyncCredential(
  client: Client,
  { id: connectionId, publicKeyJwk }: Pick<SyncConnection, 'id' | 'publicKeyJwk'>,
  { orgId, credential }: { orgId: string; credential: string },
): Promise<SyncConnection> {
  const wrappedCredential = await wrapKey(encodeUtf8(credential), publicKeyJwk)
  const params = { orgId, connectionId }
  return (await client.sync.updateConnection({ params, body: { wrappedCredential } })).connection
}

/**
 * Binds an environment to a destination. The keys of the environment, of a branch's parent and of all composed groups
 * are wrapped to the connection: **from then on the server can read them**, until no binding needs them. Ask the person
 * first. In mode `auto` the first push follows, unless `enabled` is false.
 *
 * @param layers every layer that the environment is resolved from, which the caller can read
 * @throws RefusedError `invalid_request`, `forbidden`, `not_found`; `conflict` if another binding writes the same
 *   names.
 * @example
 * const destination = { provider: 'app-platform-c', appName: 'shop' } as const
 * const settings = { environmentId: envId, destination, enabled: false }
 * const binding = await bindEnvironment(client, connection, { orgId, ...settings }, layers)
 */
export async function bindEnvironment(
  client: Client,
  connection: Pick<SyncConnection, 'id' | 'publicKeyJwk'>,
  { orgId, ...settings }: Omit<BindingSettings, 'connectionId'> & { orgId: string },
  layers: readonly LayerKey[],
): Promise<SyncBinding> {
  const wrappedDeks = await wrapLayers(connection, layers)
  const body = { ...settings, connectionId: connection.id, wrappedDeks, acknowledgedDecryption: true }
  return (await client.sync.createBinding({ params: { orgId }, body })).binding
}

/**
 * Gives the connection of a binding the keys that it lacks, such as the key of a group that was composed later.
 *
 * @throws The errors of `bindEnvironment`.
 * @example await giveSyncKeys(client, connection, { orgId, bindingId }, layers)
 */
export async function giveSyncKeys(
  client: Client,
  connection: Pick<SyncConnection, 'id' | 'publicKeyJwk'>,
  params: { orgId: string; bindingId: string },
  layers: readonly LayerKey[],
): Promise<SyncBinding> {
  const body = { wrappedDeks: await wrapLayers(connection, layers), acknowledgedDecryption: true }
  // A signer signs the connection that got the keys, and not another one that the server names.
  const typed = { connectionId: connection.id }
  return (await client.sync.updateBinding({ params, body }, { typed })).binding
}

const wrapLayers = ({ publicKeyJwk }: Pick<SyncConnection, 'publicKeyJwk'>, layers: readonly LayerKey[]) =>
  Promise.all(
    layers.map(async ({ envId, key }) => ({
      environmentId: envId,
      wrappedDek: await wrapKey(key.bytes, publicKeyJwk),
    })),
  )

/** The most rows that the server returns on one page. */
const limit = 100

/**
 * Lists every sync connection of an organization.
 *
 * @throws RefusedError `forbidden`; UnavailableError.
 * @example const connections = await listSyncConnections(client, orgId)
 */
export async function listSyncConnections(client: Client, orgId: string): Promise<SyncConnection[]> {
  const all: SyncConnection[] = []
  const read = (page: object) => client.sync.connections({ params: { orgId }, query: { limit, ...page } })
  for await (const { connections } of pagesOf(read)) all.push(...connections)
  return all
}

/**
 * Lists every sync binding of an organization.
 *
 * @throws RefusedError `forbidden`; UnavailableError.
 * @example const bindings = await listSyncBindings(client, orgId)
 */
export async function listSyncBindings(client: Client, orgId: string): Promise<SyncBinding[]> {
  const all: SyncBinding[] = []
  const read = (page: object) => client.sync.bindings({ params: { orgId }, query: { limit, ...page } })
  for await (const { bindings } of pagesOf(read)) all.push(...bindings)
  return all
}
