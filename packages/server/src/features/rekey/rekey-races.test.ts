import { grants } from '@skerry/contract/grants/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test } from 'vitest'
import { ciphertext, wrappedKey } from '../../../test/blobs.ts'
import { engine } from '../../../test/engine.ts'
import { protect } from '../../../test/guarded.ts'
import { held, waiting } from '../../../test/held.ts'
import { rekeying } from '../../../test/rekeying.ts'
import { stateOf } from '../../../test/state.ts'
import { newToken } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'

const { scene, params, bodyOf, run, listed } = rekeying()

describe('a write at the same time', () => {
  const put = (name: string) =>
    scene.world.call(secrets.put, {
      as: scene.holder.as,
      params: { ...params(), name },
      body: { ciphertext: ciphertext(), ...(name === 'A' ? { expectedVersion: 1 } : {}) },
    })

  test.each(['A', 'NEW'])('comes before the re-key, which is then refused, or after it: %s', async (name) => {
    const [rekeyed, written] = await Promise.all([run(), put(name)])
    const after = (await listed()).find((secret) => secret.name === name)
    if (rekeyed.status === 409) expect([written.status < 300, after?.version]).toEqual([true, name === 'A' ? 2 : 1])
    // A write that expects the old version is refused. A new secret exists beside the re-keyed ones.
    else expect([rekeyed.status, written.status]).toEqual([200, name === 'A' ? 409 : 201])
  })

  test('that is open delays the re-key, which then sees it', async () => {
    const { db } = scene.world.server.context
    const writing = await held(db, (tx) =>
      tx.rows(
        `insert into secrets (org_id, id, environment_id, name, current_version, ciphertext, created_at, updated_at)
         values ($1, $2, $3, 'NEW', 1, $4, now(), now())`,
        [scene.tenant.orgId, `sec_${scene.envId.slice(4)}`, scene.envId, ciphertext()],
      ),
    )
    const pending = run()
    if (engine() === 'postgres') await until('it waits', async () => (await waiting(db)) > 0).finally(writing.commit)
    await writing.commit()
    expect((await pending).error?.message).toBe('NEW has been added')
  })

  test('that is a restore locks no secret while it waits for the environment, which a re-key locks first', async () => {
    if (engine() !== 'postgres') return // An embedded database has one connection: nothing waits.
    const { db } = scene.world.server.context
    expect((await put('A')).status).toBe(200)
    const holding = await held(db, (tx) =>
      tx.rows('select 1 from environments where id = $1 for update', [scene.envId]),
    )
    const restored = scene.world.call(secrets.restore, {
      as: scene.holder.as,
      params: { ...params(), name: 'A' },
      body: { version: 1 },
    })
    await until('it waits', async () => (await waiting(db)) > 0)
    const free = db.rows('select 1 from secrets where environment_id = $1 for update nowait', [scene.envId])
    await expect(free.finally(holding.commit)).resolves.not.toEqual([])
    expect((await restored).status).toBe(200)
  })

  test('that is another re-key leaves only one of the two', async () => {
    const asked = [bodyOf(), bodyOf({ kept: [scene.person, scene.holder] })]
    const answers = await Promise.all([run(asked[0]), run(asked[1], scene.person.as)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, expect.toSatisfy((s) => s === 403 || s === 409)])
    const winner = asked[answers[0]?.status === 200 ? 0 : 1]
    const kept = await scene.world.server.context.db.rows<{ wrappedDek: string }>(
      'select wrapped_dek from key_grants where environment_id = $1',
      [scene.envId],
    )
    expect(kept.map(({ wrappedDek }) => wrappedDek).sort()).toEqual(
      winner?.grants.map(({ wrappedDek }) => wrappedDek).sort(),
    )
  })

  test('that grants the old key to somebody is undone by the re-key, which waits for it', async () => {
    if (engine() !== 'postgres') return // An embedded database has one connection: nothing waits.
    const { db } = scene.world.server.context
    const late = await newToken(scene.world, scene.tenant)
    const holding = await held(db, (tx) => tx.rows('select 1 from service_tokens where id = $1 for update', [late.id]))
    const body = { principalType: 'service_token', principalId: late.id, wrappedDek: wrappedKey() }
    const granted = scene.world.call(grants.create, { as: scene.tenant.admin.as, params: params(), body })
    const rekeyed = until('the grant waits for the token', async () => (await waiting(db)) === 1).then(() => run())
    await until('the re-key waits for the grant', async () => (await waiting(db)) === 2).finally(holding.commit)
    expect([(await granted).status, (await rekeyed).status]).toEqual([201, 200])
    expect((await scene.world.call(grants.own, { as: late.as, params: params() })).status).toBe(403)
  })

  test('that grants the old key, and waited while the key was replaced, is refused', async () => {
    if (engine() !== 'postgres') return // An embedded database has one connection: nothing waits.
    const { db } = scene.world.server.context
    const late = await newToken(scene.world, scene.tenant)
    const replacing = await held(db, async (tx) => {
      await tx.rows('select 1 from environments where id = $1 for update', [scene.envId])
      await tx.rows('update key_grants set wrapped_dek = $2 where environment_id = $1', [scene.envId, wrappedKey()])
    })
    const body = { principalType: 'service_token', principalId: late.id, wrappedDek: wrappedKey() }
    const granted = scene.world.call(grants.create, { as: scene.tenant.admin.as, params: params(), body })
    await until('it waits', async () => (await waiting(db)) > 0).finally(replacing.commit)
    expect((await granted).error?.message).toBe('the key has been replaced in the meantime')
    expect((await scene.world.call(grants.own, { as: late.as, params: params() })).status).toBe(403)
  })

  test('that protects the environment comes after the re-key, or the re-key is refused', async () => {
    const [rekeyed] = await Promise.all([run(), protect(scene.world, scene.tenant, scene.envId)])
    expect(rekeyed.status).toBeOneOf([200, 409])
    expect((await listed()).map(({ version }) => version).sort()).toEqual(rekeyed.status === 200 ? [2, 3] : [1, 2])
  })

  test('a re-key that fails halfway changes nothing', async () => {
    const { db } = scene.world.server.context
    await db.script(`create function refuse_grant() returns trigger language plpgsql as $$
      begin raise exception 'no room'; end $$;
      create trigger refuse_grant before delete on key_grants for each row execute function refuse_grant()`)
    const before = await stateOf(scene.world)
    const response = await fetch(`${scene.world.url}/v1/orgs/${scene.tenant.orgId}/envs/${scene.envId}/rekey`, {
      method: 'POST',
      headers: { authorization: scene.tenant.admin.as, 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf()),
    })
    await db.script('drop trigger refuse_grant on key_grants; drop function refuse_grant()')
    expect(response.status).toBe(500)
    expect(await stateOf(scene.world)).toEqual(before)
  })
})
