import { rotation } from '@skerry/contract/rotation/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { type Dek, importDek, newDek, openSecret, sealSecret } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import { known, only, type Step, step, user } from './step.ts'
import { type Actor, newApp, newEnv, putSecret, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** An environment whose key the suite knows, so that it can read and write secrets. */
export interface KeyedEnv {
  envId: string
  bytes: ReturnType<typeof newDek>
  dek: Dek
  put(name: string, value: string): Promise<void>
  /** The current value, or undefined if there is none. */
  read(name: string): Promise<string | undefined>
  /** All current values, from a single request. */
  readAll(): Promise<Map<string, string>>
}

export async function newKeyedEnv(world: World, tenant: Tenant, envId?: string): Promise<KeyedEnv> {
  const id = envId ?? (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
  const bytes = newDek()
  return keyedEnv(world, tenant, id, bytes)
}

export async function keyedEnv(
  world: World,
  tenant: Tenant,
  envId: string,
  bytes: ReturnType<typeof newDek>,
): Promise<KeyedEnv> {
  const dek = await importDek(bytes)
  const env: KeyedEnv = {
    envId,
    bytes,
    dek,
    async put(name, value) {
      await putSecret(world, tenant, envId, name, await sealSecret(value, dek, envId, name))
    },
    async read(name) {
      return (await env.readAll()).get(name)
    },
    async readAll() {
      const params = { orgId: tenant.orgId, envId }
      const { body } = await world.call(secrets.list, { as: tenant.admin.as, params })
      const open = async ({ name, ciphertext }: { name: string; ciphertext: string }) =>
        [name, await openSecret(ciphertext, dek, envId, name)] as const
      return new Map(await Promise.all(body.secrets.map(open)))
    },
  }
  return env
}

/** Wraps an environment’s key to the organization’s rotator key, as clients do. */
export async function wrappedForRotator(
  world: World,
  { orgId, admin }: Tenant,
  bytes: KeyedEnv['bytes'],
): Promise<string> {
  const { body } = await world.call(rotation.rotatorKey, { as: admin.as, params: { orgId } })
  return wrapKey(bytes, body.publicKeyJwk)
}

/** The body of a new rotation. An empty environment gets a secret first, because the server checks the key with it. */
export async function generatedRotation(world: World, tenant: Tenant, env: KeyedEnv, more: object = {}) {
  if ((await env.readAll()).size === 0) await env.put('PRESENT', 'since before')
  return rotationBody(world, tenant, env, more)
}

/** The body of a new rotation in an environment that has a secret. */
export async function rotationBody(
  world: World,
  tenant: Tenant,
  env: Pick<KeyedEnv, 'envId' | 'bytes'>,
  more: object = {},
) {
  return {
    environmentId: env.envId,
    secretName: 'ROTATED',
    config: { kind: 'generated' as const },
    intervalSeconds: 3600,
    wrappedDek: await wrappedForRotator(world, tenant, env.bytes),
    ...more,
  }
}

/** Creates a rotation policy. Throws if the server refuses it. */
export async function newRotation(world: World, tenant: Tenant, body: object) {
  const answer = await world.call(rotation.create, {
    as: tenant.admin.as,
    params: { orgId: tenant.orgId },
    body: body as never,
  })
  if (answer.status > 201) throw new Error(answer.error?.message)
  return answer.body
}

/** The step that pauses a policy. Entries of other steps name ids that no response has: see audited-otherwise.ts. */
export async function rotating(
  world: World,
  ids: Record<string, string>,
  tenant: Tenant,
  admin: Actor,
): Promise<Step[]> {
  const env = await newKeyedEnv(world, tenant)
  const made = await newRotation(world, tenant, await generatedRotation(world, tenant, env))
  ids.rotationId = made.rotation.id
  return [
    step(
      rotation.update,
      'rotation.updated',
      { as: admin.as, who: user(admin) },
      {
        params: only(ids, { rotationId: 'rotationId' }),
        body: () => ({ status: 'paused' }),
        resource: known(ids, 'rotationId'),
      },
    ),
  ]
}
