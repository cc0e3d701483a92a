import { setTimeout as sleep } from 'node:timers/promises'
import { newId } from '../../../packages/crypto/src/random.ts'
import { type Dek, importDek, newDek, sealSecret } from '../../../packages/crypto/src/secret.ts'
import { wrapKey } from '../../../packages/crypto/src/wrap.ts'
import { type AppPlatform, startAppPlatform } from '../../../packages/server/test/services/app-platform.ts'
import { type Child, startServer } from '../child.ts'
import { each } from '../each.ts'
import { type BenchOnPostgres, onDatabase, withServerKey } from '../figure.ts'
import { say } from '../measure.ts'
import { call, makeTenant } from '../tenant.ts'

const unchangedCount = 500

const bindingCount = 200
const changesEach = 5
const burstMaxMs = 180_000
const lookMs = 50

/** Runs a sync of many names, none of which has changed -> the number of its requests that wrote. */
export async function syncRun(): Promise<number> {
  await using scene = await openScene()
  const names = Object.fromEntries(Array.from({ length: unchangedCount }, (_, i) => [`NAME_${i}`, `value ${i}`]))
  const { bindingId } = await scene.bind('unchanged', 'manual', names)
  const run = () => scene.api<{ run: Run }>('POST', `/sync/bindings/${bindingId}/run`, {})
  const first = await run()
  if (first.run.pushed.length !== unchangedCount) throw new Error(`${first.run.pushed.length} names were pushed`)
  const before = scene.platform.pushes.length
  const startedAt = performance.now()
  const { run: again } = await run()
  say(`  ${again.unchanged} unchanged names in ${(performance.now() - startedAt).toFixed(0)} ms`)
  if (again.status !== 'succeeded' || again.unchanged !== unchangedCount) throw new Error('the run was not whole')
  return scene.platform.pushes.length - before
}

/** The outcome of 1,000 changes in 200 environments, each bound to its own destination. */
interface Burst {
  /** The time from a single change, before the others, until its value is at the destination. */
  changeSeconds: number
  /** The share of changes that had no push of their own, because they were pushed with another change. */
  joined: number
  /** The server's peak memory, minus its memory before the changes. */
  grownMb: number
}

export const syncChange = async (bench: BenchOnPostgres) => (await burstOnce(bench)).changeSeconds
export const syncBurst = async (bench: BenchOnPostgres) => (await burstOnce(bench)).joined
export const syncBurstMemory = async (bench: BenchOnPostgres) => (await burstOnce(bench)).grownMb

/** Measured once, for three figures. */
let measured: Promise<Burst> | undefined
const burstOnce = (bench: BenchOnPostgres): Promise<Burst> => (measured ??= burst(bench))

async function burst({ plan, postgres }: BenchOnPostgres): Promise<Burst> {
  await using scene = await openScene({ ...onDatabase(await postgres.createDatabase('sync_burst')), ...withServerKey })
  const { platform, server } = scene
  const appOf = (i: number) => `app-${i}`
  const bounds: Bound[] = []
  await each(bindingCount, async (i) => {
    bounds[i] = await scene.bind(appOf(i), 'auto', { VALUE: 'begin' })
  })
  const haveAll = (value: string) => () => bounds.every((_, i) => platform.values(appOf(i)).get('VALUE') === value)
  await watch(server, haveAll('begin'))
  await sleep(plan.idleMs)
  const changedAt = performance.now()
  await put(bounds[0] as Bound, 'VALUE', 'alone')
  await watch(server, () => platform.values(appOf(0)).get('VALUE') === 'alone')
  const changeSeconds = (performance.now() - changedAt) / 1000
  const [before, idleMb, startedAt] = [platform.pushes.length, await server.residentMb(), performance.now()]
  // In rounds, so that the last value of each environment is known.
  const writing = async () => {
    for (let round = 1; round <= changesEach; round++)
      await each(bindingCount, (i) => put(bounds[i] as Bound, 'VALUE', `${round}`))
    return performance.now()
  }
  const [wroteAt, peakMb] = await Promise.all([writing(), watch(server, haveAll(`${changesEach}`))])
  const changes = bindingCount * changesEach
  const pushes = platform.pushes.length - before
  say(
    `  ${changes} changes in ${seconds(wroteAt - startedAt)}; the last was there ${seconds(performance.now() - wroteAt)} later`,
  )
  say(`  ${pushes} pushes; ${idleMb.toFixed(0)} MB before, ${peakMb.toFixed(0)} MB at most`)
  if (platform.atOnceMax() > 1)
    throw new Error(`${platform.atOnceMax()} calls were under way at one destination at once`)
  return { changeSeconds, joined: 1 - pushes / changes, grownMb: peakMb - idleMb }
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

/** Waits until the condition is true -> the peak memory of the server meanwhile. */
async function watch(server: Child, isSo: () => boolean): Promise<number> {
  const deadline = performance.now() + burstMaxMs
  let peakMb = 0
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`destinations have no final values after ${burstMaxMs / 1000} s`)
    peakMb = Math.max(peakMb, await server.residentMb())
    await sleep(lookMs)
  }
  return Math.max(peakMb, await server.residentMb())
}

