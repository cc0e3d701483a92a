import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PolicyRule } from '@skerry/contract/agents/policy-body'
import { limits } from '@skerry/contract/limits'
import { ConfigError, given, list, needed, object, type Read, text } from '@skerry/proxy/config/read'
import { ruleOf } from '@skerry/proxy/config/rules'
import { listenAddress, network } from '@skerry/proxy/config/values'
import type { FetchRule } from './define.ts'
import { sentAs } from './sent-as.ts'
import { browserSettings, type Site, site } from './site.ts'
import { atLeastOne, is, listed, origin, parameters, shown, url } from './values.ts'

/** A rule with the port that it applies to. */
export interface Rule extends PolicyRule {
  port: number
}

const httpsPort = 443
const written = object({
  host: needed(text),
  methods: listed(text),
  paths: listed(text),
} satisfies Record<keyof FetchRule, unknown>)

/** @param names the placeholders of the credentials that the rule allows */
const ruleFor =
  (...names: string[]): Read<Rule> =>
  (value, place) => {
    const { host, methods, paths } = written(value, place)
    const [, name = host, port] = /^(.*?)(?::(\d{1,5}))?$/.exec(host) ?? []
    const rule = ruleOf({ host: name, methods, paths, allow: names, label: null }, place)
    return { ...rule, port: port === undefined ? httpsPort : Number(port) }
  }

const rules = (...names: string[]) => needed(atLeastOne(list(ruleFor(...names))))

const readers = {
  api_key: object({
    ...shown,
    method: is('api_key'),
    keyLabel: given(text, undefined),
    helpUrl: given(url, undefined),
    sentAs: given(sentAs, sentAs({}, 'sentAs')),
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
    scopeTexts: given(parameters, {}),
    authorizationParameters: given(parameters, {}),
    sentAs: given(sentAs, sentAs({}, 'sentAs')),
    rules: rules('ACCESS_TOKEN'),
  }),
}

const provider: Read<ApiKey | OAuth2> = (value, place) => {
  const { method } = (value ?? {}) as { method?: unknown }
  if (method !== 'api_key' && method !== 'oauth2') throw new ConfigError(`${place}.method`, 'must be api_key or oauth2')
  return readers[method](value, place)
}

const settings = object({
  origin: needed(origin),
  listen: given(listenAddress, { host: '127.0.0.1', port: 4710 }),
  connectUrl: given(url, undefined),
  allowNetworks: listed(network),
  providers: listed(provider),
  sites: listed(site),
  browser: given(browserSettings, browserSettings({}, 'browser')),
})

/** The checked settings. */
export type Config = ReturnType<typeof settings>
type ApiKey = ReturnType<typeof readers.api_key>
export type OAuth2 = ReturnType<typeof readers.oauth2>
export type Provider = ApiKey | OAuth2

/** Everything that people can connect. */
export const allOf = ({ providers, sites }: Config): (Provider | Site)[] => [...providers, ...sites]

/**
 * Checks the export of `vault.config.ts`.
 *
 * @throws ConfigError with the path of the wrong field: `providers[0].rules[1].host: ...`.
 */
function readConfig(value: unknown): Config {
  const config = settings(value, '')
  const ids = allOf(config).map(({ id }) => id)
  if (ids.length > limits.vaultProvidersMax)
    throw new ConfigError('providers', `has more than ${limits.vaultProvidersMax} entries`)
  const again = ids.find((id, at) => ids.indexOf(id) !== at)
  if (again !== undefined) throw new ConfigError('providers', `${again} is listed twice`)
  return config
}

/**
 * Loads and checks the settings of a file.
 *
 * @throws ConfigError with the file, and the path of the wrong field in it.
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
