import { createCipheriv, randomBytes } from 'node:crypto'
import { signup } from '@skerry/contract/signup/endpoints'
import { exportPrivateKey, generateKeyPair } from '@skerry/crypto/keys'
import { createSkerry } from '@skerry/sdk'
import { type Client, type ClientSettings, createClient } from '@skerry/sdk/client'
import { createBranch, createEnvironment } from '@skerry/sdk/environments'
import { type EnvironmentKey, grantEnvironment, sealFor } from '@skerry/sdk/secrets'
import { bootstrapAdmin, type CreatedServiceToken, createServiceToken } from '@skerry/sdk/tokens'
import { useDatabase, useManagedKeys } from './canary-targets.ts'
import { type Needle, needle } from './needles.ts'
import type { World } from './world.ts'

export interface Journey {
  canary: string
  orgId: string
  envId: string
  admin: CreatedServiceToken
  /** Each of these values may be in one response only, the one that issues it. */
  shownOnce: Needle[]
  /** These values must not appear anywhere. */
  secret: Needle[]
}

/** An ordinary client whose responses are also stored in `world.answers`. */
export function clientOf(world: World, credential?: ClientSettings['credential']): Client {
  return createClient({
    baseUrl: world.url,
    fetch: keeping(world),
    ...(credential ? { credential } : {}),
  })
}

const keeping = (world: World) => async (url: string, init: RequestInit) => {
  const response = await fetch(url, init)
  world.answers.push(`${JSON.stringify([...response.headers])} ${await response.clone().text()}`)
  return response
}

/** Uses secrets, leases, rotation and managed keys as a team does, with the real cryptography of the clients. */
export async function travel(world: World, canary: string): Promise<Journey> {
  const { org, m2m } = (await world.call(signup.create, { body: { orgName: 'Acme', orgSlug: 'acme' } })).body
  const machine = clientOf(world, m2m)
  const access = await machine.oauth.token({ body: { grant_type: 'client_credentials' } })
  const admin = await bootstrapAdmin(machine, { name: 'admin' })
  const client = clientOf(world, { bearer: admin.parsed.bearer })
  const person = await keyedPerson(world, client, org.id)
  const places = await buildPlaces(client, org.id, admin)
  for (const { id, key } of places.all) {
    const grantee = { principalType: 'user' as const, principalId: person.id, publicKeyJwk: person.publicKeyJwk }
    await grantEnvironment(client, { orgId: org.id, envId: id, ...grantee }, key.bytes)
  }
  const reader = await writeAndRead(world, client, { orgId: org.id, places, canary })
  const traveller = { orgId: org.id, admin: admin.parsed, env: places.env }
  const targets = await useDatabase(client, traveller)
  const managed = await useManagedKeys(client, traveller, canary)
  const keys = places.all.map(({ key }, index) => needle(`data key ${index}`, key.bytes))
  const tokens = [admin, ...reader].flatMap(({ token, parsed }) => [
    needle('token', token),
    needle('token’s key part', Buffer.from(token.slice(27), 'base64url')),
    needle('bearer', parsed.bearer),
    needle('bearer’s secret part', parsed.bearer.slice(27)),
  ])
  return {
    canary,
    orgId: org.id,
    envId: places.env.id,
    admin,
    shownOnce: [needle('client secret', m2m.clientSecret), needle('access token', access.access_token)],
    secret: [needle('value', canary), ...keys, ...tokens, ...person.secret, ...targets, ...managed],
  }
}

interface Keyed {
  id: string
  key: EnvironmentKey
}

async function keyedPerson(world: World, admin: Client, orgId: string) {
  const email = 'person@example.com'
  await admin.invites.create({ params: { orgId }, body: { email, role: 'admin' } })
  const jwt = await world.issuer.token({ sub: 'sub-person', email, email_verified: true })
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  const pkcs8 = await exportPrivateKey(privateKey)
  const client = clientOf(world, { bearer: jwt })
  await client.me.putKeys({ body: { publicKeyJwk, encryptedPrivateKey: sealed(pkcs8) } })
  await client.me.getKeys()
  for (const { id: inviteId } of (await client.ownInvites.list()).invites)
    await client.ownInvites.accept({ params: { inviteId } })
  const { principal } = await client.me.get()
  return { id: principal.id, publicKeyJwk, secret: [needle('session', jwt), needle('private key', pkcs8)] }
}

