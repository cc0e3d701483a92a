import { newId } from '../../../packages/crypto/src/random.ts'
import { type Dek, importDek, newDek, sealSecret } from '../../../packages/crypto/src/secret.ts'
import { wrapKey } from '../../../packages/crypto/src/wrap.ts'
import { type AppPlatform, startAppPlatform } from '../../../packages/server/test/services/app-platform.ts'
import { startServer } from '../child.ts'
import { say } from '../measure.ts'
import { call, makeTenant } from '../tenant.ts'

const unchangedCount = 500
const writersAtOnce = 16

/** A run over many names of which none has changed. The figure is the requests that it wrote with. */
export async function syncRun(): Promise<number> {
  await using scene = await openScene()
  const names = Object.fromEntries(Array.from({ length: unchangedCount }, (_, i) => [`NAME_${i}`, `value ${i}`]))
  const bindingId = await scene.bind('unchanged', names)
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

interface Run {
  status: string
  pushed: string[]
  unchanged: number
}

interface Scene extends AsyncDisposable {
  platform: AppPlatform
  api: <T>(method: string, path: string, body?: object) => Promise<T>
  /** A new environment with these values, bound to an app of that name; pushed when asked for -> the binding. */
  bind: (appName: string, values: Record<string, string>) => Promise<string>
}

/** A server, a platform of one kind of destination, and a connection between them. */
async function openScene(): Promise<Scene> {
  const platform = await startAppPlatform()
  const server = await startServer(platform.settings)
  const { orgId, admin } = await makeTenant(server.url, 0)
  const api: Scene['api'] = (method, path, body) =>
    call(server.url, method, `/v1/orgs/${orgId}${path}`, `Bearer ${admin.bearer}`, body)
  const connectionId = newId('syncConnection')
  const { publicKeyJwk } = await api<{ publicKeyJwk: string }>('GET', `/sync/connections/${connectionId}/public-key`)
  const wrappedCredential = await wrapKey(new TextEncoder().encode(platform.token), publicKeyJwk)
  const config = { provider: 'app-platform-c' }
  await api('POST', '/sync/connections', { id: connectionId, name: 'bench', config, wrappedCredential })
  const bind: Scene['bind'] = async (appName, values) => {
    const key = newDek()
    const [dek, wrappedDek] = await Promise.all([importDek(key), wrapKey(key, publicKeyJwk)])
    const { app } = await api<{ app: { id: string } }>('POST', '/apps', { name: appName, slug: appName })
    const envBody = { name: 'Production', slug: 'production', wrappedDek }
    const { environment } = await api<{ environment: { id: string } }>('POST', `/apps/${app.id}/envs`, envBody)
    const environmentId = environment.id
    const entries = Object.entries(values)
    await each(entries.length, (i) => put(api, { environmentId, dek }, ...(entries[i] as [string, string])))
    const { binding } = await api<{ binding: { id: string } }>('POST', '/sync/bindings', {
      ...{ connectionId, environmentId, mode: 'manual', acknowledgedDecryption: true },
      destination: { provider: 'app-platform-c', appName },
      wrappedDeks: [{ environmentId, wrappedDek }],
    })
    return binding.id
  }
  const close = async () => {
    await server[Symbol.asyncDispose]()
    await platform.stop()
  }
  return { platform, api, bind, [Symbol.asyncDispose]: close }
}

async function put(
  api: Scene['api'],
  { environmentId, dek }: { environmentId: string; dek: Dek },
  name: string,
  value: string,
): Promise<unknown> {
  const ciphertext = await sealSecret(value, dek, environmentId, name)
  return api('PUT', `/envs/${environmentId}/secrets/${name}`, { ciphertext })
}

/** So many, some at once. */
async function each(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let i = next++; i < count; i = next++) await work(i)
  }
  await Promise.all(Array.from({ length: writersAtOnce }, worker))
}
