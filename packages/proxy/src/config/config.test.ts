import { describe, expect, test } from 'vitest'
import { parseConfig } from './config.ts'

const route = '[[route]]\nprefix = "/api"\nupstream = "https://api.example.com"\n'
const server = '[policy]\nsource = "server"\nagent = "builder"\n'
const signers = `signers = ["${'k'.repeat(43)}"]\n`
const signing = 'sigv4 = { access_key = "A", secret_key = "B" }\n'
const forward = '[forward]\nlisten = "127.0.0.1:8081"\n'
const host = `${forward}[[forward.host]]\nmatch = "x"\n`

test('a short file gets the documented defaults', () => {
  const config = parseConfig(`${route}allow = ["API_KEY"]\nmethods = ["post"]`, '/etc/proxy')
  expect(config).toMatchObject({
    listen: { host: '127.0.0.1', port: 8080 },
    maxRequestBodyBytes: 2_097_152,
    forward: null,
    policy: { source: 'file', refreshInterval: 10 },
    cache: { enabled: false, maxAge: 86_400 },
    redaction: { enabled: true, scan: 'injected', minLength: 8 },
    egress: { blockPrivateIps: true },
  })
  expect(config.routes).toMatchObject([
    { prefix: '/api', rule: { host: 'api.example.com', methods: ['POST'], paths: [], allow: ['API_KEY'] } },
  ])
})

test('the longest prefix comes first, and relative paths start at the folder of the file', () => {
  const config = parseConfig(
    `${route}[[route]]\nprefix = "/api/v2"\nupstream = "http://127.0.0.1:9"\n${forward}[[forward.host]]\nmatch = "API.example.com"\n`,
    '/etc/proxy',
  )
  expect(config.routes.map(({ prefix }) => prefix)).toEqual(['/api/v2', '/api'])
  expect(config.forward).toMatchObject({
    caKey: '/etc/proxy/skerry-proxy-ca-key.pem',
    rules: [{ host: 'api.example.com' }],
  })
})

test.each([
  ['30s', 30],
  ['15m', 900],
  ['"24h"', 86_400],
  ['7d', 604_800],
  ['90', 90],
])('a duration of %s has %d seconds', (written, seconds) => {
  const value = /^\d+$|^"/.test(written) ? written : `"${written}"`
  expect(parseConfig(`${route}[cache]\nmax_age = ${value}`, '/').cache.maxAge).toBe(seconds)
})

test('a task is required if the file has [tasks], unless the file says otherwise', () => {
  const requires = (toml: string) => parseConfig(toml, '/').requireTask
  const agent = `${route}[policy]\nagent = "builder"\n`
  expect([requires(route), requires(agent), requires(`${agent}[tasks]`)]).toEqual([false, false, true])
  expect(requires(`require_task = false\n${agent}[tasks]`)).toBe(false)
  expect(requires(`require_task = true\n${agent}[control]`)).toBe(true)
})

