import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One call that wrote secrets. */
interface Push {
  app: string
  names: string[]
  atMs: number
}

/** A fake of Fly.io (`app-platform-c`), as strict as the real one about paths, bodies and the token. */
export interface AppPlatform {
  origin: string
  /** Settings of a server that sends its calls to Fly.io here. */
  settings: Record<string, string>
  token: string
  /** The current secrets of an app. */
  values: (app: string) => Map<string, string>
  pushes: Push[]
  /** The highest number of simultaneous calls of one app. */
  atOnceMax: () => number
  /** Sets a function that answers in place of the platform. If it returns undefined, the platform answers itself. */
  answer: (respond: ((request: Asked) => Answered | undefined | Promise<Answered | undefined>) | null) => void
  stop: () => Promise<void>
}

export interface Asked {
  method: string
  app: string
  body: string
}

export interface Answered {
  status: number
  body?: unknown
  headers?: Record<string, string>
}

export async function startAppPlatform(token = 'fm2_lJPECAAAAAAAAAAB'): Promise<AppPlatform> {
  const apps = new Map<string, Map<string, string>>()
  const pushes: Push[] = []
  const active = new Map<string, number>()
  let atOnce = 0
  let respond: Parameters<AppPlatform['answer']>[0] = null
  let version = 0
  const values = (app: string) => {
    const found = apps.get(app) ?? new Map<string, string>()
    apps.set(app, found)
    return found
  }
  const secretsOf = (app: string) =>
    [...values(app)].map(([name, value]) => ({ name, digest: createHash('sha256').update(value).digest('hex') }))

  const store = (app: string, body: string): Answered => {
    const update = JSON.parse(body) as { values: Record<string, string | null> }
    if (Object.keys(update).join() !== 'values') return { status: 400, body: { error: 'unknown field' } }
    const entries = Object.entries(update.values)
    for (const [name, value] of entries)
      if (!/^[A-Za-z_]\w*$/.test(name) || (value !== null && typeof value !== 'string'))
        return { status: 400, body: { error: 'invalid name or value' } }
    for (const [name, value] of entries) {
      if (value === null) values(app).delete(name)
      else values(app).set(name, value)
    }
    pushes.push({ app, names: entries.map(([name]) => name), atMs: performance.now() })
    return { status: 200, body: { secrets: secretsOf(app), version: ++version } }
  }

  async function answer(request: IncomingMessage, asked: Asked): Promise<Answered> {
    const early = await respond?.(asked)
    if (early) return early
    if (request.headers.authorization !== `FlyV1 ${token}`) return { status: 401, body: { error: 'unauthorized' } }
    if (asked.app === '') return { status: 404, body: { error: 'no such path' } }
    return asked.method === 'GET'
      ? { status: 200, body: { secrets: secretsOf(asked.app) } }
      : store(asked.app, asked.body)
  }

  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const [, app = ''] = /^\/v1\/apps\/([a-z0-9-]+)\/secrets(?:\?min_version=\d+)?$/.exec(request.url ?? '') ?? []
    active.set(app, (active.get(app) ?? 0) + 1)
    atOnce = Math.max(atOnce, active.get(app) as number)
    const asked = { method: request.method ?? '', app, body: Buffer.concat(chunks).toString() }
    const { status, body, headers } = await answer(request, asked)
    active.set(app, (active.get(app) as number) - 1)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    settings: {
      SKERRY_PROVIDER_ORIGINS: JSON.stringify({ 'app-platform-c': origin }),
      SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
    },
    token,
    values,
    pushes,
    atOnceMax: () => atOnce,
    answer(given) {
      respond = given
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
