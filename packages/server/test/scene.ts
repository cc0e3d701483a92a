import { afterAll, beforeEach } from 'vitest'
import { buildPlace } from './callers.ts'
import { startAppPlatform } from './services/app-platform.ts'
import { stopSchedules } from './state.ts'
import { newApp, newEnv, signUp } from './tenant.ts'
import { openWorld } from './world.ts'

/**
 * For a suite on what one organization does: a world and a tenant in it, until the suite's end. At the top of its file:
 *
 * @example const { world, tenant } = await openTenant()
 */
export async function openTenant(settings?: Record<string, string>) {
  const world = await openWorld(settings)
  afterAll(() => world.close())
  return { world, tenant: await signUp(world) }
}

/** The same with an application and an environment of it. */
export async function openEnv(settings?: Record<string, string>) {
  const { world, tenant } = await openTenant(settings)
  const appId = (await newApp(world, tenant)).id
  const envId = (await newEnv(world, tenant, appId)).id
  return { world, tenant, appId, envId }
}

/** The same with a platform that its server pushes to. What a test makes the platform answer ends with the test. */
export async function openSync() {
  const platform = await startAppPlatform()
  // Hooks run in reverse: the world, which may still have calls there, ends first.
  afterAll(() => platform.stop())
  beforeEach(() => platform.answer(null))
  return { platform, ...(await openTenant(platform.settings)) }
}

/** A world with one of everything that a path can name, in which nothing changes by itself. */
export async function openPlace() {
  const world = await openWorld()
  afterAll(() => world.close())
  await stopSchedules(world)
  return { world, place: await buildPlace(world) }
}
