import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { leaseConfigProblem } from '@skerry/contract/leases/config'
import { leaseProviders } from '@skerry/contract/leases/providers'
import { tlsSettings } from '@skerry/providers/leases/tls'
import { variablesOf } from '@skerry/sdk/internal/lease-variables'
import type { LeaseTarget, MadeLease } from '@skerry/sdk/leases'
import { afterAll, describe, expect, it } from 'vitest'
import { checkShape } from '../../server/src/http/validate.ts'
import { newSshKey } from '../../server/test/lease-steps.ts'
import { adminQuestion, buildConfig, type ConfigOptions } from '../src/leases/config.ts'

const folder = mkdtempSync(join(tmpdir(), 'skerry-lease-settings-'))
afterAll(() => rmSync(folder, { recursive: true }))

const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const certificate = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const { publicKey, privateKey } = newSshKey()
file('ca', privateKey)
const ca = file('ca.pub', `${publicKey} of the hosts\n`)

describe('the settings of a target', () => {
  it.each<[string, string, ConfigOptions, object]>([
    [
      'PostgreSQL',
      'postgresql://skerry:p@db.example.com/shop',
      {},
      {
        connection: { host: 'db.example.com', port: 5432, database: 'shop' },
        accessLevel: 'readonly',
        schema: 'public',
      },
    ],
    [
      'PostgreSQL with options',
      'postgres://skerry:p@[2001:db8::1]:6543/shop',
      { level: 'readwrite', schema: 'app', tls: 'require', maxTtl: '2h' },
      {
        connection: { host: '2001:db8::1', port: 6543, database: 'shop', tls: 'require' },
        accessLevel: 'readwrite',
        schema: 'app',
        maxTtlSeconds: 7200,
      },
    ],
    [
      'MariaDB',
      'mysql://skerry:p@db/my%5Fshop',
      { userHost: '10.0.%' },
      { connection: { host: 'db', port: 3306, database: 'my_shop' }, userHost: '10.0.%' },
    ],
    [
      'MariaDB that may read passwords',
      'mysql://skerry:p@db/shop',
      { allowCleartextPassword: true },
      { connection: { host: 'db', port: 3306, database: 'shop', allowCleartextPassword: true }, userHost: '%' },
    ],
    [
      'Redis',
      'redis://skerry:p@cache/3',
      { caFile: file('authority.pem', certificate) },
      { connection: { host: 'cache', port: 6379, db: 3, caCertificate: certificate } },
    ],
    ['Redis without a number', 'redis://skerry:p@cache', {}, { connection: { host: 'cache', port: 6379 } }],
    [
      'MongoDB',
      'mongodb://skerry:p@db/shop',
      { tls: 'require' },
      { connection: { host: 'db', port: 27_017, database: 'shop' }, tls: 'require' },
    ],
    [
      'SSH',
      privateKey,
      { file: join(folder, 'ca'), principal: ['deploy', 'backup'] },
      { caPublicKey: `${publicKey} of the hosts`, allowedPrincipals: ['deploy', 'backup'] },
    ],
    ['SSH with its public key named', privateKey, { caPublicKey: ca }, { caPublicKey: `${publicKey} of the hosts` }],
    [
      'a cloud, from a file',
      '{}',
      {
        config: file(
          'cloud.json',
          '{"provider":"aws","region":"eu-west-1","roleArn":"arn:aws:iam::123456789012:role/r"}',
        ),
        maxTtl: '15m',
      },
      { provider: 'cloud-a', region: 'eu-west-1', executor: 'in_broker', maxTtlSeconds: 900 },
    ],
  ])('for %s come from its credential, and the server accepts them', (_, secret, options, expected) => {
    const config = buildConfig(secret, options)
    expect(config).toMatchObject(expected)
    expect(() => checkShape(leaseProviders[config.provider].config, config, 'config')).not.toThrow()
    expect(leaseConfigProblem(config)).toBeNull()
  })

  it.each<[string, ConfigOptions]>([
    ['Connection string of the admin account, such as postgres://skerry:...@db.example.com/shop', {}],
    ['Connection string of the admin account, such as mysql://skerry:...@db.example.com/shop', { provider: 'mysql' }],
    ['Connection string of the admin account, such as redis://skerry:...@db.example.com', { provider: 'redis' }],
    ['Admin credential of AWS', { provider: 'cloud-a' }],
    ['Admin credential', { config: 'target.json' }],
  ])('the question for the credential is: %s', (question, options) => {
    expect(adminQuestion(options)).toBe(question)
  })

  it.each<[string, string, ConfigOptions, string]>([
    ['no database', 'postgres://a:b@h', {}, 'the admin connection string has no database name'],
    [
      'the admin credential is not a connection string',
      'topsecret',
      { provider: 'mysql' },
      'the admin credential is not a connection string',
    ],
    ['no public key', privateKey, {}, 'use --ca-public-key'],
    ['a file that is no JSON', '{}', { config: file('broken.json', '{') }, 'is not JSON'],
    ['a file that is no object', '{}', { config: file('list.json', '[]') }, 'is not a JSON object'],
    [
      'an unknown provider',
      '{}',
      { config: file('other.json', '{"provider":"telnet"}') },
      "no kind of lease target 'telnet'",
    ],
    ['a provider that is no text', '{}', { config: file('number.json', '{"provider":1}') }, 'is not text'],
    [
      'an option beside the file',
      '{}',
      { config: file('bare.json', '{"provider":"cloud-a"}'), level: 'x' },
      'cannot be used together',
    ],
    [
      'another provider’s option',
      'redis://a:b@h',
      { schema: 'app' },
      '--schema has no effect on a target of Redis or Valkey',
    ],
  ])('with %s are refused, and the credential is not repeated', (_, secret, options, message) => {
    const refuse = () => buildConfig(secret, options)
    expect(refuse).toThrow(expect.objectContaining({ name: 'Failure', kind: 'usage' }))
    try {
      refuse()
    } catch (error) {
      const { message: said, next = '' } = error as { message: string; next?: string }
      expect(`${said}; ${next}`).toContain(message)
      expect(`${said}; ${next}`).not.toContain('topsecret')
    }
  })
})

