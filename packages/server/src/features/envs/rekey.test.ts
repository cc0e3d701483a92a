import { request } from 'node:http'
import { audit } from '@skerry/contract/audit'
import { branches, envs, rekey } from '@skerry/contract/envs'
import { grants } from '@skerry/contract/grants'
import { limits } from '@skerry/contract/limits'
import { resolve } from '@skerry/contract/resolve'
import { secrets } from '@skerry/contract/secrets'
import { tokens } from '@skerry/contract/tokens'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ciphertext, wrappedKey } from '../../../test/blobs.ts'
import { engine } from '../../../test/engine.ts'
import { stateOf } from '../../../test/state.ts'
import {
  type Actor,
  grantKey,
  newApp,
  newEnv,
  newGroup,
  newGroupEnv,
  newMember,
  newToken,
  putSecret,
  signUp,
  type Tenant,
} from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { openWorld, type World } from '../../../test/world.ts'

let world: World
let tenant: Tenant
let envId: string
let holder: Actor
let person: Actor
beforeAll(async () => {
  world = await openWorld()
  tenant = await signUp(world)
  person = await newMember(world, tenant, 'admin')
})
afterAll(() => world.close())

/** An environment with A at version 1, B at version 2, held by the admin token, a member token and a person. */
beforeEach(async () => {
  envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
  holder = await newToken(world, tenant)
  await grantKey(world, tenant, envId, holder)
  await grantKey(world, tenant, envId, person)
  await putSecret(world, tenant, envId, 'A')
  await putSecret(world, tenant, envId, 'B')
  await putSecret(world, tenant, envId, 'B')
})

const params = () => ({ orgId: tenant.orgId, envId })
const to = ({ id }: Actor) => ({
  principalType: id.startsWith('usr_') ? ('user' as const) : ('service_token' as const),
  principalId: id,
  wrappedDek: wrappedKey(),
})
function bodyOf(more: { expectedVersions?: Record<string, number>; kept?: Actor[]; names?: string[] } = {}) {
  const expectedVersions = more.expectedVersions ?? { A: 1, B: 2 }
  const names = more.names ?? Object.keys(expectedVersions)
  return {
    expectedVersions,
    grants: (more.kept ?? [tenant.admin, holder]).map(to),
    secrets: names.map((name) => ({ name, ciphertext: ciphertext() })),
  }
}
const run = (body: object = bodyOf(), as = tenant.admin.as) =>
  world.call(rekey.run, { as, params: params(), body: body as Record<string, unknown> })
const listed = async () => {
  const { body } = await world.call(secrets.list, { as: tenant.admin.as, params: params() })
  return body.secrets.map(({ name, version, ciphertext }) => ({ name, version, ciphertext }))
}
const grantsNow = async () => (await world.call(grants.list, { as: tenant.admin.as, params: params() })).body.grants
const refusedUnchanged = async (body: object, as?: string) => {
  const before = await stateOf(world)
  const { status, error } = await run(body, as)
  expect(await stateOf(world)).toEqual(before)
  return [status, error?.message]
}

