import { branches } from '@skerry/contract/branches/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { ciphertext, wrappedKey } from '../../../test/blobs.ts'
import { engine } from '../../../test/engine.ts'
import { held } from '../../../test/held.ts'
import { openEnv } from '../../../test/scene.ts'
import { auditRows, newEntries, stateOf, stopSchedules } from '../../../test/state.ts'
import { type Actor, grantKey, newEnv, newToken, putSecret, written } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { call, start } from '../../../test/world.ts'
import type { RunningServer } from '../../server.ts'

const { world, tenant, appId, envId } = await openEnv()
await stopSchedules(world)
await putSecret(world, tenant, envId, 'FIRST')
afterEach(() => vi.restoreAllMocks())

interface Put {
  name: string
  as?: string
  env?: string
  expectedVersion?: number
  url?: string
}

/** The world’s own call prints every 500, and some of these tests expect one. */
const put = ({ name, as = tenant.admin.as, env = envId, expectedVersion, url = world.url }: Put) =>
  call(url, world.answers, secrets.put, {
    as,
    params: { orgId: tenant.orgId, envId: env, name },
    body: { ciphertext: ciphertext(), ...(expectedVersion === undefined ? {} : { expectedVersion }) },
  })
const all = (puts: Put[]) => Promise.all(puts.map(put))

const isGroup = (text: string) => text.includes('for key share skip locked')

/** Sends writes while a group is under way, so that they form the next groups. Returns the names in each group. */
async function together(puts: Put[]) {
  const { db, writes } = world.server.context
  const { rows } = db.batches
  const groups: string[][] = []
  const held = Promise.withResolvers<void>()
  const sent = vi.spyOn(db.batches, 'rows').mockImplementation(async (text, values) => {
    if (isGroup(text) && groups.push(values?.[2] as string[]) === 1) await held.promise
    // A mock of a generic function cannot know the type of its answer.
    return (await rows(text, values)) as never
  })
  const added = vi.spyOn(writes, 'add')
  try {
    const first = put({ name: 'AHEAD' })
    await until('a group is on its way', () => groups.length === 1)
    const answers = all(puts)
    await until('the next is complete', () => added.mock.calls.length === 1 + puts.length)
    held.resolve()
    expect((await first).status).toBeLessThan(300)
    return { answers: await answers, groups: groups.slice(1) }
  } finally {
    held.resolve()
    sent.mockRestore()
    added.mockRestore()
  }
}

/** Makes a token that is cached in memory and may write. */
async function writer(env = envId): Promise<Actor> {
  const token = await newToken(world, tenant)
  await grantKey(world, tenant, env, token)
  await call(world.url, world.answers, secrets.list, { as: token.as, params: { orgId: tenant.orgId, envId: env } })
  expect((await put({ name: `KNOWN_${token.id}`, as: token.as, env })).status).toBe(201)
  return token
}

const sql = (text: string, ...values: unknown[]) => world.server.context.db.rows(text, values)