/** Returns the private key in the format of one encrypted with a passphrase. The key is random: nobody decrypts it. */
function sealed(pkcs8: Uint8Array): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', randomBytes(32), iv)
  const text = Buffer.concat([cipher.update(pkcs8), cipher.final(), cipher.getAuthTag()])
  return ['pk1', '65536-3-1', ...[randomBytes(16), iv, text].map((bytes) => bytes.toString('base64url'))].join('.')
}

interface Places {
  all: Keyed[]
  env: Keyed
  group: Keyed
  branch: Keyed
}

async function buildPlaces(client: Client, orgId: string, admin: CreatedServiceToken): Promise<Places> {
  const { publicKeyJwk } = admin.parsed
  const { app } = await client.apps.create({ params: { orgId }, body: { name: 'Web', slug: 'web' } })
  const { group } = await client.groups.create({ params: { orgId }, body: { name: 'Shared', slug: 'shared' } })
  const slug = { orgId, name: 'Production', slug: 'production' }
  const made = await createEnvironment(client, { ...slug, appId: app.id }, publicKeyJwk)
  const env = { id: made.environment.id, key: made.key }
  const shared = await createEnvironment(client, { ...slug, groupId: group.id }, publicKeyJwk)
  await client.composition.set({ params: { orgId, envId: env.id }, body: { groupId: group.id } })
  const forkOf = { orgId, envId: env.id, slug: 'feature', reads: () => true }
  const forked = await createBranch(client, forkOf, publicKeyJwk)
  const branch = { id: forked.branch.id, key: forked.key }
  const inGroup = { id: shared.environment.id, key: shared.key }
  return { all: [env, inGroup, branch], env, group: inGroup, branch }
}

interface Work {
  orgId: string
  places: Places
  canary: string
}

/** Writes the value to every environment, restores it and reads it with a token of each format. Returns the tokens. */
async function writeAndRead(world: World, client: Client, { orgId, places, canary }: Work) {
  for (const { id: envId, key } of places.all)
    for (const value of [canary, `${canary}!`]) {
      const ciphertext = await sealFor(envId, 'VALUE', value, key.dek)
      await client.secrets.put({ params: { orgId, envId, name: 'VALUE' }, body: { ciphertext } })
    }
  const ofEnv = { orgId, envId: places.env.id, name: 'VALUE' }
  await client.secrets.restore({ params: ofEnv, body: { version: 1 } })
  await client.secrets.versions({ params: ofEnv })
  await client.secrets.list({ params: { orgId, envId: places.env.id } })
  const readers = []
  for (const format of ['skerry', 'classic'] as const) {
    const made = await createServiceToken(client, { orgId, name: format, environmentId: places.env.id, format })
    const grantee = { principalType: 'service_token' as const, principalId: made.serviceToken.id }
    for (const { id, key } of places.all) {
      const place = { orgId, envId: id, ...grantee, publicKeyJwk: made.parsed.publicKeyJwk }
      await grantEnvironment(client, place, key.bytes)
    }
    readers.push(made)
    const settings = { baseUrl: world.url, token: made.token, fetch: keeping(world) }
    const plain = await createSkerry(settings).get('VALUE')
    const branched = await createSkerry({ ...settings, branch: 'feature' }).get('VALUE')
    if (plain !== canary || branched !== `${canary}!`) throw new Error('what was written is read')
  }
  await client.secrets.delete({ params: { orgId, envId: places.group.id, name: 'VALUE' } })
  await client.tokens.revoke({ params: { orgId, tokenId: readers[0]?.serviceToken.id as string } })
  await client.tokens.delete({ params: { orgId, tokenId: readers[0]?.serviceToken.id as string } })
  await client.audit.list({ params: { orgId } })
  await client.tokens.list({ params: { orgId } })
  return readers
}
