import type { Bytes } from '@skerry/crypto/base64url'
import { openSecret } from '@skerry/crypto/secret'
import type { ParsedToken } from '@skerry/crypto/token'
import { unwrapKey } from '@skerry/crypto/wrap'
import type { Client } from '@skerry/sdk/client'
import { createManagedKey, openManagedKey, rotateManagedKey } from '@skerry/sdk/internal/kms'
import { configureRotation } from '@skerry/sdk/internal/rotation'
import { createLease, createLeaseTarget } from '@skerry/sdk/leases'
import type { EnvironmentKey } from '@skerry/sdk/secrets'
import { password } from '../../providers/test/leases/mint.ts'
import { type Needle, needle } from './needles.ts'
import { missingPostgres } from './services/postgres.ts'
import { openShop, type Shop } from './shop.ts'

// The part of the canary suite on leases and rotation, for which the server has keys, and on managed keys, which the
// server only stores.

interface Traveller {
  orgId: string
  admin: ParsedToken
  env: { id: string; key: EnvironmentKey }
}

/** Mints a lease and rotates passwords of a database -> the values that only the target and clients may know. */
export async function useDatabase(client: Client, traveller: Traveller): Promise<Needle[]> {
  if (missingPostgres() !== undefined) return [needle('rotated value', await rotate(client, traveller, 'RANDOM', {}))]
  const shop = await openShop(['app'])
  try {
    const adminSecret = password()
    await shop.root.query(`ALTER ROLE skerry_admin PASSWORD '${adminSecret}'`)
    const target = await addShop(client, traveller, shop, adminSecret)
    const lease = await createLease(client, { orgId: traveller.orgId, target, ttlSeconds: 600 })
    if (lease.provider !== 'postgres' || !(await shop.signsIn(lease.connection.username, lease.password)))
      throw new Error('a lease signs in')
    await sendInClear(client, traveller, target.id, lease.password)
    const account = { kind: 'postgres', username: 'app' }
    const more = { config: account, targetId: target.id }
    const rotated = [
      await rotate(client, traveller, 'DB_PASSWORD', more),
      await rotate(client, traveller, 'RANDOM', {}),
    ]
    if (!(await shop.signsIn('app', rotated[0]))) throw new Error('a rotated password signs in')
    // From here on the target refuses the admin, so that the rotation and the end of the lease fail.
    await shop.root.query('ALTER ROLE skerry_admin NOLOGIN')
    await rotate(client, traveller, 'DB_PASSWORD', { ...more, rotateNow: true }).catch(() => {})
    await client.leases.revoke({ params: { orgId: traveller.orgId, leaseId: lease.lease.id } })
    return [
      needle('admin credential', adminSecret),
      needle('lease password', lease.password),
      ...rotated.map((value) => needle('rotated value', value)),
    ]
  } finally {
    await shop.stop()
  }
}

const addShop = (client: Client, { orgId }: Traveller, { connection }: Shop, adminSecret: string) =>
  createLeaseTarget(client, {
    orgId,
    name: 'shop',
    config: { provider: 'postgres', executor: 'in_broker', connection, accessLevel: 'readonly', schema: 'public' },
    adminSecret: `postgres://skerry_admin:${adminSecret}@127.0.0.1:${connection.port}/${connection.database}`,
  })

/** Sends the password as the verifier, as a faulty client might. The server must refuse it. */
async function sendInClear(client: Client, { orgId }: Traveller, targetId: string, verifier: string): Promise<void> {
  const body = { provider: 'postgres' as const, targetId, roleName: 'in_clear', verifier, ttlSeconds: 600 }
  await client.leases.create({ params: { orgId }, body }).then(
    () => Promise.reject(new Error('a password is no verifier')),
    () => {},
  )
}

/** Rotates a secret once -> its value. */
async function rotate(client: Client, { orgId, env }: Traveller, secretName: string, more: object): Promise<string> {
  const rotator = await client.rotation.rotatorKey({ params: { orgId } })
  const generated = { config: { kind: 'generated' as const }, intervalSeconds: 3600, rotateNow: true }
  const settings = { orgId, environmentId: env.id, secretName, ...generated, ...more }
  const { rotation, version } = await configureRotation(client, settings, env.key, rotator)
  if (version === undefined) throw new Error(rotation.lastError ?? 'it was not rotated')
  const { secrets } = await client.secrets.list({ params: { orgId, envId: env.id } })
  const ciphertext = secrets.find(({ name }) => name === secretName)?.ciphertext as string
  return openSecret(ciphertext, env.key.dek, env.id, secretName)
}

/** Creates, rotates and uses managed keys -> their key material. Data encrypted with them never reaches the server. */
export async function useManagedKeys(client: Client, { orgId, admin }: Traveller, canary: string): Promise<Needle[]> {
  const { tokenId: principalId, publicKeyJwk, privateKey } = admin
  const grantees = [{ principalType: 'service_token' as const, principalId, publicKeyJwk }]
  const found: Needle[] = []
  for (const spec of ['aes-256-gcm', 'ed25519'] as const) {
    const { key } = await createManagedKey(client, { orgId, name: spec, spec, grantees })
    await rotateManagedKey(client, { orgId, key, grantees })
    const place = { orgId, kmsKeyId: key.id }
    const opened = await openManagedKey(client, place, privateKey)
    const plaintext = new TextEncoder().encode(canary) as Bytes
    if (spec === 'ed25519') await opened.sign(plaintext)
    else await opened.decrypt(await opened.encrypt(plaintext))
    await client.kms.disable({ params: place })
    await client.kms.enable({ params: place })
    for (const { version, wrappedKey } of (await client.kms.own({ params: place })).grants)
      found.push(needle(`version ${version} of the ${spec} key`, await unwrapKey(wrappedKey, privateKey)))
  }
  return found
}