describe('a re-key', () => {
  test('replaces every current ciphertext and every wrapped key, and puts out whoever is not named', async () => {
    const asked = bodyOf()
    const { status, body } = await run({ ...asked, recoveryWrappedDek: wrappedKey() })
    expect([status, body]).toMatchObject([200, { environment: { id: envId }, rekeyedSecrets: 2, grants: 2 }])
    expect((await listed()).toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { version: 2, ...asked.secrets[0] },
      { version: 3, ...asked.secrets[1] },
    ])
    const shown = (await grantsNow()).map(({ principalType, principalId, wrappedDek }) => ({
      principalType,
      principalId,
      wrappedDek,
    }))
    expect(shown).toHaveLength(2)
    expect(shown).toEqual(expect.arrayContaining(asked.grants))
    expect((await world.call(grants.own, { as: person.as, params: params() })).status).toBe(403)
  })

  test('is recorded with counts, and with who lost access', async () => {
    await run()
    const query = { action: 'env.rekeyed', resourceId: envId }
    const { entries } = (await world.call(audit.list, { as: tenant.admin.as, params: params(), query })).body
    expect(entries).toMatchObject([
      {
        actorId: tenant.admin.id,
        metadata: { secrets: 2, grants: 2, removed: [{ principalType: 'user', principalId: person.id }] },
      },
    ])
  })

  test('shows in the next resolve of a holder, and is the last of one who was left out', async () => {
    const outsider = await newToken(world, tenant)
    await grantKey(world, tenant, envId, outsider)
    const ask = ({ as }: Actor) => world.call(resolve.get, { as, query: { env: envId } })
    const [before] = await Promise.all([ask(holder), ask(outsider)])
    const asked = bodyOf()
    await run(asked)
    const after = await ask(holder)
    expect(after.body.layers[0]).toMatchObject({ wrappedDek: asked.grants[1]?.wrappedDek, secrets: asked.secrets })
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
    expect((await ask(outsider)).status).toBe(403)
  })

  test('is authored by the caller, and leaves history as it was', async () => {
    const asParams = { ...params(), name: 'B' }
    const history = async () =>
      (await world.call(secrets.versions, { as: tenant.admin.as, params: asParams })).body.versions
    const before = await history()
    const { status } = await run(bodyOf({ kept: [person, tenant.admin] }), person.as)
    expect(status).toBe(200)
    const [newest, ...older] = await history()
    expect(newest).toMatchObject({ version: 3, createdByType: 'user', createdById: person.id })
    expect(older).toEqual(before)
  })

  test('puts earlier versions out of reach of restore, by a machine too; later ones come back', async () => {
    await run()
    const restore = (version: number, as = tenant.admin.as) =>
      world.call(secrets.restore, { as, params: { ...params(), name: 'B' }, body: { version } })
    for (const as of [tenant.admin.as, tenant.machine.as]) {
      const { status, error } = await restore(2, as)
      expect([status, error?.message]).toEqual([400, 'B version 2 is from before the environment was re-keyed'])
    }
    await putSecret(world, tenant, envId, 'B')
    expect((await restore(3)).status).toBe(200)
    expect((await restore(9)).status).toBe(404)
  })

  test('of a secret that was deleted and made anew keeps its new history', async () => {
    await run()
    const asParams = { ...params(), name: 'B' }
    await world.call(secrets.delete, { as: tenant.admin.as, params: asParams })
    for (let version = 1; version <= 2; version++) await putSecret(world, tenant, envId, 'B')
    const answer = await world.call(secrets.restore, { as: tenant.admin.as, params: asParams, body: { version: 1 } })
    expect(answer.status).toBe(200)
  })

  test('can be done again, by a holder of the new key', async () => {
    await run()
    expect((await run(bodyOf({ expectedVersions: { A: 2, B: 3 } }))).status).toBe(200)
    expect((await listed()).map(({ version }) => version).sort()).toEqual([3, 4])
  })

  test('of an environment without secrets replaces the wrapped keys', async () => {
    envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
    const asked = bodyOf({ expectedVersions: {}, kept: [tenant.admin] })
    expect((await run(asked)).body).toMatchObject({ rekeyedSecrets: 0, grants: 1 })
    expect((await grantsNow()).map(({ wrappedDek }) => wrappedDek)).toEqual([asked.grants[0]?.wrappedDek])
  })

  test('of a group’s environment, or of a branch, touches that one alone', async () => {
    const group = await newGroup(world, tenant)
    const groupEnvId = (await newGroupEnv(world, tenant, group.id)).id
    const fork = { slug: 'fork', wrappedDek: wrappedKey() }
    const branch = await world.call(branches.create, { as: tenant.admin.as, params: params(), body: fork })
    for (const id of [groupEnvId, branch.body.branch.id]) {
      const parent = await listed()
      const home = envId
      envId = id
      await putSecret(world, tenant, envId, 'A')
      expect((await run(bodyOf({ expectedVersions: { A: 1 }, kept: [tenant.admin] }))).status).toBe(200)
      envId = home
      expect(await listed()).toEqual(parent)
    }
  })
})

