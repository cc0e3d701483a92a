import { secrets } from '@skerry/contract/secrets/endpoints'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { ciphertext, sealedFormerNames } from '../../../test/blobs.ts'
import { engine } from '../../../test/engine.ts'
import { held, waiting } from '../../../test/held.ts'
import { openTenant } from '../../../test/scene.ts'
import { auditRows, stopSchedules } from '../../../test/state.ts'
import { newApp, newEnv, putSecret, signUp } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { call } from '../../../test/world.ts'
import type { Tx } from '../../db/database.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import type { WrittenRow } from '../../model/secrets/write.ts'

// With so low a limit every environment is nearly full, and every write by a token is counted.
const { world, tenant } = await openTenant({ SKERRY_ENVIRONMENT_SECRETS: '20' })
await stopSchedules(world)
const { orgId } = tenant
const appId = (await newApp(world, tenant)).id
const { context } = world.server
const { db } = context
afterEach(() => vi.restoreAllMocks())

let environments = 0
/** Makes an environment. The count at its first write records that it is nearly full. */
async function nearlyFull(owner = tenant, ownAppId = appId): Promise<string> {
  const { id } = await newEnv(world, owner, ownAppId, `env-${++environments}`)
  await putSecret(world, owner, id, 'FIRST')
  expect(context.quotaCache.isTight(id)).toBe(true)
  return id
}

/** A write that expects a new secret, so that a second try fails. The world’s own call would print an expected 500. */
const create = (envId: string, name: string, owner = tenant) =>
  call(world.url, world.answers, secrets.put, {
    as: owner.admin.as,
    params: { orgId: owner.orgId, envId, name },
    body: { ciphertext: ciphertext(), expectedVersion: 0 },
  })
const createAll = (envId: string, names: string[], owner = tenant) =>
  Promise.all(names.map((name) => create(envId, name, owner)))

const upTo = (count: number, prefix: string) => Array.from({ length: count }, (_, n) => `${prefix}_${n}`)
const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status)
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)

/** The secrets of an environment with their versions, by the table and by the audit log. */
async function versionsOf(envId: string) {
  const text = 'select name, current_version as version from secrets where environment_id = $1'
  const stored = await db.rows<{ name: string; version: number }>(text, [envId])
  const audited = (await auditRows(world))
    .filter(({ action, metadata }) => action === 'secret.written' && metadata.environmentId === envId)
    .map(({ metadata }) => `${metadata.name} ${metadata.version}`)
  return { stored: stored.map(({ name, version }) => `${name} ${version}`).sort(), audited: audited.sort() }
}

const once = (names: string[]) => {
  const versions = ['FIRST', ...names].map((name) => `${name} 1`).sort()
  return { stored: versions, audited: versions }
}

describe('writes to two environments that are nearly full', () => {
  test('are made once each, although the database cancels the group of the other environment', async () => {
    const [failing, other] = [await nearlyFull(), await nearlyFull()]
    await db.script(`create function cancel_poison() returns trigger language plpgsql as $$ begin
      if new.metadata->>'name' = 'POISON' then raise exception 'canceled' using errcode = '57014'; end if; return new; end $$;
      create trigger cancel_poison before insert on audit_entries for each row execute function cancel_poison()`)
    const [spared, written] = [upTo(4, 'SPARED'), upTo(6, 'OTHER')]
    // The first write goes alone. All writes that come meanwhile form the next group.
    const [answers, [poison, ...rest]] = await Promise.all([
      createAll(other, written),
      createAll(failing, ['POISON', ...spared]),
    ])
    await db.script('drop trigger cancel_poison on audit_entries; drop function cancel_poison()')
    expect(poison?.status).toBeGreaterThanOrEqual(500)
    expect(statusesOf(rest)).toEqual(times(4, 201))
    expect(statusesOf(answers)).toEqual(times(6, 201))
    expect(await versionsOf(failing)).toEqual(once(spared))
    expect(await versionsOf(other)).toEqual(once(written))
  })

  test('are answered, and cached answers evicted, although the other group loses its connection at the commit', async () => {
    const [failing, other] = [await nearlyFull(), await nearlyFull()]
    const { transaction } = db
    const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    vi.spyOn(db, 'transaction').mockImplementation(async (work) => {
      const result = await transaction(work)
      if (isGroupOf(failing, result)) throw lost
      return result
    })
    const evict = vi.spyOn(context.evictions, 'evict')
    const [unknown, written] = [upTo(4, 'UNKNOWN'), upTo(6, 'OTHER')]
    const [failed, answers] = await Promise.all([createAll(failing, unknown), createAll(other, written)])
    expect(statusesOf(failed)).toEqual(times(4, 500))
    expect(statusesOf(answers)).toEqual(times(6, 201))
    expect(evict).toHaveBeenCalledWith(orgId, other)
    // The commit may have succeeded.
    expect(evict).toHaveBeenCalledWith(orgId, failing)
    expect(await versionsOf(failing)).toEqual(once(unknown))
    expect(await versionsOf(other)).toEqual(once(written))
  })

  const isGroupOf = (envId: string, result: unknown) =>
    Array.isArray(result) && (result as WrittenRow[]).some(({ environmentId }) => environmentId === envId)
})

