import { accessSync, constants } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { ConfigError } from '@skerry/proxy/config/read'
import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core'
import type { Config } from '../config/config.ts'

/** The name of Chromium in Debian, and its names elsewhere. */
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

const profilesFolder = (stateFolder: string) => join(stateFolder, 'browsers')

/** @throws ConfigError if the settings have sites and this machine cannot open them. */
export function checkChromium({ sites, browser }: Config): void {
  if (sites.length === 0) return
  findChromium(browser.executable)
  if (browser.sandbox && process.getuid?.() === 0)
    throw new ConfigError(
      'browser.sandbox',
      'does not work as root: run the executor as another user, or set it to false',
    )
}

function findChromium(executable: string | undefined): string {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const candidates = executable ? [executable] : folders.flatMap((folder) => names.map((name) => join(folder, name)))
  const found = candidates.find(isExecutable)
  if (found === undefined)
    throw new ConfigError(
      'browser.executable',
      executable ? `cannot be started: ${executable}` : 'there is no Chromium in PATH',
    )
  return found
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Removes the profiles that a killed process left. Its browsers ended with it, because their pipe closed. */
export const removeProfiles = (stateFolder: string): Promise<void> =>
  rm(profilesFolder(stateFolder), { recursive: true, force: true, maxRetries: 5 })

export interface Chromium {
  context: BrowserContext
  browser: Browser
  close(): Promise<void>
}

/**
 * Starts a separate Chromium for one session, so that no two people share a process. The session stays in memory, in a
 * context that writes no profile. The profile of the process is deleted when the process ends.
 */
export async function startChromium(
  { config: { browser: settings }, stateFolder }: { config: Config; stateFolder: string },
  id: string,
  gateUrl: string,
  options: BrowserContextOptions,
): Promise<Chromium> {
  const profile = join(profilesFolder(stateFolder), id)
  const { chromium } = await import('playwright-core')
  await mkdir(profile, { recursive: true, mode: 0o700 })
  const remove = () => rm(profile, { recursive: true, force: true, maxRetries: 5 })
  try {
    const outer = await chromium.launchPersistentContext(profile, {
      executablePath: findChromium(settings.executable),
      chromiumSandbox: settings.sandbox,
      proxy: { server: gateUrl },
      args: [
        // Every name lookup and every packet must go through the gate.
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
        '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
      ],
      // Chromium does not get the environment of the executor, because it contains the executor's token.
      env: { PATH: process.env.PATH ?? '', HOME: profile, LANG: process.env.LANG ?? 'C.UTF-8' },
      artifactsDir: profile,
      ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
    })
    const browser = outer.browser()!
    const close = async () => {
      await browser.close().catch(() => {})
      await remove()
    }
    const context = await browser.newContext({ acceptDownloads: false, ...options }).catch(async (error) => {
      await close()
      throw error
    })
    return { context, browser, close }
  } catch (error) {
    await remove()
    throw error
  }
}