describe('a re-key is refused, and changes nothing', () => {
  const refusals: [string, () => object, number, RegExp][] = [
    ['a secret has moved on', () => bodyOf({ expectedVersions: { A: 1, B: 1 } }), 409, /^B is not at version 1$/],
    ['a secret is gone', () => bodyOf({ expectedVersions: { A: 1, B: 2, C: 1 } }), 409, /^C is gone$/],
    ['a secret has been added', () => bodyOf({ expectedVersions: { B: 2 } }), 409, /^A has been added$/],
    ['several differ: the first is named', () => bodyOf({ expectedVersions: { B: 7, A: 7 } }), 409, /^A is not at/],
    ['a name is like that of a prototype', () => bodyOf({ names: ['toString'] }), 400, /toString is not in/],
    ['a ciphertext is missing', () => bodyOf({ names: ['A'] }), 400, /^body\.secrets: B is missing$/],
    ['a ciphertext is not asked for', () => bodyOf({ names: ['A', 'B', 'C'] }), 400, /^body\.secrets\.2: C is not in/],
    ['a ciphertext comes twice', () => bodyOf({ names: ['A', 'B', 'A'] }), 400, /^body\.secrets\.2: A is named twice$/],
    ['the caller is not among the grants', () => bodyOf({ kept: [holder] }), 400, /^body\.grants: you must keep/],
    ['there are no grants', () => bodyOf({ kept: [] }), 400, /^body\.grants: /],
    [
      'a grantee comes twice',
      () => bodyOf({ kept: [tenant.admin, holder, holder] }),
      400,
      /^body\.grants\.2: skt_\w+ is named twice$/,
    ],
    ['there are too many grants', () => bodyOf({ kept: Array(limits.rekeyGrantsMax + 1).fill(holder) }), 400, /grants/],
    [
      'there are too many secrets',
      () => ({ ...bodyOf(), secrets: Array(limits.rekeySecretsMax + 1).fill({ name: 'A', ciphertext: ciphertext() }) }),
      400,
      /^body\.secrets: /,
    ],
    [
      'a ciphertext is none',
      () => ({ ...bodyOf(), secrets: [{ name: 'A', ciphertext: 'plain' }] }),
      400,
      /^body\.secrets\.0\.ciphertext: /,
    ],
  ]
  test.each(refusals)('when %s', async (_, body, status, message) => {
    expect(await refusedUnchanged(body())).toEqual([status, expect.stringMatching(message)])
  })

  test.each<[string, () => Promise<Actor>]>([
    ['holds no grant', () => newToken(world, tenant)],
    ['is of another organization', async () => newToken(world, await signUp(world))],
    [
      'lost the grant since',
      async () => {
        const row = (await grantsNow()).find(({ principalId }) => principalId === person.id)
        await world.call(grants.delete, { as: tenant.admin.as, params: { ...params(), grantId: row?.id as string } })
        return person
      },
    ],
    [
      'is a token that was revoked since',
      async () => {
        const revoked = { ...params(), tokenId: holder.id }
        await world.call(tokens.revoke, { as: tenant.admin.as, params: revoked })
        return holder
      },
    ],
  ])('when someone named %s: nobody comes in by it', async (_, actor) => {
    const body = bodyOf({ kept: [tenant.admin, await actor()] })
    expect(await refusedUnchanged(body)).toEqual([409, expect.stringMatching(/^body\.grants\.1: .* of use$/)])
  })

  test('to a holder who is no admin, an admin who is no holder, a machine client and a stranger', async () => {
    const admin = await newToken(world, tenant, { role: 'admin' })
    const elsewhere = await signUp(world)
    const callers = [holder, admin, tenant.machine, elsewhere.admin]
    const answers = []
    for (const { as } of callers) answers.push((await refusedUnchanged(bodyOf(), as))[0])
    expect(answers).toEqual([403, 403, 403, 404])
  })
})

