import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { limits } from '@skerry/contract/limits'
import type { PolicyRule } from '@skerry/contract/policy-body'
import { ConfigError, given, list, matching, needed, object, type Read, text, whole } from '@skerry/proxy/config/read'
import { ruleOf } from '@skerry/proxy/config/rules'
import { listenAddress, network } from '@skerry/proxy/config/values'
import type { FetchRule } from './define.ts'

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

export const isLoopback = ({ hostname }: URL): boolean => loopback.has(hostname)

/** https; for development on one machine also http on the loopback interface. */
const url: Read<URL> = (value, place) => {
  const found = URL.parse(text(value, place))
  if (!found || !(found.protocol === 'https:' || (found.protocol === 'http:' && isLoopback(found))))
    throw new ConfigError(place, 'is no https:// address')
  if (found.username || found.password) throw new ConfigError(place, 'has a user or a password in it')
  return found
}

const origin: Read<string> = (value, place) => {
  const found = url(value, place)
  if (![found.origin, `${found.origin}/`].includes(text(value, place)))
    throw new ConfigError(place, 'is no origin, such as https://executor.example.com')
  return found.origin
}

const parameters: Read<Record<string, string>> = (value, place) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ConfigError(place, 'is no object')
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, text(one, `${place}.${name}`)]))
}

/** An absent list is an empty one. */
const listed = <T>(read: Read<T>) => given<T[], T[]>(list(read), [])

/** A rule with the port that it is about. */
export interface Rule extends PolicyRule {
  port: number
}

const httpsPort = 443
const written = object({
  host: needed(text),
  methods: listed(text),
  paths: listed(text),
} satisfies Record<keyof FetchRule, unknown>)

/** `names` are the placeholders of the credentials that may go there. */
const ruleFor =
  (...names: string[]): Read<Rule> =>
  (value, place) => {
    const { host, methods, paths } = written(value, place)
    const [, name = host, port] = /^(.*?)(?::(\d{1,5}))?$/.exec(host) ?? []
    const rule = ruleOf({ host: name, methods, paths, allow: names, label: null }, place)
    return { ...rule, port: port === undefined ? httpsPort : Number(port) }
  }

const rules = (...names: string[]) => needed(atLeastOne(list(ruleFor(...names))))

const atLeastOne =
  <T>(read: Read<T[]>): Read<T[]> =>
  (value, place) => {
    const found = read(value, place)
    if (found.length === 0) throw new ConfigError(place, 'is empty')
    return found
  }

const providerId = matching(/^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/, 'is no id: lowercase letters, digits, - and _')
const shown = {
  id: needed(providerId),
  displayName: needed(text),
  consentSummary: needed(text),
  consentVersion: given(whole(1, 2_147_483_647), 1),
}
const is = <const M extends string>(method: M) =>
  needed<M>((value, place) => {
    if (value !== method) throw new ConfigError(place, `is not ${method}`)
    return method
  })

const readers = {
  api_key: object({
    ...shown,
    method: is('api_key'),
    keyLabel: given(text, undefined),
    helpUrl: given(url, undefined),
    rules: rules('API_KEY'),
  }),
  oauth2: object({
    ...shown,
    method: is('oauth2'),
    issuer: needed(url),
    authorizationEndpoint: given(url, undefined),
    tokenEndpoint: given(url, undefined),
    clientId: needed(text),
    clientSecretEnv: given(text, undefined),
    scopes: needed(list(text)),
    authorizationParameters: given(parameters, {}),
    rules: rules('ACCESS_TOKEN'),
  }),
}

const provider: Read<ApiKey | OAuth2> = (value, place) => {
  const { method } = (value ?? {}) as { method?: unknown }
  if (method !== 'api_key' && method !== 'oauth2')
    throw new ConfigError(`${place}.method`, 'is neither api_key nor oauth2')
  return readers[method](value, place)
}

const settings = object({
  origin: needed(origin),
  listen: given(listenAddress, { host: '127.0.0.1', port: 4710 }),
  connectUrl: given(url, undefined),
  allowNetworks: listed(network),
  providers: listed(provider),
})

/** The settings, checked. */
export type Config = ReturnType<typeof settings>
export type ApiKey = ReturnType<typeof readers.api_key>
export type OAuth2 = ReturnType<typeof readers.oauth2>
export type Provider = ApiKey | OAuth2

/**
 * Checks what `vault.config.ts` exports.
 *
 * @throws ConfigError with the place that is wrong: `providers[0].rules[1].host: ...`.
 */
export function readConfig(value: unknown): Config {
  const config = settings(value, '')
  const { providers } = config
  if (providers.length > limits.vaultProvidersMax)
    throw new ConfigError('providers', `more than ${limits.vaultProvidersMax}`)
  const ids = providers.map(({ id }) => id)
  const again = ids.find((id, at) => ids.indexOf(id) !== at)
  if (again !== undefined) throw new ConfigError('providers', `${again} is there twice`)
  return config
}

/**
 * Loads and checks the settings of a file.
 *
 * @throws ConfigError with the file, and the place in it that is wrong.
 */
export async function loadConfig(path: string): Promise<Config> {
  const file = resolve(path)
  if (!existsSync(file)) throw new ConfigError(path, 'there is no such file')
  const { default: exported } = (await import(pathToFileURL(file).href)) as { default?: unknown }
  if (exported === undefined) throw new ConfigError(path, 'has no default export')
  try {
    return readConfig(exported)
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(path, error.message) : error
  }
}
