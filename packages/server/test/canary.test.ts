import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { apps } from '@skerry/contract/apps/endpoints'
import { listEndpoints } from '@skerry/contract/endpoints'
import { limits } from '@skerry/contract/limits'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientOf, type Journey, travel } from './canary-steps.ts'
import { engine } from './engine.ts'
import { findings, type Needle, needle, type Place } from './needles.ts'
import { tableDump } from './state.ts'
import { openWorld, type World } from './world.ts'

let world: World
let journey: Journey
let startedAt: number

beforeAll(async () => {
  startedAt = Date.now()
  world = await openWorld({ SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' })
  journey = await travel(world, `canary ${randomBytes(12).toString('hex')} in the clear`)
  await mistakes()
  await failure()
})
afterAll(() => world.close())

/** The files in the data directory written since the start: the database with its write-ahead log, and the outbox. */
async function fileDump(): Promise<Place[]> {
  const folder = world.server.context.config.dataDir
  const places: Place[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile()) continue
    try {
      if ((await stat(path)).mtimeMs < startedAt) continue
      places.push({ where: `file ${path}`, text: await readFile(path, 'latin1') })
    } catch (error) {
      // The database may rename or remove a file at any time.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return places
}

const answers = (): Place[] => world.answers.map((text, index) => ({ where: `answer ${index}`, text }))
const logged = (): Place[] => [{ where: 'the log', text: world.log.join('') }]

interface Mistake {
  method: string
  path: string
  body?: string
  headers?: Record<string, string>
}

async function send({ method, path, body, headers = {} }: Mistake): Promise<number> {
  const response = await fetch(`${world.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${journey.admin.parsed.bearer}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  })
  world.answers.push(`${JSON.stringify([...response.headers])} ${await response.text()}`)
  return response.status
}

/** Sends the value in many wrong places and forms. The server must refuse each of them. */
async function mistakes(): Promise<void> {
  const { canary, orgId, envId } = journey
  const url = encodeURIComponent(canary)
  const long = canary.padEnd(limits.ciphertextBytes + 1, 'x')
  for (const { endpoint } of listEndpoints()) {
    const { method } = endpoint
    const path = endpoint.path
      .replace(':orgId', orgId)
      .replace(':envId', envId)
      .replace(':name', 'VALUE')
      .replace(/:\w+/g, url)
    const refused = [await send({ method, path: `${path}?cursor=${url}&limit=${url}&with=${url}&branch=${url}` })]
    if (method !== 'GET') {
      const fields = Object.keys(endpoint.body.properties)
      const bodies = [
        `{"${fields[0] ?? 'a'}":"${canary}`,
        `"${canary}"`,
        JSON.stringify([canary]),
        JSON.stringify({ unknown: canary }),
        ...(fields.length === 0 ? [] : [`${canary}\n`, [canary], { [canary]: canary }, long]).map((value) =>
          JSON.stringify(Object.fromEntries(fields.map((field) => [field, value]))),
        ),
      ]
      for (const body of bodies) refused.push(await send({ method, path, body }))
    }
    expect([path, refused.filter((status) => status < 400 || status >= 500)]).toEqual([path, []])
  }
  const odd: Mistake[] = [
    { method: 'GET', path: `/v1/${url}` },
    { method: 'GET', path: `/v1/orgs/${url}` },
    { method: 'GET', path: `/v1/orgs/%zz${url}` },
    { method: 'GET', path: `/v1/orgs/${'a'.repeat(400)}${url}` },
    { method: 'GET', path: `/v1/resolve?env=${envId}&branch=${url}` },
    {
      method: 'PUT',
      path: `/v1/orgs/${orgId}/envs/${envId}/secrets/${url}`,
      body: JSON.stringify({ ciphertext: canary }),
    },
    { method: 'POST', path: '/v1/signup', body: canary, headers: { 'content-type': 'text/plain' } },
    {
      method: 'POST',
      path: '/v1/signup',
      body: `orgName=${url}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    },
    { method: 'GET', path: '/v1/me', headers: { authorization: `Bearer ${url}` } },
    {
      method: 'GET',
      path: '/v1/me',
      headers: { authorization: `Basic ${Buffer.from(`m2m_a:${canary}`).toString('base64')}` },
    },
  ]
  for (const mistake of odd) {
    const status = await send(mistake)
    expect([mistake.path, status, status >= 400 && status < 500]).toEqual([mistake.path, status, true])
  }
}

/** Causes a database error that quotes the row, which contains a value from the request body. */
async function failure(): Promise<void> {
  const { db } = world.server.context
  await db.script(`create function choke() returns trigger language plpgsql as $$
    begin raise exception 'cannot take %', new using detail = new::text, hint = new.name; end $$;
    create trigger choke before insert on applications for each row execute function choke()`)
  const body = JSON.stringify({ name: journey.canary, slug: 'choked' })
  expect(await send({ method: 'POST', path: `/v1/orgs/${journey.orgId}/apps`, body })).toBe(500)
  await db.script('drop trigger choke on applications; drop function choke()')
}

describe('a secret that only clients may know', () => {
  test('is in no column of any table', async () => {
    const places = await tableDump(world)
    expect(places.length).toBeGreaterThan(25)
    expect(findings([...journey.secret, ...journey.shownOnce], places)).toEqual([])
  })

  test('is in no line of the log at level debug', () => {
    expect(world.server.context.config.logLevel).toBe('debug')
    expect(world.log.length).toBeGreaterThan(100)
    expect(findings([...journey.secret, ...journey.shownOnce], logged())).toEqual([])
  })

  test('is in no response, not even to a malformed request', () => {
    expect(world.answers.length).toBeGreaterThan(200)
    expect(findings(journey.secret, answers())).toEqual([])
  })

  test('is only in the response that issues it, if it is a client secret or an access token', () => {
    expect(findings(journey.shownOnce, answers())).toHaveLength(journey.shownOnce.length)
  })

  test.runIf(engine() === 'embedded')(
    'is in no file of the data directory, not even in the write-ahead log',
    async () => {
      const places = await fileDump()
      expect(places.some(({ where }) => where.includes('pg_wal'))).toBe(true)
      expect(findings([...journey.secret, ...journey.shownOnce], places)).toEqual([])
    },
  )
})

describe('the search', () => {
  test('finds a secret in every encoding that it looks for', async () => {
    const found = (what: Needle, text: string) => findings([what], [{ where: 'here', text }]).length === 1
    const text = 'ein Schlüssel, der hier nicht stehen darf'
    const key = randomBytes(32)
    for (const [secret, bytes] of [
      [text, Buffer.from(text)],
      [key, key],
    ] as const)
      for (const before of ['', 'a', 'ab'])
        for (const encoding of ['base64', 'base64url', 'hex'] as const) {
          const whole = Buffer.concat([Buffer.from(before), bytes, Buffer.from('zz')]).toString(encoding)
          expect([before, encoding, found(needle('it', secret), `x${whole}`)]).toEqual([before, encoding, true])
        }
    expect(found(needle('it', text), JSON.stringify({ a: text }))).toBe(true)
    expect(found(needle('it', text), `?a=${encodeURIComponent(text)}`)).toBe(true)
    expect(found(needle('it', text), 'nothing of it')).toBe(false)
  })

  test('covers tables, responses and files: it finds the name of an application in all three', async () => {
    const name = `planted ${randomBytes(8).toString('hex')}`
    const client = clientOf(world, { bearer: journey.admin.parsed.bearer })
    await client.apps.create({ params: { orgId: journey.orgId }, body: { name, slug: 'planted' } })
    await world.call(apps.list, { as: `Bearer ${journey.admin.parsed.bearer}`, params: { orgId: journey.orgId } })
    const planted = needle('name', name)
    expect(findings([planted], await tableDump(world))).toEqual(['name in table public.applications'])
    expect(findings([planted], answers())).toHaveLength(2)
    if (engine() === 'embedded') expect(findings([planted], await fileDump()).length).toBeGreaterThan(0)
  })
})
