import { readFileSync } from 'node:fs'
import Fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { ConfigError, readConfig } from './config.ts'
import { settings } from './settings.ts'

function refusal(environment: Record<string, string>): string {
  try {
    readConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  throw new Error('was not refused')
}

describe('readConfig', () => {
  test('without settings gives a server on loopback with an embedded database and rate limits', () => {
    expect(readConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 4700,
      baseUrl: null,
      databaseUrl: null,
      dataDir: './.skerry',
      oidc: null,
      smtpUrl: null,
      logLevel: 'info',
      rateLimits: true,
      trustedProxies: [],
      privateTargets: [],
      providerOrigins: {},
    })
  })

  test('opens sign-up on this machine, and for other machines only with SKERRY_SIGNUP=open', () => {
    const signup = (more: Record<string, string>) => readConfig(more).signup
    const beyond = { SKERRY_HOST: '0.0.0.0', SKERRY_ALLOW_PLAINTEXT: 'yes' }
    for (const local of ['http://localhost:4700', 'http://127.0.0.1:4700', 'http://[::1]:4700'])
      expect(signup({ SKERRY_BASE_URL: local })).toBe('open')
    const behindProxy: Record<string, string>[] = [
      { SKERRY_BASE_URL: 'https://skerry.example' },
      { SKERRY_TRUSTED_PROXIES: '127.0.0.1' },
    ]
    for (const reachable of [beyond, ...behindProxy]) {
      expect(signup(reachable)).toBe('closed')
      expect(signup({ ...reachable, SKERRY_SIGNUP: 'open' })).toBe('open')
    }
    expect([signup({}), signup({ SKERRY_SIGNUP: 'closed' })]).toEqual(['open', 'closed'])
    expect(refusal({ SKERRY_SIGNUP: 'yes' })).toBe('SKERRY_SIGNUP: must be one of open, closed')
  })

  test('treats an empty value as unset: a line `SKERRY_PORT=` in a file sets nothing', () => {
    const empty = Object.fromEntries(Object.keys(settings).map((name) => [name, '']))
    expect(readConfig(empty)).toEqual(readConfig({}))
  })

  test('assigns every value to its field', () => {
    const read = readConfig({
      SKERRY_HOST: '127.0.0.2',
      SKERRY_PORT: '0',
      SKERRY_BASE_URL: 'https://skerry.example/base//',
      SKERRY_TRUSTED_PROXIES: '10.0.0.0/8, 127.0.0.1',
      SKERRY_DATABASE_URL: 'postgresql://db/skerry',
      SKERRY_DATABASE_POOL: '3',
      SKERRY_DATABASE_SILENT_SECONDS: '7',
      SKERRY_DATA_DIR: '/data',
      SKERRY_OIDC_ISSUER: 'https://id.example',
      SKERRY_OIDC_AUDIENCE: 'skerry',
      SKERRY_ALLOW_PRIVATE_TARGETS: '10.1.0.0/16, fd00::/8,',
      SKERRY_PROVIDER_ORIGINS:
        '{"aws":"https://sts.inner:8443","Fly.io":"https://fly.inner","stripe":"https://pay.inner"}',
      SKERRY_SMTP_URL: 'smtps://mail.example',
      SKERRY_RESOLVE_CACHE_MB: '2',
      SKERRY_SIGNUP: 'closed',
      SKERRY_LOG_LEVEL: 'debug',
      SKERRY_RATE_LIMITS: 'off',
    })
    expect(read).toMatchObject({
      host: '127.0.0.2',
      port: 0,
      baseUrl: 'https://skerry.example/base',
      trustedProxies: ['10.0.0.0/8', '127.0.0.1'],
      databaseUrl: 'postgresql://db/skerry',
      databasePool: 3,
      databaseSilentMs: 7000,
      dataDir: '/data',
      oidc: { issuer: 'https://id.example', audience: 'skerry' },
      privateTargets: ['10.1.0.0/16', 'fd00::/8'],
      providerOrigins: {
        'cloud-a': 'https://sts.inner:8443',
        'app-platform-c': 'https://fly.inner',
        stripe: 'https://pay.inner',
      },
      smtpUrl: 'smtps://mail.example',
      resolveCacheBytes: 2 * 1024 * 1024,
      logLevel: 'debug',
      rateLimits: false,
    })
  })

  test('allows mails without TLS on a loopback address, and elsewhere only with SKERRY_SMTP_CLEARTEXT=allow', () => {
    const cleartext = (url: string, more: Record<string, string> = {}) =>
      readConfig({ SKERRY_SMTP_URL: url, ...more }).smtpCleartext
    for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]'])
      expect(cleartext(`smtp://${host}:25`)).toBe(true)
    for (const host of ['mail.example', '0.0.0.0', '127.0.0.1.example', '192.0.2.1']) {
      expect(cleartext(`smtp://${host}`)).toBe(false)
      expect(cleartext(`smtp://${host}`, { SKERRY_SMTP_CLEARTEXT: 'allow' })).toBe(true)
    }
  })

  test.each([
    'postgres://skerry:4711%2FaB%40c@127.0.0.1:5432/skerry',
    'postgres://skerry:at@sign@db.internal/skerry?sslmode=verify-full',
    'postgres:///skerry?host=/var/run/postgresql',
    'postgres://skerry@%2Fvar%2Frun%2Fpostgresql/skerry',
  ])('keeps the database URL unchanged: %s', (url) => {
    expect(readConfig({ SKERRY_DATABASE_URL: url }).databaseUrl).toBe(url)
  })

  test('accepts the proxies that Fastify accepts, and ignores an extra comma', () => {
    const ranges = ['10.0.0.1', '10.0.0.0/8', '::1', 'fe80::/10', '::ffff:192.0.2.0/120', 'fe80::1%eth0', 'uniquelocal']
    const { trustedProxies } = readConfig({ SKERRY_TRUSTED_PROXIES: `${ranges.join(' , ')},` })
    expect(trustedProxies).toEqual(ranges)
    expect(() => Fastify({ trustProxy: trustedProxies })).not.toThrow()
    expect(readConfig({ SKERRY_TRUSTED_PROXIES: ' , ' }).trustedProxies).toEqual([])
  })

  test('ignores variables of other programs and those of the CLI', () => {
    const source = readFileSync(new URL('../../cli/src/variables.ts', import.meta.url), 'utf8')
    const ofTheCli = /const own = \[([^\]]*)\]/.exec(source)?.[1]?.match(/SKERRY_[A-Z_]+/g) ?? []
    expect(ofTheCli).toEqual(expect.arrayContaining(['SKERRY_TOKEN', 'SKERRY_KEYRING', 'SKERRY_TASK']))
    const environment = { PATH: '/bin', skerry_port: '1', ...Object.fromEntries(ofTheCli.map((name) => [name, 'x'])) }
    expect(readConfig(environment)).toEqual(readConfig({}))
  })
})