describe('the proxy refuses, with the name of the field,', () => {
  test.each([
    ['', 'the settings have neither a [[route]] nor [forward]'],
    ['= 1', 'line 1: is not TOML'],
    [`${route}colour = "red"`, 'route[0].colour: there is no such setting'],
    ['[[route]]\nprefix = "/a"', 'route[0].upstream: is missing'],
    ['[[route]]\nprefix = "a"\nupstream = "http://x"', 'route[0].prefix: must be a path that starts with /'],
    ['[[route]]\nprefix = "/"\nupstream = "ftp://x"', 'route[0].upstream: must be an http:// or https:// address'],
    [
      '[[route]]\nprefix = "/"\nupstream = "https://u:p@x"',
      'route[0].upstream: must not contain a user name or password',
    ],
    [
      '[[route]]\nprefix = "/"\nupstream = "https://x/v1"',
      'route[0].upstream: must not contain a path, query or fragment: write only scheme, host and port',
    ],
    [`${route}methods = ["GET1"]`, 'route[0].methods[0]: is no method'],
    [`${route}paths = ["/a?b"]`, 'route[0].paths[0]: is no path'],
    [`${route}allow = ["A-B"]`, 'route[0].allow[0]: is no name of a secret'],
    [`${route}headers = { host = "x" }`, 'route[0].headers.host: is not a header that can be set'],
    [`${route}${route}`, 'route[1].prefix: another route has the same prefix'],
    [`listen = "localhost:1"\n${route}`, 'listen: must be an IP address with a port, such as 127.0.0.1:8080'],
    [`${route}${forward}`, 'forward.host: there is none'],
    [`${forward}[[forward.host]]\nmatch = "*.example.com"`, 'forward.host[0].match: is no hostname'],
    [`${route}[policy]\nsource = "server"`, 'policy.agent: is missing'],
    [`${route}${server}`, 'policy.signers: is empty: list the thumbprints of the keys that may sign the policy'],
    [
      `${route}allow = ["A"]\n${server}${signers}`,
      'route[0]: remove allow, methods and paths: the policy comes from the server',
    ],
    [
      `${forward}[[forward.host]]\nmatch = "x"\n${server}${signers}`,
      'forward.host: must be removed: the policy comes from the server',
    ],
    [`${route}[policy]\n${signers}`, 'policy.signers: must be removed: a policy in this file is not signed'],
    [
      `${route}[[policy.ceiling]]\nhost = "x"\nallow = []`,
      'policy.ceiling: must be removed: it is only for a policy from the server',
    ],
    [`${route}[tasks]\ncache_ttl = "6m"\n`, 'tasks.cache_ttl: must be from 0 to 300 seconds'],
    [`${route}[activity]`, 'policy.agent: is missing'],
    [
      `${route}[egress]\nblock_private_ips = false\nallow_cidr = ["10.0.0.0/8"]`,
      'egress.allow_cidr: has no effect with block_private_ips = false: remove one of the two',
    ],
    [`${route}[egress]\nallow_cidr = ["10.0.0.0/33"]`, 'egress.allow_cidr[0]: must be an IP address or a CIDR range'],
    [`${route}[control]\nttl = "13h"`, 'control.ttl: is longer than control.max_ttl'],
    [
      `${route}[control]\nsocket = "s"\nallow_binary = "/bin/x"`,
      'control.allow_binary: is not supported: this proxy cannot see which program connects',
    ],
    [`${route}[redaction]\nmin_length = 5`, 'redaction.min_length: must be a whole number from 6 to 1024'],
    [`${route}[approval]\ntimeout = 4`, 'approval.timeout: must be from 5 to 900 seconds'],
    [`${route}sigv4 = { access_key = "A" }`, 'route[0].sigv4.secret_key: is missing'],
    [
      `${route}sigv4 = { access_key = "A-B", secret_key = "B" }`,
      'route[0].sigv4.access_key: must be the name of a secret',
    ],
    [`${route}sigv4 = { access_key = "A", secret_key = "A" }`, 'route[0].sigv4: names the same secret twice'],
    [
      `${route}${signing}headers = { Authorization = "x" }`,
      'route[0].headers.authorization: is set by sigv4 itself: remove it',
    ],
    [
      `${host}allow = ["C", "B"]\n${signing}`,
      'forward.host[0].allow[1]: is used by sigv4 to sign requests, so it cannot also be sent in them: remove it from allow',
    ],
    [
      `${host}${signing}[[forward.host]]\nmatch = "X"`,
      'forward.host[1]: must have the same sigv4, allow_http and ports as the earlier block of this host',
    ],
    [
      `${host}[[forward.host]]\nmatch = "x"\nallow_http = true`,
      'forward.host[1]: must have the same sigv4, allow_http and ports as the earlier block of this host',
    ],
    [
      `require_task = true\n${route}`,
      'require_task: requires a task or a ticket, but no request could have one: add [tasks] or [control]',
    ],
    [`${host}in = ["cookie"]`, 'forward.host[0].in[0]: must be one of path, query, header, body'],
    [
      `${route}in = ["header"]\n${server}${signers}`,
      'route[0].in: is ignored with a policy from the server: write `in` in [policy]',
    ],
    [
      `${route}[policy]\nin = ["header"]`,
      'policy.in: is only for a policy from the server: write `in` in [[route]] or [[forward.host]]',
    ],
    [`${host}ports = [0]`, 'forward.host[0].ports[0]: must be a port or a range of ports: write 8443 or "8000-8999"'],
    [
      `${host}ports = ["9-8"]`,
      'forward.host[0].ports[0]: must be a port or a range of ports: write 8443 or "8000-8999"',
    ],
    [
      `${host}ports = ["1-65536"]`,
      'forward.host[0].ports[0]: must be a port or a range of ports: write 8443 or "8000-8999"',
    ],
    [
      `${host}[[forward.host]]\nmatch = "x"\nports = [80]`,
      'forward.host[1]: must have the same sigv4, allow_http and ports as the earlier block of this host',
    ],
    [
      `${route}[policy]\nports = [8443]`,
      'policy.ports: is only for a policy from the server: write ports in [[forward.host]]',
    ],
    [`${route}[ratchet]\nstate = []\ntransition = []`, 'ratchet.state: there is none'],
  ])('%j', (toml, problem) => {
    expect(() => parseConfig(toml, '/')).toThrow(problem)
  })

  test('a ratchet that leads back, leads to an unknown state, or has a state twice', () => {
    const ratchet = (names: string[], to: string) => {
      const states = names.map((name) => `[[ratchet.state]]\nname = "${name}"\n`).join('')
      return () => parseConfig(`${route}${states}[[ratchet.transition]]\nhost = "x"\nto = "${to}"`, '/')
    }
    expect(ratchet(['a'], 'baseline')).toThrow('ratchet.transition[0].to: leads back')
    expect(ratchet(['a'], 'b')).toThrow('ratchet.transition[0].to: there is no state b')
    expect(ratchet(['a', 'a'], 'a')).toThrow('ratchet.state[1].name: another state is called a')
    expect(ratchet(['baseline'], 'a')).toThrow('ratchet.state[0].name: another state is called baseline')
    expect(ratchet(['a', 'b'], 'b')().ratchet?.transitions[0]?.to).toBe(2)
  })
})
