import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { syncProviders } from '../sync/providers.ts'
import { leaseConfigProblem } from './config.ts'
import { type LeaseConfig, leaseProviders } from './providers.ts'
import { fillTemplate, leasePlaceholders, templateProblem } from './templates.ts'
import { verifierProblem } from './verifiers.ts'

const key = `${'A'.repeat(42)}E=`
const scram = (iterations: number, salt = `${'A'.repeat(21)}Q==`) => `SCRAM-SHA-256$${iterations}:${salt}$${key}:${key}`

describe('the provider', () => {
  it.each([
    ['postgres', scram(4096)],
    ['postgres', scram(100_000)],
    ['mysql', `*${'0A'.repeat(20)}`],
    ['redis', '0a'.repeat(32)],
  ] as const)('%s accepts the verifier %s', (provider, verifier) => {
    expect(verifierProblem(provider, verifier)).toBeNull()
  })

  it.each([
    ['postgres', scram(4095)],
    ['postgres', scram(100_001)],
    ['postgres', scram(4096, 'AAAA')],
    ['postgres', scram(4096, `${'A'.repeat(21)}R==`)],
    ['postgres', `${scram(4096)}\n`],
    ['postgres', scram(4096).replace('E=', 'F=')],
    ['postgres', 'md5d41d8cd98f00b204e9800998ecf8427e'],
    ['mysql', `*${'0a'.repeat(20)}`],
    ['mysql', '0A'.repeat(20)],
    ['redis', '0A'.repeat(32)],
    ['redis', '0a'.repeat(31)],
  ] as const)('%s refuses the verifier %s, and the reason does not repeat it', (provider, verifier) => {
    const problem = verifierProblem(provider, verifier)
    expect(problem).toMatch(/^(is not|has iterations)/)
    expect(problem).not.toContain(verifier.trim())
  })
})

describe('templates', () => {
  it('may contain only placeholders in double braces', () => {
    expect(templateProblem("CREATE ROLE {{roleName}} PASSWORD '{{verifier}}' -- { } }", leasePlaceholders)).toBeNull()
    for (const bad of ['{{name}}', '{{ roleName }}', '{{}}', '{{roleName', '{{constructor}}'])
      expect(templateProblem(bad, leasePlaceholders)).not.toBeNull()
  })

  it('are filled in once: a value is never read as a template', () => {
    expect(fillTemplate('{{roleName}} {{verifier}}', { roleName: '{{verifier}}', verifier: '$&' })).toBe(
      '{{verifier}} $&',
    )
    expect(() => fillTemplate('{{schema}}', {})).toThrow('schema')
  })
})

describe('configs', () => {
  const redis: LeaseConfig<'redis'> = {
    provider: 'redis',
    executor: 'in_broker',
    connection: { host: '::1', port: 6379 },
    accessLevel: 'readonly',
  }

  it('must name a provisioner if one signs in, and only then', () => {
    const provisionerTokenId = `skt_${'0'.repeat(22)}`
    expect(leaseConfigProblem(redis)).toBeNull()
    expect(leaseConfigProblem({ ...redis, executor: 'provisioner', provisionerTokenId })).toBeNull()
    expect(leaseConfigProblem({ ...redis, executor: 'provisioner' })).toMatch(/^provisionerTokenId: needed/)
    expect(leaseConfigProblem({ ...redis, provisionerTokenId })).toMatch(/^provisionerTokenId: only/)
  })

  it('refuse unknown settings and invalid values', () => {
    const { config } = leaseProviders.redis
    expect(Value.Check(config, redis)).toBe(true)
    for (const bad of [{ schema: 'x' }, { rules: [] }, { rules: ['nopass'] }, { connection: { host: '-x', port: 1 } }])
      expect([bad, Value.Check(config, { ...redis, ...bad })]).toEqual([bad, false])
  })
})

it('every field that a person fills in has a sentence that explains it', () => {
  const fields = (schema: unknown, path: string): [string, unknown][] => {
    const { properties = {}, anyOf = [] } = schema as {
      properties?: Record<string, { description?: string; properties?: object }>
      anyOf?: unknown[]
    }
    if (anyOf.length > 0) return anyOf.flatMap((each) => fields(each, path))
    return Object.entries(properties).flatMap(([name, field]) =>
      name === 'provider' || name === 'kind'
        ? []
        : field.properties
          ? fields(field, `${path}.${name}`)
          : [[`${path}.${name}`, field.description] as [string, unknown]],
    )
  }
  const rows = [
    ...Object.entries(leaseProviders).map(([tag, { config }]) => [tag, config]),
    ...Object.entries(syncProviders).flatMap(([tag, { config, destination }]) => [
      [tag, config],
      [tag, destination],
    ]),
  ] as [string, unknown][]
  for (const [tag, schema] of rows)
    for (const [path, description] of fields(schema, tag))
      expect([path, description]).toEqual([path, expect.stringMatching(/\.$/)])
})