describe('readConfig refuses', () => {
  test.each(['SKERRY_DATABSE_URL', 'SKERRY_', 'SKERRY_toString', 'SKERRY___proto__'])(
    'the unknown variable %s, by name and without its value',
    (name) => {
      const message = refusal({ [name]: 'postgres://u:hunter2@h/db' })
      expect(message).toContain(`${name}: no such setting`)
      expect(message).not.toContain('hunter2')
    },
  )

  test.each([
    ['SKERRY_PORT', ['-1', '65536', '1.5', '4700x', '0x10', '1e3', ' ', 'four', '9'.repeat(20)]],
    ['SKERRY_DATABASE_POOL', ['0', '2', '201', 'NaN', 'Infinity']],
    ['SKERRY_RESOLVE_CACHE_MB', ['-1', '4097', '1_000']],
  ])('an invalid or out-of-range number in %s', (name, values) => {
    for (const value of values)
      expect(refusal({ [name]: value })).toMatch(new RegExp(`^${name}: must be a whole number`))
  })

  test.each([
    ['SKERRY_LOG_LEVEL', 'verbose'],
    ['SKERRY_RATE_LIMITS', 'true'],
    ['SKERRY_ALLOW_PLAINTEXT', 'YES'],
  ])('an unknown word in %s', (name, value) => {
    expect(refusal({ [name]: value })).toMatch(new RegExp(`^${name}: must be one of `))
  })

  test.each([
    ['SKERRY_DATABASE_URL', 'mysql://u:hunter2@h/db'],
    ['SKERRY_DATABASE_URL', 'u:hunter2@h/db'],
    ['SKERRY_SMTP_URL', 'https://u:hunter2@mail.example'],
    ['SKERRY_SMTP_URL', 'smtp://u:hunter2@'],
    ['SKERRY_BASE_URL', 'skerry.example/hunter2'],
    ['SKERRY_BASE_URL', 'https://skerry.example\nhunter2'],
    ['SKERRY_OIDC_ISSUER', 'id.example/hunter2'],
  ])('a wrong URL in %s, without repeating it', (name, value) => {
    const message = refusal({ [name]: value, ...(name === 'SKERRY_OIDC_ISSUER' ? { SKERRY_OIDC_AUDIENCE: 'a' } : {}) })
    expect(message).toMatch(new RegExp(`^${name}: must `))
    expect(message).not.toContain('hunter2')
  })

  test.each(['/', '?', '#', '/%2F', '/x@y'])(
    'a password with an unencoded %s, without showing any part of it',
    (it) => {
      const message = refusal({ SKERRY_DATABASE_URL: `postgres://skerry:4711${it}hunter2@127.0.0.1:5432/skerry` })
      expect(message).toMatch(/^SKERRY_DATABASE_URL: .* percent-encode/)
      expect(message).not.toMatch(/4711|hunter2/)
    },
  )

  test.each([
    'nonsense',
    '10.0.0.0/99',
    '10.0.0.0/0',
    '10.0.0.0/',
    '2001:db8::/129',
    '10.0.0.1 10.0.0.2',
    '10.0.0.0/8/8',
  ])('an invalid proxy: %s', (proxy) => {
    for (const value of [proxy, `127.0.0.1, ${proxy}`])
      expect(refusal({ SKERRY_TRUSTED_PROXIES: value })).toMatch(/^SKERRY_TRUSTED_PROXIES: must be addresses or CIDR/)
  })

  test.each(['localhost', 'loopback', '10.0.0.0/33', '10.0.0.0/0', '::/0', 'fe80::1%eth0', '10.0.0.1-10.0.0.9', '*'])(
    'an invalid network: %s',
    (range) => {
      for (const value of [range, `127.0.0.1, ${range}`])
        expect(refusal({ SKERRY_ALLOW_PRIVATE_TARGETS: value })).toMatch(
          /^SKERRY_ALLOW_PRIVATE_TARGETS: must be addresses or CIDR/,
        )
    },
  )

  test.each([
    'https://sts.inner',
    '[]',
    'null',
    '{"cloud-a":1}',
    '{"cloud-a":"sts.inner"}',
    '{"cloud-a":"https://sts.inner/"}',
    '{"cloud-a":"https://u:hunter2@sts.inner"}',
    '{"cloud-a":"ftp://sts.inner"}',
    '{"Cloud Q":"https://sts.inner"}',
  ])('invalid origins: %s, without repeating them', (value) => {
    const message = refusal({ SKERRY_PROVIDER_ORIGINS: value })
    expect(message).toMatch(/^SKERRY_PROVIDER_ORIGINS: .*must be a/)
    expect(message).not.toMatch(/sts\.inner|hunter2/)
  })

  test('two origins of one provider, by its slug and by its tag', () => {
    const value = '{"aws":"https://sts.inner","cloud-a":"https://other.inner"}'
    expect(refusal({ SKERRY_PROVIDER_ORIGINS: value })).toBe(
      'SKERRY_PROVIDER_ORIGINS: "cloud-a" is a provider that is already named',
    )
  })

  test('a previous server key without a current one, and an invalid key without repeating it', () => {
    const [key, bad] = ['A'.repeat(43), 'hunter2']
    expect(refusal({ SKERRY_SERVER_KEY_PREVIOUS: key })).toContain('SKERRY_SERVER_KEY_PREVIOUS: says nothing without')
    const message = refusal({ SKERRY_SERVER_KEY: key, SKERRY_SERVER_KEY_PREVIOUS: bad })
    expect(message).toMatch(/^SKERRY_SERVER_KEY_PREVIOUS: must be 32 bytes/)
    expect(message).not.toContain(bad)
  })

  test('an issuer without an audience, or an audience without an issuer', () => {
    expect(refusal({ SKERRY_OIDC_ISSUER: 'https://id.example' })).toContain('set both or neither')
    expect(refusal({ SKERRY_OIDC_AUDIENCE: 'skerry' })).toContain('set both or neither')
  })
})

describe('an address to listen on', () => {
  test.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost'])('%s is allowed without SKERRY_ALLOW_PLAINTEXT', (host) => {
    expect(readConfig({ SKERRY_HOST: host }).host).toBe(host)
  })

  test.each(['0.0.0.0', '::', '192.0.2.1', 'skerry.example', '127.evil.example', '127.0.0.1.example', '1127.0.0.1'])(
    '%s is refused with the reason, unless plain HTTP is allowed',
    (host) => {
      expect(refusal({ SKERRY_HOST: host })).toMatch(/SKERRY_HOST: .* in the clear.* SKERRY_ALLOW_PLAINTEXT=yes/)
      expect(readConfig({ SKERRY_HOST: host, SKERRY_ALLOW_PLAINTEXT: 'yes' }).host).toBe(host)
      expect(() => readConfig({ SKERRY_HOST: host, SKERRY_ALLOW_PLAINTEXT: 'no' })).toThrow(ConfigError)
    },
  )
})
