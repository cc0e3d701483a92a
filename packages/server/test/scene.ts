import { afterAll, beforeEach } from 'vitest'
import { makeOneOfEach } from './callers.ts'
import { startAppPlatform } from './services/app-platform.ts'
import { startMailServer } from './services/smtp.ts'
import { stopSchedules } from './state.ts'
import { newApp, newEnv, signUp } from './tenant.ts'
import { openWorld } from './world.ts'

/**
 * Opens a world with one tenant, until the end of the suite. Call it at the top of the file:
 *
 * @example const { world, tenant } = await openTenant()
 */
export async function openTenant(settings?: Record<string, string>) {
  const world = await openWorld(settings)
  afterAll(() => world.close())
  return { world, tenant: await signUp(world) }
}

/** Like `openTenant`, with an application and an environment. */
export async function openEnv(settings?: Record<string, string>) {
  const { world, tenant } = await openTenant(settings)
  const appId = (await newApp(world, tenant)).id
  const envId = (await newEnv(world, tenant, appId)).id
  return { world, tenant, appId, envId }
}

/** Like `openTenant`, with a platform to which the server pushes. Before each test the platform answers normally. */
export async function openSync() {
  const platform = await startAppPlatform()
  // Hooks run in reverse order: the world, which may still call the platform, is closed first.
  afterAll(() => platform.stop())
  beforeEach(() => platform.answer(null))
  return { platform, ...(await openTenant(platform.settings)) }
}

/** Like `openTenant`, with an SMTP server that keeps the mails. */
export async function openMailed() {
  const mails = await startMailServer()
  // Hooks run in reverse order: the world, which may still send mails, is closed first.
  afterAll(() => mails.close())
  const settings = { SKERRY_SMTP_URL: mails.url, SKERRY_BASE_URL: 'https://skerry.example' }
  return { mails, ...(await openTenant(settings)) }
}

/** Opens a world with one object of each kind that a path can name. No scheduled job changes anything in it. */
export async function openOneOfEach() {
  const world = await openWorld()
  afterAll(() => world.close())
  await stopSchedules(world)
  return { world, place: await makeOneOfEach(world) }
}
