import { rekey } from '@skerry/contract/rekey/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { ciphertext, wrappedKey } from './blobs.ts'
import { mailsWritten } from './state.ts'
import { type Actor, grantKey, newApp, newEnv, newMember, newToken, putSecret, signUp, type Tenant } from './tenant.ts'
import { openWorld, type World } from './world.ts'

interface Scene {
  world: World
  tenant: Tenant
  envId: string
  holder: Actor
  person: Actor
}

/**
 * Sets up a suite on re-keying. Before each test it makes an environment with A at version 1 and B at version 2. The
 * admin token, a member token and a person who is an admin have its key.
 */
export function rekeying() {
  const scene = {} as Scene
  beforeAll(async () => {
    scene.world = await openWorld()
    scene.tenant = await signUp(scene.world)
    scene.person = await newMember(scene.world, scene.tenant, 'admin')
    await mailsWritten(scene.world)
  })
  afterAll(() => scene.world.close())
  beforeEach(async () => {
    const { world, tenant, person } = scene
    scene.envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
    scene.holder = await newToken(world, tenant)
    for (const actor of [scene.holder, person]) await grantKey(world, tenant, scene.envId, actor)
    for (const name of ['A', 'B', 'B']) await putSecret(world, tenant, scene.envId, name)
  })

  const params = () => ({ orgId: scene.tenant.orgId, envId: scene.envId })
  const to = ({ id }: Actor) => ({
    principalType: id.startsWith('usr_') ? ('user' as const) : ('service_token' as const),
    principalId: id,
    wrappedDek: wrappedKey(),
  })
  const bodyOf = (more: { expectedVersions?: Record<string, number>; kept?: Actor[]; names?: string[] } = {}) => {
    const expectedVersions = more.expectedVersions ?? { A: 1, B: 2 }
    const names = more.names ?? Object.keys(expectedVersions)
    return {
      expectedVersions,
      grants: (more.kept ?? [scene.tenant.admin, scene.holder]).map(to),
      secrets: names.map((name) => ({ name, ciphertext: ciphertext() })),
    }
  }
  const run = (body: object = bodyOf(), as = scene.tenant.admin.as) =>
    scene.world.call(rekey.run, { as, params: params(), body: body as Record<string, unknown> })
  const listed = async () => {
    const { body } = await scene.world.call(secrets.list, { as: scene.tenant.admin.as, params: params() })
    return body.secrets.map(({ name, version, ciphertext }) => ({ name, version, ciphertext }))
  }
  return { scene, params, bodyOf, run, listed }
}
