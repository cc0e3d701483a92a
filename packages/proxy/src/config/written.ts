import { encodings } from '@skerry/providers/redaction/forms'
import { ConfigError, flag, given, list, matching, needed, oneOf, table, text, whole } from './read.ts'
import { ceiling, places, requirements, ruleFields, transition } from './rules.ts'
import { agentName, duration, listenAddress, network, origin, portRange, secretName, thumbprint } from './values.ts'

const day = 86_400
const mebibyte = 1024 * 1024

/** Names of the secrets that form the AWS key with which requests are signed. */
const sigv4 = given(
  table({ accessKey: needed(secretName), secretKey: needed(secretName), sessionToken: given(secretName, null) }),
  null,
)

const ports = given(list(portRange), null)

const route = table({
  prefix: needed(matching(/^\/[\x21\x22\x24-\x3e\x40-\x7e]*$/, 'must be a path that starts with /')),
  upstream: needed(origin),
  headers: given(headers, {}),
  sigv4,
  in: places,
  ...ruleFields,
})

const forward = table({
  listen: needed(listenAddress),
  unmatchedHostPolicy: given(oneOf('tunnel', 'deny'), 'tunnel'),
  caCert: given(text, 'skerry-proxy-ca.pem'),
  caKey: given(text, 'skerry-proxy-ca-key.pem'),
  host: given(
    list(table({ match: needed(text), sigv4, allowHttp: given(flag, false), ports, in: places, ...ruleFields })),
    [],
  ),
})

const policy = table({
  source: given(oneOf('file', 'server'), 'file'),
  agent: given(agentName, null),
  agents: given(list(agentName), []),
  org: given(text, null),
  refreshInterval: given(duration(1, day), 10),
  signers: given(list(thumbprint), []),
  ceiling,
  ports,
  in: places,
  acceptRollback: given(flag, false),
})

const control = table({
  listen: given(listenAddress, null),
  socket: given(text, null),
  ttl: given(duration(1, 30 * day), 3600),
  maxTtl: given(duration(1, 30 * day), 12 * 3600),
  allowUid: given(whole(0, 2 ** 32 - 1), null),
  allowBinary: given(text, null),
  allowSha256: given(text, null),
})

const cache = table({
  enabled: given(flag, false),
  dir: given(text, null),
  maxAge: given(duration(1, 90 * day), day),
  reconnectInterval: given(duration(1, day), 5),
  reconnectMaxInterval: given(duration(1, day), 300),
})

const redaction = table({
  enabled: given(flag, true),
  scan: given(oneOf('injected', 'all'), 'injected'),
  placeholder: given(text, '[redacted by skerry]'),
  minLength: given(whole(6, 1024), 8),
  encodings: given(list(oneOf(...encodings)), null),
  unsearchable: given(oneOf('refuse', 'pass'), 'refuse'),
})

/** Every setting, with its default. */
export const readWritten = table({
  listen: given(listenAddress, { host: '127.0.0.1', port: 8080 }),
  maxRequestBodyBytes: given(whole(0, 1024 * mebibyte), 2 * mebibyte),
  propagateTraceUpstream: given(flag, false),
  requireTask: given(flag, null),
  route: given(list(route), []),
  forward: given(forward, null),
  policy: given(policy, policy({}, 'policy')),
  control: given(control, null),
  secrets: given(table({ refreshInterval: given(duration(1, day), null) }), { refreshInterval: null }),
  tasks: given(table({ cacheTtl: given(duration(0, 300), 30) }), null),
  activity: given(table({ flushInterval: given(duration(10, day), 60), maxCells: given(whole(1, 5000), 500) }), null),
  ratchet: given(
    table({
      state: needed(
        list(table({ name: needed(text), hosts: given(list(text), null), secrets: given(list(text), null) })),
      ),
      transition: needed(list(transition)),
    }),
    null,
  ),
  cache: given(cache, cache({}, 'cache')),
  redaction: given(redaction, redaction({}, 'redaction')),
  egress: given(table({ blockPrivateIps: given(flag, true), allowCidr: given(list(network), []) }), {
    blockPrivateIps: true,
    allowCidr: [],
  }),
  approval: given(table({ timeout: given(duration(5, 900), 120), require: requirements }), null),
})

/** The file with each value read and its defaults filled in. */
export type Written = ReturnType<typeof readWritten>

/** Finds a contradiction between settings that are valid alone, and returns its field and its problem. */
export type Check = (written: Written) => false | [place: string, problem: string]

/** The connection needs these headers, so the file cannot set them. */
const ownHeaders = /^(?:host|content-length|transfer-encoding|connection|upgrade|expect|te|trailer|proxy-.*)$/i

function headers(value: unknown, place: string): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigError(place, 'must be a table')
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const at = `${place}.${name}`
      if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) || ownHeaders.test(name))
        throw new ConfigError(at, 'is not a header that can be set')
      if (typeof one !== 'string' || !/^[\x20-\x7e]*$/.test(one)) throw new ConfigError(at, 'must be printable ASCII')
      return [name.toLowerCase(), one]
    }),
  )
}