test('writes to many nearly full environments of one organization use at most two connections', async () => {
  const envIds: string[] = []
  for (let n = 0; n < 12; n++) envIds.push(await nearlyFull())
  const { transaction } = db
  let [underWay, most] = [0, 0]
  vi.spyOn(db, 'transaction').mockImplementation((work) => {
    let counts = false
    const follow = (tx: Tx): Tx => ({
      ...tx,
      row: (text, values) => {
        if (text.includes('from environments') && text.endsWith('for no key update') && !counts) {
          counts = true
          most = Math.max(most, ++underWay)
        }
        return tx.row(text, values)
      },
    })
    return transaction((tx) => work(follow(tx))).finally(() => {
      if (counts) underWay--
    })
  })
  const answers = await Promise.all(envIds.map((envId) => create(envId, 'ONE')))
  expect(statusesOf(answers)).toEqual(times(12, 201))
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(2)
})

describe.runIf(engine() === 'postgres')('while nearly full environments are locked', () => {
  const lock = (ids: string[]) =>
    held(db, async (tx: Tx) => {
      for (const id of ids) await lockEnvironment(tx, { orgId, id }, 'no key update')
    })

  /** Writes elsewhere while groups wait for the locks, and then lets those groups finish. */
  async function whileLocked(ids: string[], write: () => Promise<{ status: number }[]>) {
    const locked = await lock(ids)
    const late = Promise.all(ids.map((id) => createAll(id, upTo(4, 'LATE'))))
    try {
      await until('the groups wait for their locks', async () => (await waiting(db)) === ids.length)
      expect(statusesOf(await write())).toEqual(times(4, 201))
      expect(await waiting(db)).toBe(ids.length)
    } finally {
      await locked.commit()
    }
    for (const answers of await late) expect(statusesOf(answers)).toEqual(times(4, 201))
    for (const id of ids) expect(await versionsOf(id)).toEqual(once(upTo(4, 'LATE')))
  }

  test('writes to another environment of the same organization are answered', async () => {
    const [lockedId, otherId] = [await nearlyFull(), await nearlyFull()]
    await whileLocked([lockedId], () => createAll(otherId, upTo(4, 'PROMPT')))
  })

  test('writes of another organization to a nearly full environment are answered', async () => {
    const other = await signUp(world)
    const otherId = await nearlyFull(other, (await newApp(world, other)).id)
    const lockedIds = [await nearlyFull(), await nearlyFull()]
    await whileLocked(lockedIds, () => createAll(otherId, upTo(4, 'PROMPT'), other))
  })
})

test('a rename needs no further secret in a full environment', async () => {
  const envId = await nearlyFull()
  await createAll(envId, upTo(19, 'FILLED'))
  const rename = (name: string, newName: string) =>
    world.call(secrets.rename, {
      as: tenant.admin.as,
      params: { orgId, envId, name },
      body: { newName, ciphertext: ciphertext(), formerNames: sealedFormerNames(), expectedVersion: 1 },
    })
  expect((await rename('FILLED_0', 'RENAMED')).status).toBe(200)
  expect((await create(envId, 'ONE_MORE')).status).toBe(403)
  expect((await rename('FILLED_1', 'ONE_MORE')).status).toBe(200)
  const { stored } = await versionsOf(envId)
  expect(stored).toHaveLength(20)
})
