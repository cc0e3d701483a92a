import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { settings } from '../../server/src/settings.ts'
import { formatAge, formatAgo, formatLocal, parseDuration } from '../src/duration.ts'
import { exitCodes, Failure, redact, describe as tell, toFailure } from '../src/failure.ts'
import { placeOptions, trustHint } from '../src/labels.ts'
import { slugFrom } from '../src/names.ts'
import { formatTable, showsValues } from '../src/output.ts'
import { eachAtOnce, inOrder } from '../src/parallel.ts'
import { parsePlace } from '../src/places.ts'
import { findProject } from '../src/project.ts'
import { buildLaunch } from '../src/run/environment.ts'
import { findProgram } from '../src/run/program.ts'
import { checkVariables } from '../src/variables.ts'

describe('the hint about a changed environment', () => {
  afterEach(() => void vi.unstubAllEnvs())

  it('repeats --profile', () => {
    vi.stubEnv('CI', '')
    expect(trustHint('shop/staging', 'acme@skerry.example.com:4700')).toContain(
      'accept it with `skerry env trust shop/staging --profile acme@skerry.example.com:4700`',
    )
    expect(trustHint('shop/staging', undefined)).toContain('accept it with `skerry env trust shop/staging`')
  })

  it('names the command with --yes in CI, where nobody can answer a question', () => {
    vi.stubEnv('CI', 'true')
    expect(trustHint('shop/staging', undefined)).toContain(
      'run `skerry env trust shop/staging --yes` in this pipeline once',
    )
  })
})

describe('variables', () => {
  it('of the server, and of Kubernetes for a service named skerry, are allowed', () => {
    const names = [
      ...Object.keys(settings),
      'SKERRY_SERVICE_HOST',
      'SKERRY_SERVICE_PORT_HTTP',
      'SKERRY_PORT_4700_TCP_ADDR',
    ]
    expect(() => checkVariables(Object.fromEntries(names.map((name) => [name, 'x'])))).not.toThrow()
  })

  it.each(['SKERRY_STRICT_MODE', 'SKERRY_PROJECT', 'SKERRY_port', 'SKERRY_'])('such as %s are refused', (name) => {
    expect(() => checkVariables({ [name]: 'x' })).toThrow(`${name} is set, but Skerry has no such variable`)
    expect(() => checkVariables({ [name]: '' })).not.toThrow()
  })
})

describe('durations', () => {
  it.each([
    ['30s', 30],
    ['15m', 900],
    ['24h', 86_400],
    ['7d', 604_800],
  ])('%s is %i seconds', (text, seconds) => expect(parseDuration(text, '--ttl')).toBe(seconds))

  it.each([
    [-5, 'just now'],
    [59, 'just now'],
    [60, '1 minute ago'],
    [7199, '1 hour ago'],
    [7200, '2 hours ago'],
    [86_400, '1 day ago'],
    [40 * 86_400, '2026-09-01'],
  ])('what is %i seconds ago is shown as %s', (seconds, expected) => {
    expect(formatAgo('2026-09-01T10:00:00.000Z', Date.parse('2026-09-01T10:00:00.000Z') + seconds * 1000)).toBe(
      expected,
    )
  })

  it('an instant is shown in the time zone of this machine', () => {
    const instant = new Date(2026, 11, 4, 9, 5, 7).toISOString()
    expect([formatLocal(instant), formatLocal(instant, 'seconds')]).toEqual(['2026-12-04 09:05', '2026-12-04 09:05:07'])
  })

  it.each(['', '45', 'h', '1.5h', '-1s', '1w', '1 h', '1h30m'])('%j is refused', (text) => {
    expect(() => parseDuration(text, '--ttl')).toThrow('--ttl must be a duration')
  })

  it('an age is shown in the largest unit that is still precise', () => {
    expect([3, 89, 600, 7200, 200_000].map(formatAge)).toEqual(['3 s', '89 s', '10 min', '2 h', '2 d'])
  })
})