/** The versions of a name, and the versions that the audit log records. */
async function historyOf(name: string) {
  const params = { orgId: tenant.orgId, envId, name }
  const { body } = await world.call(secrets.versions, { as: tenant.admin.as, params, query: { limit: 200 } })
  const audited = (await auditRows(world)).filter(({ metadata }) => metadata.name === name)
  return {
    versions: body.versions.map(({ version }) => version).sort((a, b) => a - b),
    audited: audited.map(({ metadata }) => metadata.version as number).sort((a, b) => a - b),
  }
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe('simultaneous writes', () => {
  test('share one statement, and each gets its own version and audit entry', async () => {
    const names = upTo(40).map((n) => `MANY_${n}`)
    const made = await newEntriesOf(names.map((name) => ({ name })))
    expect(made.groups.map((group) => group.toSorted())).toEqual([names.toSorted()])
    expect(
      made.answers.map(({ status, body }) => [status, written(body).secret.name, written(body).secret.version]),
    ).toEqual(names.map((name) => [201, name, 1]))
    expect(made.entries).toEqual(
      new Set(
        made.answers.map(({ body, headers }) =>
          JSON.stringify([
            headers.get('x-request-id'),
            written(body).secret.id,
            { name: written(body).secret.name, version: 1 },
          ]),
        ),
      ),
    )
  })

  test('to one name get consecutive versions without a gap', async () => {
    const { answers, groups } = await together(upTo(20).map(() => ({ name: 'ONE' })))
    expect(groups).toEqual(upTo(20).map(() => ['ONE']))
    expect(answers.map(({ body }) => written(body).secret.version).sort((a, b) => a - b)).toEqual(upTo(20))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(await historyOf('ONE')).toEqual({ versions: upTo(20), audited: upTo(20) })
  })

  test('leave the same row and audit entry in a group as in a transaction of their own', async () => {
    // The second ciphertext is too long for a group.
    for (const text of [ciphertext(), ciphertext(20_000)]) {
      const name = `SAME_${text.length}`
      const [entry] = await newEntries(world, () => putSecret(world, tenant, envId, name, text))
      const [row] = await sql('select * from secrets where name = $1', name)
      const [version] = await sql(
        'select v.* from secret_versions v join secrets s on s.id = v.secret_id where s.name = $1',
        name,
      )
      expect(Object.keys(entry as object)).toContain('createdAt')
      expect(entry).toMatchObject({
        action: 'secret.written',
        actorType: 'service_token',
        actorId: tenant.admin.id,
        resourceType: 'secret',
        ipAddress: '127.0.0.1',
        userAgent: 'node',
        metadata: { environmentId: envId, name, version: 1 },
      })
      expect(row).toMatchObject({ name, environmentId: envId, currentVersion: 1, ciphertext: text })
      expect(version).toMatchObject({
        version: 1,
        ciphertext: text,
        createdByType: 'service_token',
        createdById: tenant.admin.id,
        restoredFromVersion: null,
      })
    }
  })

  test('that expect the same version succeed once, and the others get 409', async () => {
    await putSecret(world, tenant, envId, 'HELD')
    // The first of these requests to arrive wins, on whichever connection.
    const statusesOf = async (name: string, expected: number[]) => {
      const { answers } = await together(expected.map((expectedVersion) => ({ name, expectedVersion })))
      return answers.map(({ status }) => status)
    }
    const [low, high, ...held] = await statusesOf('HELD', [0, 7, 1, 1, 1])
    expect([low, high, held.sort()]).toEqual([409, 409, [200, 409, 409]])
    const [other, ...fresh] = await statusesOf('FRESH', [3, 0, 0])
    expect([other, fresh.sort()]).toEqual([409, [201, 409]])
    expect(await historyOf('FRESH')).toEqual({ versions: [1], audited: [1] })
  })

  const newEntriesOf = async (puts: Put[]) => {
    let made: Awaited<ReturnType<typeof together>> = { answers: [], groups: [] }
    const entries = await newEntries(world, async () => {
      made = await together(puts)
    })
    const facts = entries
      .filter(({ metadata }) => metadata.name !== 'AHEAD')
      .map(({ requestId, resourceId, metadata: { name, version } }) =>
        JSON.stringify([requestId, resourceId, { name, version }]),
      )
    return { ...made, entries: new Set(facts) }
  }
})

describe('a write that must be refused', () => {
  const cases: [string, number, () => Promise<Omit<Put, 'name'>>][] = [
    [
      'a token revoked elsewhere, which memory still knows',
      401,
      async () => {
        const token = await writer()
        await sql('update service_tokens set revoked_at = now() where id = $1', token.id)
        return { as: token.as }
      },
    ],
    [
      'a token that has expired',
      401,
      async () => {
        const token = await writer()
        await sql('update service_tokens set expires_at = $2 where id = $1', token.id, world.clock.now().toISOString())
        return { as: token.as }
      },
    ],
    ['a token without a grant', 403, async () => ({ env: (await newBranch(null)).id, as: (await writer()).as })],
    [
      'a branch that has expired',
      404,
      async () => {
        const branch = await newBranch(3600)
        await sql('update environments set expires_at = $2 where id = $1', branch.id, world.clock.now().toISOString())
        return { env: branch.id }
      },
    ],
    [
      'an environment that was deleted',
      404,
      async () => {
        const { id } = await newEnv(world, tenant, appId, `doomed-${Math.random().toString(36).slice(2)}`)
        await world.call(envs.delete, { as: tenant.admin.as, params: { orgId: tenant.orgId, envId: id } })
        return { env: id }
      },
    ],
    ['a version other than the expected one', 409, async () => ({ expectedVersion: 7 })],
  ]

  const newBranch = async (ttlSeconds: number | null) => {
    const body = { slug: `b-${Math.random().toString(36).slice(2)}`, wrappedDek: wrappedKey(), ttlSeconds }
    const params = { orgId: tenant.orgId, envId }
    return (await world.call(branches.create, { as: tenant.admin.as, params, body })).body.branch
  }

  test.each(cases)(
    'in a group, because of %s, is refused as it is alone and does not affect the others',
    async (_, expected, make) => {
      const refused = { name: 'FIRST', ...(await make()) }
      await put({ name: 'WARM' }) // the setup above may have removed the writer from memory
      const before = await historyOf('FIRST')
      const others = upTo(6).map((n) => ({ name: `BESIDE_${n}` }))
      const { answers, groups } = await together([refused, ...others])
      expect(groups).toHaveLength(1)
      const [inGroup, ...rest] = answers
      const alone = await put(refused)
      expect(inGroup?.status).toBe(expected)
      expect([inGroup?.status, inGroup?.error]).toEqual([alone.status, alone.error])
      for (const { status } of rest) expect([200, 201]).toContain(status)
      expect(await historyOf('FIRST')).toEqual(before)
    },
  )

  test('because its environment is protected is not done by a group', async () => {
    const { id } = await newEnv(world, tenant, appId, 'protected')
    await sql('update environments set required_approvals = 1, allow_self_approval = false where id = $1', id)
    const before = await stateOf(world)
    const written = await world.server.context.writes.add({
      orgId: tenant.orgId,
      environmentId: id,
      name: 'GUARDED',
      newId: 'sec_guarded',
      ciphertext: ciphertext(),
      expectedVersion: null,
      tokenHash: await hashOf(tenant.admin),
      authorType: 'service_token',
      authorId: tenant.admin.id,
      auditId: 'aud_guarded',
      ipAddress: null,
      userAgent: null,
      requestId: null,
    })
    expect(written).toBeUndefined()
    expect(await stateOf(world)).toEqual(before)
  })

  const hashOf = async ({ id }: Actor) => {
    const [row] = (await sql('select token_hash from service_tokens where id = $1', id)) as { tokenHash: string }[]
    return row?.tokenHash as string
  }
})

describe('a group whose statement fails', () => {
  test('stores nothing; its writes are tried one by one, and only the impossible one fails', async () => {
    const { db } = world.server.context
    await db.script(`create function refuse_name() returns trigger language plpgsql as $$
      begin if new.metadata->>'name' = 'POISON' then raise exception 'no room'; end if; return new; end $$;
      create trigger refuse_name before insert on audit_entries for each row execute function refuse_name()`)
    await put({ name: 'WARM' })
    const puts = [{ name: 'POISON' }, ...upTo(6).map((n) => ({ name: `SPARED_${n}` }))]
    const [poison, ...rest] = (await together(puts)).answers
    await db.script('drop trigger refuse_name on audit_entries; drop function refuse_name()')
    expect([poison?.status, ...rest.map(({ status }) => status)]).toEqual([500, ...upTo(6).map(() => 201)])
    for (const n of upTo(6)) expect(await historyOf(`SPARED_${n}`)).toEqual({ versions: [1], audited: [1] })
    expect(await sql(`select 1 from secrets where name = 'POISON'`)).toEqual([])
  })

  test('with an unknown outcome is answered with 500 and not retried', async () => {
    const { batches } = world.server.context.db
    const { rows } = batches
    const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    vi.spyOn(batches, 'rows').mockImplementation(async (text, values) => {
      const answer = await rows(text, values)
      if (isGroup(text)) throw lost
      return answer as never // As in together().
    })
    const names = upTo(4).map((n) => `UNKNOWN_${n}`)
    const answers = await all(names.map((name) => ({ name })))
    vi.restoreAllMocks()
    expect(answers.map(({ status }) => status)).toEqual([500, 500, 500, 500])
    for (const name of names) expect(await historyOf(name)).toEqual({ versions: [1], audited: [1] })
  })
})

describe.runIf(engine() === 'postgres')('two servers', () => {
  let other: RunningServer
  beforeAll(async () => {
    other = await start({ ...world.server.context.config, port: 0 }, world.log, world.clock.now)
  })
  afterAll(() => other.close())

  test('that write the same names at once, in either order, lose nothing and do not deadlock', async () => {
    const names = upTo(10).map((n) => `SHARED_${n}`)
    for (const url of [world.url, other.url]) await put({ name: 'WARM', url })
    const rounds = 5
    for (let round = 0; round < rounds; round++) {
      const here = names.map((name) => ({ name, url: world.url }))
      const there = names.toReversed().map((name) => ({ name, url: other.url }))
      for (const { status } of await all([...here, ...there])) expect([200, 201]).toContain(status)
    }
    const versions = upTo(2 * rounds)
    for (const name of names) expect(await historyOf(name)).toEqual({ versions, audited: versions })
  })

  test('do not delay other writes while one write waits for a deletion', async () => {
    const { id } = await newEnv(world, tenant, appId, 'going')
    await put({ name: 'WARM', env: id })
    const { db } = world.server.context
    const deletion = await held(db, (tx) => tx.rows('delete from environments where id = $1', [id]))
    const late = put({ name: 'LATE', env: id })
    expect((await put({ name: 'PROMPT' })).status).toBe(201)
    await deletion.commit()
    expect((await late).status).toBe(404)
  })
})