interface Run {
  status: string
  pushed: string[]
  unchanged: number
}

type Api = <T>(method: string, path: string, body?: object) => Promise<T>

/** A bound environment, with everything that is needed to write to it. */
interface Bound {
  api: Api
  environmentId: string
  dek: Dek
  bindingId: string
}

interface Scene extends AsyncDisposable {
  platform: AppPlatform
  server: Child
  api: Api
  /** Creates an environment with these values, and binds it to an app of that name. */
  bind: (appName: string, mode: 'manual' | 'auto', values: Record<string, string>) => Promise<Bound>
}

/** Starts a server and a platform, and creates a connection between them. */
async function openScene(settings: Record<string, string> = {}): Promise<Scene> {
  const platform = await startAppPlatform()
  const server = await startServer({ ...platform.settings, ...settings })
  const { orgId, admin } = await makeTenant(server.url, 0)
  const api: Api = (method, path, body) =>
    call(server.url, method, `/v1/orgs/${orgId}${path}`, `Bearer ${admin.bearer}`, body)
  const connectionId = newId('syncConnection')
  const { publicKeyJwk } = await api<{ publicKeyJwk: string }>('GET', `/sync/connections/${connectionId}/public-key`)
  const wrappedCredential = await wrapKey(new TextEncoder().encode(platform.token), publicKeyJwk)
  const config = { provider: 'app-platform-c' }
  await api('POST', '/sync/connections', { id: connectionId, name: 'bench', config, wrappedCredential })
  const bind: Scene['bind'] = async (appName, mode, values) => {
    const key = newDek()
    const [dek, wrappedDek] = await Promise.all([importDek(key), wrapKey(key, publicKeyJwk)])
    const { app } = await api<{ app: { id: string } }>('POST', '/apps', { name: appName, slug: appName })
    const envBody = { name: 'Production', slug: 'production', wrappedDek }
    const { environment } = await api<{ environment: { id: string } }>('POST', `/apps/${app.id}/envs`, envBody)
    const bound = { api, environmentId: environment.id, dek, bindingId: '' }
    const entries = Object.entries(values)
    await each(entries.length, (i) => put(bound, ...(entries[i] as [string, string])))
    const { binding } = await api<{ binding: { id: string } }>('POST', '/sync/bindings', {
      ...{ connectionId, environmentId: environment.id, mode, acknowledgedDecryption: true },
      destination: { provider: 'app-platform-c', appName },
      wrappedDeks: [{ environmentId: environment.id, wrappedDek }],
    })
    return { ...bound, bindingId: binding.id }
  }
  const close = async () => {
    await server[Symbol.asyncDispose]()
    await platform.stop()
  }
  return { platform, server, api, bind, [Symbol.asyncDispose]: close }
}

/** Writes a version of a secret, encrypted as clients do. */
async function put({ api, environmentId, dek }: Bound, name: string, value: string): Promise<void> {
  const ciphertext = await sealSecret(value, dek, environmentId, name)
  await api('PUT', `/envs/${environmentId}/secrets/${name}`, { ciphertext })
}