describe('failures', () => {
  const token = `skt_${'a'.repeat(22)}_${'Zz-_'.repeat(11)}`

  it('never contain a token, a bearer or client credentials', () => {
    const text = redact(`refused ${token} with Bearer ${token} and Basic YWJjOmRlZg== and skm_${'x'.repeat(43)}`)
    expect(text).not.toMatch(/Zz-_|YWJj|xxxx/)
    expect(text).toContain(`skt_${'a'.repeat(22)}`)
  })

  it('have an exit code for each error code of the API', () => {
    const codeOf = (code: string) => exitCodes[toFailure(Object.assign(new Error('x'), { code })).kind]
    const codes = [
      'unauthorized',
      'forbidden',
      'not_found',
      'conflict',
      'rate_limited',
      'internal',
      'unavailable',
      'timeout',
    ]
    expect(codes.map(codeOf)).toEqual([3, 3, 4, 5, 6, 6, 6, 6])
    expect(codeOf('invalid_request')).toBe(1)
    expect(['something_new', 'constructor', 'valueOf', '__proto__'].map(codeOf)).toEqual([1, 1, 1, 1])
  })

  it('name the command instead of a field of the request', () => {
    const message =
      'the environment keeps 1000 deleted secrets, and may keep 1000: purge some, or delete without keepFor'
    expect(tell(toFailure({ code: 'quota_exceeded', message }))).toBe(
      'the environment keeps 1000 deleted secrets, and may keep 1000: delete some for good with `skerry secrets rm <NAME> --purge`',
    )
  })

  it('are printed as one line', () => {
    expect(tell(toFailure(new Error('first\nsecond\n    at file.ts:1:1')))).toBe('first')
    expect(tell(toFailure(undefined))).toBe('something unexpected happened')
  })
})

describe('work at the same time', () => {
  it('fails with the error of the first part, even if another part failed earlier', async () => {
    const late = Promise.withResolvers<never>()
    const failed = inOrder([late.promise, Promise.reject(new Error('second'))])
    setImmediate(() => late.reject(new Error('first')))
    await expect(failed).rejects.toThrow('first')
    expect(await inOrder([Promise.resolve(1), Promise.resolve(2)])).toEqual([1, 2])
  })

  it('goes on with at most eight parts, and keeps their order', async () => {
    let running = 0
    let most = 0
    const results = await eachAtOnce(
      Array.from({ length: 20 }, (_, at) => at),
      async (at) => {
        most = Math.max(most, ++running)
        await new Promise(setImmediate)
        running--
        return at * 2
      },
    )
    expect([most, results]).toEqual([8, Array.from({ length: 20 }, (_, at) => at * 2)])
  })
})

describe('names of environments', () => {
  it.each([
    ['production', { env: 'production' }, '--app <slug> --env production'],
    ['api/staging', { app: 'api', env: 'staging' }, '--app api --env staging'],
    ['api/staging@pr-7', { app: 'api', env: 'staging', branch: 'pr-7' }, '--app api --env staging --branch pr-7'],
    ['shared:staging', { group: 'shared', env: 'staging' }, '--group shared --env staging'],
  ])('%s is parsed, and printed as options', (text, place, options) => {
    expect(parsePlace(text)).toEqual(place)
    if (text.includes('/') || text.includes(':')) expect(placeOptions(text)).toBe(options)
  })

  it('that are unknown are printed as <slug>', () => {
    expect(placeOptions('the token’s environment')).toBe('--app <slug> --env <slug>')
    expect(placeOptions('the token’s environment@pr-7')).toBe('--app <slug> --env <slug> --branch pr-7')
  })

  it.each(['', 'a/b/c', 'A', 'a:b:c', 'a@', '/a'])('%j is refused', (text) => {
    expect(() => parsePlace(text)).toThrow(Failure)
  })

  it.each([
    ['Acme & Söhne GmbH', 'acme-sohne-gmbh'],
    ['  --x--  ', 'x'],
    ['Ünïcode 2', 'unicode-2'],
    ['日本', undefined],
    ['a'.repeat(80), 'a'.repeat(63)],
  ])('a slug is made of %s', (text, slug) => expect(slugFrom(text)).toBe(slug))
})