describe('a write at the same time', () => {
  const put = (name: string) =>
    world.call(secrets.put, {
      as: holder.as,
      params: { ...params(), name },
      body: { ciphertext: ciphertext(), ...(name === 'A' ? { expectedVersion: 1 } : {}) },
    })

  test.each(['A', 'NEW'])('comes before it, which is then refused, or after it: %s', async (name) => {
    const [rekeyed, written] = await Promise.all([run(), put(name)])
    const after = (await listed()).find((secret) => secret.name === name)
    if (rekeyed.status === 409) expect([written.status < 300, after?.version]).toEqual([true, name === 'A' ? 2 : 1])
    // What expects the version from before is refused; what is new is there beside the rest.
    else expect([rekeyed.status, written.status]).toEqual([200, name === 'A' ? 409 : 201])
  })

  test('that is open holds it up, and is seen by it', async () => {
    const { db } = world.server.context
    const [written, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const writing = db.transaction(async (tx) => {
      await tx.rows(
        `insert into secrets (org_id, id, environment_id, name, current_version, ciphertext, created_at, updated_at)
         values ($1, $2, $3, 'NEW', 1, $4, now(), now())`,
        [tenant.orgId, `sec_${envId.slice(4)}`, envId, ciphertext()],
      )
      written.resolve()
      await released.promise
    })
    await Promise.race([written.promise, writing])
    const pending = run()
    const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    if (engine() === 'postgres') await until('it waits', async () => (await db.row(waits)) !== undefined)
    released.resolve()
    await writing
    expect((await pending).error?.message).toBe('NEW has been added')
  })

  test('that is another re-key leaves one of them', async () => {
    const asked = [bodyOf(), bodyOf({ kept: [person, holder] })]
    const answers = await Promise.all([run(asked[0]), run(asked[1], person.as)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, expect.toSatisfy((s) => s === 403 || s === 409)])
    const winner = asked[answers[0]?.status === 200 ? 0 : 1]
    const kept = await world.server.context.db.rows<{ wrappedDek: string }>(
      'select wrapped_dek from key_grants where environment_id = $1',
      [envId],
    )
    expect(kept.map(({ wrappedDek }) => wrappedDek).sort()).toEqual(
      winner?.grants.map(({ wrappedDek }) => wrappedDek).sort(),
    )
  })

  test('that fails halfway leaves all as it was', async () => {
    const { db } = world.server.context
    await db.script(`create function refuse_grant() returns trigger language plpgsql as $$
      begin raise exception 'no room'; end $$;
      create trigger refuse_grant before delete on key_grants for each row execute function refuse_grant()`)
    const before = await stateOf(world)
    const response = await fetch(`${world.url}/v1/orgs/${tenant.orgId}/envs/${envId}/rekey`, {
      method: 'POST',
      headers: { authorization: tenant.admin.as, 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf()),
    })
    await db.script('drop trigger refuse_grant on key_grants; drop function refuse_grant()')
    expect(response.status).toBe(500)
    expect(await stateOf(world)).toEqual(before)
  })
})

describe('a large environment', () => {
  const fill = async (count: number, bytes: number) => {
    envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
    await world.server.context.db.rows(
      `with made as (
         insert into secrets (org_id, id, environment_id, name, current_version, ciphertext, created_at, updated_at)
         select $1, 'sec_' || left(md5($2 || n), 22), $2, 'NAME_' || n, 1, $4, now(), now() from generate_series(1, $3::int) n
         returning id)
       insert into secret_versions (org_id, secret_id, version, ciphertext, created_by_type, created_by_id, created_at)
       select $1, id, 1, $4, 'service_token', $5, now() from made`,
      [tenant.orgId, envId, count, ciphertext(bytes), tenant.admin.id],
    )
    return Object.fromEntries(Array.from({ length: count }, (_, index) => [`NAME_${index + 1}`, 1]))
  }

  test('of a thousand secrets, far beyond the usual body, is re-keyed in one request', async () => {
    const expectedVersions = await fill(1000, 8000)
    const body = bodyOf({ expectedVersions, kept: [tenant.admin] })
    body.secrets = body.secrets.map(({ name }) => ({ name, ciphertext: ciphertext(8000) }))
    expect(JSON.stringify(body).length).toBeGreaterThan(4 * limits.bodyBytes)
    expect((await run(body)).body).toMatchObject({ rekeyedSecrets: 1000 })
    const sent = new Map(body.secrets.map(({ name, ciphertext }) => [name, ciphertext]))
    const now = await listed()
    expect(now).toHaveLength(1000)
    expect(now.every(({ name, version, ciphertext }) => version === 2 && sent.get(name) === ciphertext)).toBe(true)
  }, 60_000)

  /** Announces a body and sends none of it. */
  const announce = (bytes: number, authorization: string) =>
    new Promise<{ status: number | undefined; text: string }>((done, fail) => {
      const headers = { authorization, 'content-type': 'application/json', 'content-length': String(bytes) }
      const url = `${world.url}/v1/orgs/${tenant.orgId}/envs/${envId}/rekey`
      const sent = request(url, { method: 'POST', headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => {
          done({ status: response.statusCode, text })
          sent.destroy()
        })
      })
      sent.on('error', fail)
      sent.flushHeaders()
    })

  test('beyond the limit of its own is refused in clear words', async () => {
    const { status, text } = await announce(limits.rekeyBodyBytes + 1, tenant.admin.as)
    expect([status, JSON.parse(text).error.message]).toEqual([400, `body: larger than ${limits.rekeyBodyBytes} bytes`])
  })

  test('is read from nobody who may not re-key: they are refused before they have sent it', async () => {
    const large = limits.bodyBytes + 1
    const elsewhere = await signUp(world)
    const callers = [holder.as, tenant.machine.as, elsewhere.admin.as, 'Bearer skt_unknown']
    const answers = await Promise.all(callers.map((as) => announce(large, as)))
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 404, 401])
  })

  test('is read once at a time from one caller; what is not large always passes', async () => {
    const url = `${world.url}/v1/orgs/${tenant.orgId}/envs/${envId}/rekey`
    const length = String(limits.bodyBytes + 1)
    const headers = { authorization: tenant.admin.as, 'content-type': 'application/json', 'content-length': length }
    const slow = request(url, { method: 'POST', headers })
    slow.on('error', () => {})
    slow.write('{')
    try {
      const refused = await until('the first one is being read', async () => {
        const answer = await announce(limits.bodyBytes + 2, tenant.admin.as).catch(() => undefined)
        return answer?.status === 429 ? answer : undefined
      })
      expect(JSON.parse(refused.text).error.code).toBe('rate_limited')
      expect((await run()).status).toBe(200)
    } finally {
      slow.destroy()
    }
    const again = () => announce(limits.rekeyBodyBytes + 1, tenant.admin.as)
    await until('the place is free again', async () => (await again()).status === 400)
  })
})

test('an environment that is gone is not found', async () => {
  await world.call(envs.delete, { as: tenant.admin.as, params: params() })
  expect((await run()).status).toBe(404)
})
