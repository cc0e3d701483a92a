import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createVault } from '@skerry/sdk/vault'
import { launch } from './launch.ts'
import { startProduct } from './product.ts'
import { startProvider } from './provider.ts'
import { setUp } from './set-up.ts'

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const serverProgram = fileOf('../../packages/server/src/main.js')
const executorProgram = fileOf('../../packages/executor/src/main.js')

/** Starts all parts of the example, in the order in which they need each other. */
export async function start(folder: string, ports: { product: number; executor: number }) {
  const productUrl = `http://127.0.0.1:${ports.product}`
  const executorUrl = `http://127.0.0.1:${ports.executor}`
  // The started parts end in reverse order, also if the next one fails to start.
  await using started = new AsyncDisposableStack()
  const provider = started.use(await startProvider(`${executorUrl}/oauth/callback`))

  // At its first start, the server prints the link with which a person sets it up.
  const settings = { SKERRY_PORT: '0', SKERRY_DATA_DIR: join(folder, 'server'), SKERRY_LOG_LEVEL: 'warn' }
  const server = started.use(await launch([serverProgram], settings, /(http:[^"\s]+)\/set-up#([\w-]+)/))
  const [, serverUrl = '', setUpToken = ''] = server.printed
  const { platformKey, registrationCode } = await setUp(serverUrl, setUpToken, productUrl)

  // The executor creates its key on this machine and registers once. After that it serves.
  const executorToken = randomBytes(32).toString('base64url')
  const environment = {
    SKERRY_EXECUTOR_TOKEN: executorToken,
    CALENDAR_CLIENT_SECRET: provider.clientSecret,
    EXECUTOR_URL: executorUrl,
    PROVIDER_URL: provider.url,
  }
  const flags = ['--config', fileOf('vault.config.ts'), '--state', join(folder, 'executor')]
  execFileSync(process.execPath, [executorProgram, 'register', '--server', serverUrl, ...flags], {
    env: { ...process.env, ...environment },
    input: registrationCode,
  })
  started.use(await launch([executorProgram, 'serve', ...flags], environment, /listens on/))

  const vault = createVault({ baseUrl: serverUrl, key: platformKey, executorUrl, executorToken })
  const given = { url: productUrl, vault, providerUrl: provider.url }
  started.use(await startProduct(given, ports.product))
  const all = started.move()
  return { url: productUrl, serverUrl, provider, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
