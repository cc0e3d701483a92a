import type { SyncConnection } from '../../src/sync/provider.ts'
import { type FakeAnswer, fields, isText, listOf, routedFake } from '../http-fake.ts'
import { platformSamples } from './samples-platforms.ts'

// From Vercel’s OpenAPI document (project env) and the codes that its own client knows: records never overlap,
// sensitive ones are never for development, lists come in pages.

export const connection: SyncConnection<'frontend-cloud'> = platformSamples['frontend-cloud']

interface Env {
  id: string
  key: string
  value: string
  type: string
  target: string[]
  gitBranch?: string | null
  configurationId?: string
  updatedAt: number
}

const isTargets = listOf((target) => ['production', 'preview', 'development'].includes(String(target)))
const isType = (type: unknown) => ['system', 'encrypted', 'plain', 'sensitive'].includes(String(type))

export async function vercelFake() {
  let envs: Env[] = []
  let changes = 0

  const add = (env: Omit<Env, 'id' | 'updatedAt'>): Env => {
    const made = { ...env, id: `env${++changes}`, updatedAt: 1_790_000_000_000 + changes }
    envs.push(made)
    return made
  }
  const shown = ({ value, ...env }: Env) => ({
    ...env,
    ...(env.type === 'sensitive' ? {} : { value: env.type === 'plain' ? value : `ciphertext-${value.length}` }),
    createdAt: 1_790_000_000_000,
  })
  const overlaps = (a: Env, b: Pick<Env, 'id' | 'key' | 'target' | 'gitBranch'>) =>
    a.id !== b.id &&
    a.key === b.key &&
    (a.gitBranch ?? null) === (b.gitBranch ?? null) &&
    a.target.some((target) => b.target.includes(target))
  const problemOf = (env: Env): string | null => {
    if (env.type === 'sensitive' && env.target.includes('development')) return 'BAD_REQUEST'
    if (env.gitBranch && env.target.join() !== 'preview') return 'BAD_REQUEST'
    if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(env.key)) return 'KEY_INVALID_CHARACTERS'
    return envs.some((each) => overlaps(each, env)) ? 'ENV_CONFLICT' : null
  }

  const server = await routedFake((control) => {
    const refuse = (status: number, message: string, code = 'bad_request'): FakeAnswer => ({
      status: status === 422 ? 400 : status,
      body: {
        error: {
          code,
          message,
          ...(status === 429 ? { limit: { remaining: 0, reset: Math.ceil(Date.now() / 1000) + 30, total: 60 } } : {}),
        },
      },
    })
    const query = ['teamId']
    const teamed = (answer: (call: { params: string[]; json: unknown; query: URLSearchParams }) => FakeAnswer) => ({
      query,
      answer: (call: { params: string[]; json: unknown; query: URLSearchParams }) =>
        call.query.get('teamId') === 'team_abc' ? answer(call) : refuse(403, 'not of the team', 'forbidden'),
    })
    const one = (id: string | undefined) => envs.find((env) => env.id === id)
    return {
      headers: { authorization: `Bearer ${connection.credential}` },
      refuse,
      routes: [
        {
          method: 'GET',
          path: /^\/v9\/projects\/prj_shop$/,
          ...teamed(() => ({ status: 200, body: { id: 'prj_shop' } })),
        },
        {
          method: 'GET',
          path: /^\/v10\/projects\/prj_shop\/env$/,
          ...teamed(({ query: asked }) => {
            const start = Number(asked.get('until') ?? 0)
            const rows = envs.slice(start, start + Math.min(100, Number(asked.get('limit') ?? 20)))
            const next = start + rows.length < envs.length ? start + rows.length : null
            const body = { envs: rows.map(shown), pagination: { count: rows.length, next, prev: null } }
            return { status: 200, body }
          }),
          query: ['teamId', 'limit', 'until'],
        },
        {
          method: 'POST',
          path: /^\/v10\/projects\/prj_shop\/env$/,
          writes: true,
          body: fields({ key: isText, value: isText, type: isType, target: isTargets, 'gitBranch?': isText }),
          ...teamed(({ json }) => {
            const env = { ...(json as Env), id: '' }
            if (control.isRefused(env.key)) {
              const error = { code: 'KEY_RESERVED', message: `${env.key} is reserved`, key: env.key, value: env.value }
              return { status: 201, body: { created: [], failed: [{ error }] } }
            }
            const problem = problemOf(env)
            if (problem === 'ENV_CONFLICT') return refuse(403, 'already exists', problem)
            if (problem !== null) return refuse(400, `${env.value} is wrong`, problem)
            return { status: 201, body: { created: shown(add(json as Env)), failed: [] } }
          }),
        },
        {
          method: 'PATCH',
          path: /^\/v9\/projects\/prj_shop\/env\/([^/]+)$/,
          writes: true,
          body: fields({ 'value?': isText, 'target?': isTargets, 'type?': isType }),
          ...teamed(({ params: [id], json }) => {
            const env = one(id)
            if (!env) return refuse(404, 'not found', 'ENV_NOT_FOUND')
            const problem = problemOf({ ...env, ...(json as object) })
            if (problem !== null) return refuse(400, 'wrong', problem)
            Object.assign(env, json, { updatedAt: 1_790_000_000_000 + ++changes })
            return { status: 200, body: shown(env) }
          }),
        },
        {
          method: 'DELETE',
          path: /^\/v9\/projects\/prj_shop\/env\/([^/]+)$/,
          writes: true,
          ...teamed(({ params: [id] }) => {
            const env = one(id)
            if (!env) return refuse(404, 'not found', 'ENV_NOT_FOUND')
            envs = envs.filter((each) => each !== env)
            return { status: 200, body: shown(env) }
          }),
        },
      ],
    }
  })
  return {
    ...server,
    connection,
    reset() {
      server.reset()
      envs = []
    },
    values: () => new Map(envs.map(({ key, value }) => [key, value])),
    put(key: string, value: string) {
      envs = envs.filter((env) => env.key !== key)
      add({ key, value, type: 'encrypted', target: ['production', 'preview', 'development'] })
    },
    add,
    held: (key: string) =>
      envs
        .filter((env) => env.key === key)
        .map(({ target, type, value, gitBranch }) =>
          [target.join(), type, value, ...(gitBranch ? [gitBranch] : [])].join(' '),
        )
        .sort(),
  }
}