describe('values', () => {
  it('are shown in a pipe, and on a terminal only with --reveal', () => {
    expect(showsValues({}, false)).toBe(true)
    expect(showsValues({}, true)).toBe(false)
    expect(showsValues({ reveal: true }, true)).toBe(true)
  })

  it('cannot control the terminal from a table', () => {
    expect(formatTable(['name'], [['a\x1b[2Jb\r\n\u202ec']])).toBe('NAME\na\\u001b[2Jb\\u000d\\u000a\\u202ec\n')
  })
})

describe('the start of a program', () => {
  const scope = { orgId: '', orgSlug: '', appId: '', appSlug: 'shop', envId: '', envSlug: 'dev' }
  const launch = (values: Record<string, string>) => {
    const provenance = Object.fromEntries(
      Object.keys(values).map((name) => [
        name,
        { source: 'app' as const, environmentId: '', slug: 'dev', overrides: [] },
      ]),
    )
    const resolved = { values, provenance, overridden: [], scope, unexpanded: new Map() }
    return buildLaunch({
      resolved,
      selection: {},
      allowNames: [],
      overlay: undefined,
      processEnv: {},
      isMounted: false,
      override: [],
    })
  }

  it('fails for a value with a NUL byte, and the error names the secret', () => {
    expect(() => launch({ GOOD: 'x', BAD: 'a\0b' })).toThrow(/BAD has a NUL byte/)
  })

  it('fails for a value that is too large for any system, and the error names the secret', () => {
    expect(() => launch({ HUGE: 'x'.repeat(131_072) })).toThrow(/HUGE is larger/)
    expect(launch({ LARGE: 'x'.repeat(131_000) }).env.LARGE).toHaveLength(131_000)
  })

  it('searches for the program along PATH, where an empty entry is the current folder', () => {
    expect(findProgram('sh', '/nonexistent:/bin')).toBe('/bin/sh')
    expect(() => findProgram('package.json', '')).toThrow(/cannot be executed/)
    expect(() => findProgram('sh', '/nonexistent')).toThrow(/not found/)
  })
})

describe('skerry.json', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'skerry-project-'))
    mkdirSync(join(folder, '.git'))
    mkdirSync(join(folder, 'packages/api/src'), { recursive: true })
    mkdirSync(join(folder, 'packages/apiary'), { recursive: true })
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const write = (value: unknown) => writeFileSync(join(folder, 'skerry.json'), JSON.stringify(value))

  it('gives a folder the closest entry of paths', () => {
    const paths = { packages: { env: 'staging' }, './packages/api/': { app: 'api' } }
    write({ org: 'acme', app: 'root', env: 'dev', paths })
    const scopeIn = (path: string) => findProject(join(folder, path))?.scope
    expect(scopeIn('.')).toEqual({ app: 'root', env: 'dev' })
    expect(scopeIn('packages/apiary')).toEqual({ app: 'root', env: 'staging' })
    expect(scopeIn('packages/api/src')).toEqual({ app: 'api', env: 'staging' })
  })

  it('accepts a folder named __proto__', () => {
    const paths = JSON.parse('{ "__proto__": { "app": "api" }, "constructor": { "env": "staging" } }')
    write({ app: 'root', env: 'dev', paths })
    expect(findProject(join(folder, '__proto__'))?.scope).toEqual({ app: 'api', env: 'dev' })
    expect(findProject(join(folder, 'constructor'))?.scope).toEqual({ app: 'root', env: 'staging' })
  })

  it.each([[{ token: 'x' }], [{ app: 1 }], [{ paths: { a: { url: 'x' } } }], [[]]])('%j is refused', (value) => {
    write(value)
    expect(() => findProject(folder)).toThrow(Failure)
  })

  it('is not searched for above the repository', () => {
    rmSync(join(folder, 'skerry.json'))
    expect(findProject(join(folder, 'packages'))).toBeNull()
  })
})
