import { resolve } from '@skerry/contract/resolve/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { ciphertext } from '../blobs.ts'
import { written } from '../tenant.ts'
import { until } from '../until.ts'
import { call } from '../world.ts'
import type { Scene } from './scene.ts'

/** Writers and readers on both servers. They record acknowledged writes and stale answers. */
export interface Load {
  /** Waits until these servers, by default both, acknowledged a few more writes of each writer -> the milliseconds. */
  untilMoreIsWritten(by?: readonly { url: string }[]): Promise<number>
  /** Ends the load, and returns what was wrong: lost writes and stale answers. */
  end(): Promise<string[]>
}

interface Acknowledged {
  version: number
  sent: string
  atMs: number
}

/** The ciphertexts that one writer sent, and the acknowledged ones. */
interface Log {
  sent: string[]
  acknowledged: Acknowledged[]
}

const writersOfEach = 2
const more = 3

/** @param staleMs how long after its acknowledgement a write may still be missing in an answer */
export function startLoad(scene: Scene, staleMs: number): Load {
  const wrong: string[] = []
  const logs = new Map<string, Log>()
  let ended = false
  const write = async (url: string, name: string) => {
    const log: Log = { sent: [], acknowledged: [] }
    logs.set(name, log)
    while (!ended) {
      const sent = ciphertext(100)
      log.sent.push(sent)
      const version = await put(scene, url, name, sent)
      if (version !== undefined) log.acknowledged.push({ version, sent, atMs: performance.now() })
    }
  }
  const read = async (url: string) => {
    while (!ended) {
      const trustedUntilMs = performance.now() - staleMs
      const seen = await secretsAt(scene, url)
      if (seen === undefined) continue
      for (const [name, { sent, acknowledged }] of logs) {
        const expected = acknowledged.findLast(({ atMs }) => atMs < trustedUntilMs)?.sent
        if (expected !== undefined && sent.indexOf(seen.get(name) ?? '') < sent.indexOf(expected))
          wrong.push(`${url} answered an older ${name} than was acknowledged ${staleMs} ms before`)
      }
    }
  }
  const names = scene.servers.flatMap(({ url }, server) =>
    Array.from({ length: writersOfEach }, (_, writer) => ({ url, name: `S${server}_W${writer}` })),
  )
  const countOf = (name: string) => logs.get(name)?.acknowledged.length ?? 0
  const working = [...names.map(({ url, name }) => write(url, name)), ...scene.servers.map(({ url }) => read(url))]
  return {
    async untilMoreIsWritten(by = scene.servers) {
      const startedAtMs = performance.now()
      const counts = new Map(
        names.filter(({ url }) => by.some((server) => server.url === url)).map(({ name }) => [name, countOf(name)]),
      )
      await until('every writer goes on', () => [...counts].every(([name, count]) => countOf(name) >= count + more))
      return performance.now() - startedAtMs
    },
    async end() {
      ended = true
      await Promise.all(working)
      for (const { url, name } of names)
        wrong.push(...(await lost(scene, url, name, logs.get(name)?.acknowledged ?? [])))
      return wrong
    },
  }
}

/** Returns the acknowledged version, or undefined if the write failed. A failed write may still be stored. */
async function put(scene: Scene, url: string, name: string, sent: string): Promise<number | undefined> {
  const params = { orgId: scene.tenant.orgId, envId: scene.envId, name }
  const body = { ciphertext: sent }
  const answer = await call(url, [], secrets.put, { as: scene.tenant.admin.as, params, body }).catch(() => undefined)
  if (answer !== undefined && answer.status < 300) return written(answer.body).secret.version
  // The database is away. The pause limits the rate of retries.
  await new Promise((resolve) => setTimeout(resolve, 50))
  return undefined
}

/** Returns names and ciphertexts of a resolve, or undefined on a 5xx or without an answer. Throws on other statuses. */
export async function secretsAt(scene: Scene, url: string): Promise<Map<string, string> | undefined> {
  const query = { env: scene.envId }
  const answer = await call(url, [], resolve.get, { as: scene.token.as, query }).catch(() => undefined)
  if (answer === undefined || answer.status >= 500) return undefined
  if (answer.status !== 200) throw new Error(`resolve answered ${answer.status}: ${answer.error?.message}`)
  return new Map(answer.body.layers.flatMap(({ secrets }) => secrets.map((one) => [one.name, one.ciphertext])))
}

/** Lists acknowledged writes that the history does not contain as they were sent. */
async function lost(scene: Scene, url: string, name: string, log: readonly Acknowledged[]): Promise<string[]> {
  const history = new Map<number, string>()
  const params = { orgId: scene.tenant.orgId, envId: scene.envId, name }
  for (let cursor: string | undefined; ; ) {
    const query = { limit: 200, ...(cursor === undefined ? {} : { cursor }) }
    const { body } = await call(url, [], secrets.versions, { as: scene.tenant.admin.as, params, query })
    for (const { version, ciphertext: stored } of body.versions) history.set(version, stored)
    if (body.nextCursor == null) break
    cursor = body.nextCursor
  }
  return log.flatMap(({ version, sent }) => (history.get(version) === sent ? [] : [`${name} ${version} is lost`]))
}
