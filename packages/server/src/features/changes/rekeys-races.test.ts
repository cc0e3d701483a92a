import { changes } from '@skerry/contract/changes/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { secretDetails } from '@skerry/contract/secret-details/endpoints'
import { beforeEach, expect, test } from 'vitest'
import { sealedDetails, wrappedKey } from '../../../test/blobs.ts'
import { engine } from '../../../test/engine.ts'
import { decide, proposePut, protect } from '../../../test/guarded.ts'
import { held, waiting } from '../../../test/held.ts'
import { rekeying } from '../../../test/rekeying.ts'
import { mailsWritten, stateOf } from '../../../test/state.ts'
import { newMember, newToken } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'

const { scene, params, bodyOf, listed } = rekeying()

beforeEach(() => protect(scene.world, scene.tenant, scene.envId))

const propose = (body: object = bodyOf()) =>
  scene.world.call(changes.proposeRekey, {
    as: scene.tenant.admin.as,
    params: params(),
    body: body as Record<string, unknown>,
  })
const approve = (id: string, rekey = true) =>
  decide(scene.world, scene.tenant, 'approve', id, scene.person, rekey ? { rekey: true } : {})
const sorted = (answers: { status: number }[]) => answers.map(({ status }) => status).sort()
const versionsNow = async () => (await listed()).map(({ version }) => version).sort()

test('of two proposals at once, one waits and the other is refused', async () => {
  expect(sorted(await Promise.all([propose(), propose()]))).toEqual([202, 409])
})

test('twenty approvals at once apply the re-key once', async () => {
  const { id } = (await propose()).body.changeRequest
  const answers = await Promise.all(Array.from({ length: 20 }, () => approve(id)))
  expect(sorted(answers)).toEqual([200, ...Array(19).fill(409)])
  expect(await versionsNow()).toEqual([2, 3])
})

test('an approval and a withdrawal at once: one decides', async () => {
  const { id } = (await propose()).body.changeRequest
  const answers = await Promise.all([
    approve(id),
    decide(scene.world, scene.tenant, 'withdraw', id, scene.tenant.admin),
  ])
  expect(sorted(answers)).toEqual([200, 409])
  expect(await versionsNow()).toEqual(answers[0].status === 200 ? [2, 3] : [1, 2])
})

test('a re-key and a change of a value that are approved at once: the first one supersedes the other', async () => {
  const { id: write } = await proposePut(scene.world, scene.tenant, scene.envId, 'A')
  const { id } = (await propose()).body.changeRequest
  const [rekeyed, written] = await Promise.all([approve(id), approve(write, false)])
  const applied = [rekeyed, written].filter(({ body }) => body.status === 'applied')
  expect(applied).toHaveLength(1)
  expect(await versionsNow()).toEqual(rekeyed.body.status === 'applied' ? [2, 3] : [2, 2])
})

test('a description at the same time comes before the re-key, which is then stale, or after it', async () => {
  const { id } = (await propose()).body.changeRequest
  const [rekeyed, described] = await Promise.all([
    approve(id),
    scene.world.call(secretDetails.update, {
      as: scene.tenant.admin.as,
      params: { ...params(), name: 'A' },
      body: { sealed: sealedDetails() },
    }),
  ])
  expect(described.status).toBe(200)
  expect(rekeyed.body.status).toBeOneOf(['applied', 'superseded'])
  expect(await versionsNow()).toEqual(rekeyed.body.status === 'applied' ? [2, 3] : [1, 2])
})

test('a grant that is being made delays the approval, which then finds the re-key stale', async () => {
  if (engine() !== 'postgres') return // An embedded database has one connection: nothing waits.
  const { db } = scene.world.server.context
  const { id } = (await propose()).body.changeRequest
  const late = await newToken(scene.world, scene.tenant)
  const holding = await held(db, (tx) => tx.rows('select 1 from service_tokens where id = $1 for update', [late.id]))
  const body = { principalType: 'service_token', principalId: late.id, wrappedDek: wrappedKey() }
  const granted = scene.world.call(grants.create, { as: scene.tenant.admin.as, params: params(), body })
  const approved = until('the grant waits for the token', async () => (await waiting(db)) === 1).then(() => approve(id))
  await until('the approval waits for the grant', async () => (await waiting(db)) === 2).finally(holding.commit)
  expect([(await granted).status, (await approved).body.status]).toEqual([201, 'superseded'])
  expect((await scene.world.call(grants.own, { as: late.as, params: params() })).status).toBe(200)
})

test('a re-key and other changes of its environment are approved at once, without a deadlock', async () => {
  const another = await newMember(scene.world, scene.tenant, 'admin')
  const writes = []
  for (const name of ['C', 'D', 'E']) writes.push((await proposePut(scene.world, scene.tenant, scene.envId, name)).id)
  const { id } = (await propose()).body.changeRequest
  const answers = await Promise.all([
    approve(id),
    ...writes.map((write) => decide(scene.world, scene.tenant, 'approve', write, another)),
  ])
  expect(answers.map(({ status }) => status).every((status) => status === 200 || status === 409)).toBe(true)
})

test('an approval that fails halfway changes nothing', async () => {
  const { db } = scene.world.server.context
  const { id } = (await propose()).body.changeRequest
  await mailsWritten(scene.world)
  await db.script(`create function refuse_grant() returns trigger language plpgsql as $$
    begin raise exception 'no room'; end $$;
    create trigger refuse_grant before delete on key_grants for each row execute function refuse_grant()`)
  const before = await stateOf(scene.world)
  const response = await fetch(`${scene.world.url}/v1/orgs/${scene.tenant.orgId}/change-requests/${id}/approve`, {
    method: 'POST',
    headers: { authorization: scene.person.as, 'content-type': 'application/json' },
    body: JSON.stringify({ rekey: true }),
  })
  await db.script('drop trigger refuse_grant on key_grants; drop function refuse_grant()')
  expect(response.status).toBe(500)
  expect(await stateOf(scene.world)).toEqual(before)
})