describe('the variables of a lease', () => {
  const expiresAt = '2030-01-01T00:00:00.000Z'
  const account = { host: 'db.example.com', port: 1, database: 'shop', username: 'me', expiresAt }
  const variables = (made: object, config: object) =>
    variablesOf(made as Exclude<MadeLease, { provider: 'ssh' }>, { config } as LeaseTarget, rootCertificates)
  const connection = { host: 'db.example.com', port: 1, database: 'shop' }

  it.each([
    ['127.db.example.com', 'verify-full'],
    ['localhost.example.com', 'verify-full'],
    ['127.0.0.1', 'disable'],
    ['::1', 'disable'],
  ])('for a target at %s have the TLS mode %s', (host, mode) => {
    const made = { provider: 'postgres', connection: { ...account, host }, password: 'p' }
    expect(variables(made, { connection: { ...connection, host } }).values.get('PGSSLMODE')).toBe(mode)
    expect(tlsSettings({ host })).toEqual(mode === 'disable' ? false : expect.objectContaining({ host }))
  })

  it('make programs check the certificate of PostgreSQL, with the authorities of Node if the target names none', () => {
    const made = { provider: 'postgres', connection: account, password: 'p' }
    const { values, files } = variables(made, { connection })
    expect(Object.fromEntries(values)).toMatchObject({
      PGSSLMODE: 'verify-full',
      DATABASE_URL: 'postgres://me:p@db.example.com:1/shop?sslmode=verify-full',
    })
    expect(files.get('PGSSLROOTCERT')).toContain('-----BEGIN CERTIFICATE-----')
    const own = variables(made, { connection: { ...connection, caCertificate: certificate } })
    expect(own.files.get('PGSSLROOTCERT')).toBe(certificate)
    expect(variables(made, { connection: { ...connection, tls: 'require' } }).files.size).toBe(0)
  })

  it('require TLS unless the target is this machine', () => {
    const redis = { provider: 'redis', connection: { ...account, database: 2 }, password: 'p' }
    expect(variables(redis, { connection }).values.get('REDIS_URL')).toBe('rediss://me:p@db.example.com:1/2')
    const here = { ...redis, connection: { ...redis.connection, host: '127.0.0.1' } }
    expect(variables(here, { connection }).values.get('REDIS_URL')).toBe('redis://me:p@127.0.0.1:1/2')
    const mongodb = { provider: 'mongodb', connection: { ...account, authSource: 'admin' }, password: 'p/w' }
    expect(variables(mongodb, { connection }).values.get('MONGODB_URI')).toBe(
      'mongodb://me:p%2Fw@db.example.com:1/shop?authSource=admin&tls=true',
    )
  })

  it('are those that the tools of AWS and Google Cloud read', () => {
    const credential = { accessKeyId: 'A', secretAccessKey: 'S', sessionToken: 'T' }
    const aws = variables({ provider: 'cloud-a', region: 'eu-west-1', credential }, {})
    expect(Object.fromEntries(aws.values)).toEqual({
      AWS_ACCESS_KEY_ID: 'A',
      AWS_SECRET_ACCESS_KEY: 'S',
      AWS_SESSION_TOKEN: 'T',
      AWS_REGION: 'eu-west-1',
      AWS_DEFAULT_REGION: 'eu-west-1',
    })
    const google = variables({ provider: 'cloud-b', accessToken: 'ya29' }, {})
    expect(google.values.get('CLOUDSDK_AUTH_ACCESS_TOKEN')).toBe('ya29')
  })
})
