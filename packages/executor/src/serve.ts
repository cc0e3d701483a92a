import type { AddressInfo } from 'node:net'
import { openEgress, systemResolve } from '@skerry/proxy/egress'
import { openUpstreams } from '@skerry/proxy/upstream'
import { createClient } from '@skerry/sdk/client'
import { sleep } from '@skerry/sdk/internal/transport'
import { checkChromium, removeProfiles } from './browser/chromium.ts'
import { openLeases } from './browser/leases.ts'
import { catalogOf } from './config/catalog.ts'
import type { Config } from './config/config.ts'
import { openFlows } from './connect/flows.ts'
import { openCredentials } from './credentials.ts'
import type { Executor } from './executor.ts'
import { disabled, fail, isDisabled } from './http/refusal.ts'
import { routes } from './http/routes.ts'
import { executorServer } from './http/server.ts'
import { acceptSockets } from './http/sockets.ts'
import { readKeys } from './keys/keys.ts'
import { type Registration, readRegistration } from './keys/registration.ts'
import { checkWritable } from './keys/state.ts'
import { openOAuthClients } from './oauth/client.ts'
import { openJournal } from './oauth/journal.ts'
import { openRefresher } from './oauth/refresh.ts'
import { sdkVersion } from './version.ts'

export interface Settings {
  config: Config
  /** Folder of the keys, the registration and the unfinished refreshes. */
  stateFolder: string
  /** The token that the backend has to send. */
  token: string
  environment?: Readonly<Record<string, string | undefined>>
  now?: () => Date
  warn?: (message: string) => void
}

export interface Running {
  /** The address on which it listens. Clients usually reach it at another one. */
  url: string
  executor: Executor
  close(): Promise<void>
}

const tokenCharactersMin = 24
const aliveEveryMs = 60_000

/**
 * Starts a registered executor: it sends its catalog to the server, finishes interrupted refreshes, and listens.
 *
 * @throws Error with what to fix; SkerryError if the server refuses or is unreachable.
 */
export async function serve(settings: Settings): Promise<Running> {
  const { config, token } = settings
  if (token.length < tokenCharactersMin)
    throw new Error(`SKERRY_EXECUTOR_TOKEN must have at least ${tokenCharactersMin} characters`)
  const registration = await readRegistration(settings.stateFolder)
  if (registration.origin !== config.origin)
    throw new Error(`the executor is registered as ${registration.origin}, but the settings say ${config.origin}`)
  checkChromium(config)
  await checkWritable(settings.stateFolder)
  await removeProfiles(settings.stateFolder)
  const executor = assemble(settings, registration)
  await executor.keys()
  await executor.server.catalog({ body: { catalog: catalogOf(config), sdkVersion } }).catch((error) => {
    throw isDisabled(error) ? new Error(disabled) : error
  })
  await executor.refresher.recover()
  const server = executorServer(executor, routes)
  acceptSockets(server, executor)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject).listen(config.listen, resolve)
  await promise
  const ended = new AbortController()
  stayAlive(executor, ended.signal)
  const { address, port } = server.address() as AddressInfo
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${port}`,
    executor,
    async close() {
      ended.abort()
      await executor.leases.close()
      server.closeIdleConnections()
      await new Promise((done) => server.close(done))
      executor.upstreams.close()
    },
  }
}

function assemble(settings: Settings, { server: baseUrl, origin, credential }: Registration): Executor {
  const { config, stateFolder, token, environment = process.env, now = () => new Date(), warn = () => {} } = settings
  const server = createClient({ baseUrl, credential: { bearer: credential }, userAgent: sdkVersion }).vaultExecutor
  const keys = async () => {
    const found = await readKeys(stateFolder)
    if (!found) throw fail('unavailable', 'the keys of this executor are missing: restore keys.json from your copy')
    return found
  }
  const credentials = openCredentials({ server, keys, warn })
  const oauth = openOAuthClients(config, environment, now)
  const journal = openJournal(stateFolder)
  const connectUrl = (config.connectUrl?.href ?? `${baseUrl}/connect`).replace(/\/$/, '')
  const upstreams = openUpstreams(openEgress({ blockPrivateIps: true, allowCidr: config.allowNetworks }, systemResolve))
  return {
    ...{ config, stateFolder, origin, token, connectUrl, connectOrigin: new URL(connectUrl).origin },
    ...{ server, keys, credentials, oauth, now, warn },
    refresher: openRefresher({ server, credentials, clients: oauth, journal, now, warn }),
    flows: openFlows(now),
    upstreams,
    leases: openLeases({ config, stateFolder, upstreams, server, now, warn }),
  }
}

/** Calls the server once a minute, because the server shows how long an executor has been silent. */
function stayAlive({ server, warn }: Executor, signal: AbortSignal): void {
  const loop = async () => {
    for (;;) {
      await sleep(aliveEveryMs, signal)
      await server.me().catch((error) => warn(isDisabled(error) ? disabled : (error as Error).message))
    }
  }
  // Only the signal ends the loop.
  loop().catch(() => {})
}
