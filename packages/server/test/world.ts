import { rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { Answer, Body, Endpoint, Params, Query } from '@skerry/contract/endpoint'
import { leaseFacts } from '@skerry/contract/leases/facts'
import { oauth } from '@skerry/contract/oauth/endpoints'
import { OAuthErrorBody } from '@skerry/contract/oauth/schemas'
import { refusalsOf } from '@skerry/contract/refusals'
import { ErrorBody } from '@skerry/contract/schema'
import { syncProviders } from '@skerry/contract/sync/providers'
import { Compile, type Validator } from 'typebox/compile'
import { inject } from 'vitest'
import { type Config, readConfig } from '../src/config.ts'
import { openLog } from '../src/kernel/log.ts'
import { openLimiter } from '../src/kernel/rate-limits.ts'
import { type RunningServer, startServer } from '../src/server.ts'
import { newDatabase } from './engine.ts'
import { headersOf, send, statusOf, textOf } from './http.ts'
import { newScratch } from './scratch.ts'
import { type Issuer, startIssuer } from './services/issuer.ts'
import { type IdentityProvider, resource, startProvider } from './services/provider.ts'
import { longMs, type WaitLimits, withWaitLimits } from './wait-limits.ts'

/** A server as an operator runs it, with its own database and with a clock that tests move. */
export interface World {
  url: string
  server: RunningServer
  issuer: Issuer
  /** Set in suites that run with a real provider. */
  provider: IdentityProvider | null
  /** Everything that was logged. */
  log: string[]
  /** The text of every response, so that a suite can search them for values that must not appear. */
  answers: string[]
  clock: { now: () => Date; advance: (seconds: number) => void }
  waitLimits: WaitLimits
  call: <E extends AnyEndpoint>(endpoint: E, input?: Input<E>) => Promise<Result<E>>
  close: () => Promise<void>
}

type AnyEndpoint = Endpoint<string, never, never, never, never> | Endpoint

interface Input<E extends AnyEndpoint> {
  /** The Authorization header. */
  as?: string
  params?: Partial<Params<E>>
  query?: Partial<Query<E>> & Record<string, unknown>
  body?: Body<E> | Record<string, unknown> | string
  headers?: Record<string, string>
}

interface Result<E extends AnyEndpoint> {
  status: number
  /** The answer; in a suite that expects a refusal, look at `error`. */
  body: Answer<E>
  error: { code: string; message: string } | undefined
  headers: Headers
}

/** All worlds may use the same key, because no two of them share a database. */
export const serverKey = Buffer.alloc(32, 7).toString('base64url')

/** Settings of a world in which Skerry itself signs people in. */
export const builtIn = { SKERRY_OIDC_ISSUER: '', SKERRY_OIDC_AUDIENCE: '' }

export async function openWorld(settings: Record<string, string> = {}): Promise<World> {
  // The clock moves by 1 ms with each reading and otherwise stands still. Later events have later times, and nothing
  // expires on a slow machine before a test advances the clock.
  let [nowMs, advancedMs] = [Date.now(), 0]
  const now = () => new Date(++nowMs)
  const issuer = await startIssuer(now)
  const dataDir = await newScratch('skerry-test-')
  const database = await newDatabase(dataDir)
  const provider = inject('signIn') === 'provider' ? await startProvider('ES256', { named: false }) : null
  const config = readConfig({
    SKERRY_PORT: '0',
    SKERRY_DATA_DIR: dataDir,
    SKERRY_OIDC_ISSUER: issuer.url,
    SKERRY_OIDC_AUDIENCE: issuer.audience,
    ...(inject('signIn') === 'built_in' ? builtIn : {}),
    ...(provider ? { SKERRY_OIDC_ISSUER: provider.url, SKERRY_OIDC_AUDIENCE: resource } : {}),
    SKERRY_RATE_LIMITS: 'off',
    SKERRY_SIGNUP: 'open',
    SKERRY_SERVER_KEY: serverKey,
    SKERRY_LOG_LEVEL: 'debug',
    ...database.settings,
    ...settings,
    SKERRY_PROVIDER_ORIGINS: JSON.stringify(providerOrigins(settings)),
  })
  const log: string[] = []
  const answers: string[] = []
  // A suite with its own database tests a server that loses it, so the product's own timeout applies.
  const connectTimeoutMs = settings.SKERRY_DATABASE_URL === undefined ? longMs : undefined
  const waits = { connectTimeoutMs, readTimeoutMs: longMs }
  const server = await start(Object.assign(config, waits), log, now)
  if (config.rateLimits) server.context.limiter = openLimiter(() => advancedMs)
  const waitLimits = { answerMs: longMs }
  server.context.outbound = withWaitLimits(server.context.outbound, waitLimits)
  const world: World = {
    url: server.url,
    server,
    issuer,
    provider,
    log,
    answers,
    waitLimits,
    clock: {
      now,
      advance: (seconds) => {
        nowMs += seconds * 1000
        advancedMs += seconds * 1000
      },
    },
    async call(endpoint, input) {
      const result = await call(world.server.url, answers, endpoint, input)
      // Prints the reason, in case the test did not expect a 500.
      if (result.status === 500) process.stderr.write(`${log.findLast((line) => line.includes('request failed'))}\n`)
      return result
    },
    async close() {
      await world.server.close()
      await issuer.close()
      await provider?.close()
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
  return world
}

/** No suite reaches a real provider. A suite that needs answers sets the origin of its fake. */
const providerOrigins = ({ SKERRY_PROVIDER_ORIGINS = '{}' }: Record<string, string>) => ({
  ...Object.fromEntries([...Object.keys(syncProviders), ...Object.keys(leaseFacts)].map((tag) => [tag, nowhere])),
  ...(JSON.parse(SKERRY_PROVIDER_ORIGINS) as Record<string, string>),
})

const nowhere = 'https://127.0.0.1:1'

export function start(config: Config, log: string[], now: () => Date): Promise<RunningServer> {
  return startServer(
    Object.assign(config, { optimize: true }),
    openLog(config.logLevel, (line) => log.push(line)),
    now,
  )
}

/** Sends one request. Throws if the response does not have the form that the contract gives it. */
export async function call<E extends AnyEndpoint>(
  base: string,
  answers: string[],
  endpoint: E,
  { as, params = {}, query = {}, body, headers = {} }: Input<E> = {},
): Promise<Result<E>> {
  const path = endpoint.path.replace(/:(\w+)/g, (_, name) => {
    const value = (params as Record<string, string>)[name]
    if (value === undefined) throw new Error(`${endpoint.path}: give ${name}`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) for (const one of [value].flat()) search.append(name, String(one))
  const response = await send(`${base}${path}${search.size > 0 ? `?${search}` : ''}`, {
    method: endpoint.method,
    headers: {
      ...(as === undefined ? {} : { authorization: as }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await readAnswer(response)
  answers.push(text)
  const parsed = text === '' ? undefined : JSON.parse(text)
  const status = statusOf(response)
  if (status !== 304) checkForm(endpoint as Endpoint, status, parsed)
  return { status, body: parsed, error: errorOf(parsed), headers: headersOf(response) }
}

/** Reads an answer. A stream of events has no end, so this returns the data of its first event and hangs up. */
async function readAnswer(response: IncomingMessage): Promise<string> {
  if (!response.headers['content-type']?.startsWith('text/event-stream')) return textOf(response)
  let text = ''
  response.setEncoding('utf8')
  // Leaving the loop destroys the response.
  for await (const piece of response) {
    text += piece
    const data = /^data: (.*)$/m.exec(text)?.[1]
    if (data !== undefined) return data
  }
  return text
}

/** Returns the error of a body. The token endpoint has it in two fields, all other endpoints in one. */
export function errorOf(body: { error?: unknown; error_description?: unknown } | undefined): Result<Endpoint>['error'] {
  const error = body?.error
  return typeof error === 'string'
    ? { code: error, message: String(body?.error_description) }
    : (error as Result<Endpoint>['error'])
}

const refusal = Compile(ErrorBody)
const oauthRefusal = Compile(OAuthErrorBody)
const validators = new Map<unknown, Validator>()

function checkForm(endpoint: Endpoint, status: number, body: unknown): void {
  if (status >= 400 && endpoint.path === oauth.token.path) {
    if (!oauthRefusal.Check(body)) throw new Error(`${endpoint.path}: ${status} without the error shape of OAuth`)
    return
  }
  if (status >= 400) {
    if (!refusal.Check(body)) throw new Error(`${endpoint.path}: ${status} without the one error shape`)
    const codes: string[] = refusalsOf(endpoint).get(status) ?? []
    if (!codes.includes(body.error.code))
      throw new Error(`${endpoint.method} ${endpoint.path}: the contract has no ${status} ${body.error.code}`)
    return
  }
  const schema = endpoint.responses[status as 200]
  if (!schema) throw new Error(`${endpoint.method} ${endpoint.path}: the contract has no ${status}`)
  const validator = validators.get(schema) ?? (Compile(schema) as Validator)
  validators.set(schema, validator)
  if (!validator.Check(body))
    throw new Error(`${endpoint.method} ${endpoint.path}: ${JSON.stringify(validator.Errors(body).slice(0, 3))}`)
}
