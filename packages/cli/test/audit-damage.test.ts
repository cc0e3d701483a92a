import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Entry } from '../../server/src/features/audit/scope.ts'
import { signCheckpoint } from '../../server/src/features/audit-proof/note.ts'
import { seal } from '../../server/src/features/audit-proof/seal.ts'
import { listLeaves } from '../../server/src/features/audit-proof/store.ts'
import { leafHash } from '../../server/src/features/audit-proof/tree.ts'
import { openWorld, type World } from '../../server/test/world.ts'
import { type Machine, signedUp } from './machine.ts'

// Somebody with access to the database damages the audit log. Each test checks the report of `skerry audit verify`.

let world: World
const machines: Machine[] = []
beforeAll(async () => {
  world = await openWorld()
  // The tests seal the log themselves, so the server's queue is stopped.
  await world.server.context.queue.stop()
})
afterAll(async () => {
  for (const machine of machines) await machine.remove()
  await world?.close()
})

const sealed = () => seal(world.server.context)
const db = () => world.server.context.db

/** Changes the database directly, as its owner can. */
const byHand = (table: string, sql: string) =>
  db().script(`alter table ${table} disable trigger user; ${sql}; alter table ${table} enable trigger user`)

interface Trail {
  machine: Machine
  orgId: string
  /** The ids of the sealed entries, in their order. */
  ids: string[]
}

/** A machine that has verified the audit log of its organization once, with some thirty entries. */
async function verified(name: string): Promise<Trail> {
  const machine = await signedUp(world.url, name)
  machines.push(machine)
  const org = (await db().row<{ id: string }>('select id from organizations where name = $1', [name])) as { id: string }
  await db().rows(
    `insert into audit_entries (org_id, id, action, actor_type, resource_type, metadata, created_at)
     select $1::text, 'aud_' || substr(md5($1::text || n), 1, 22), 'org.updated', 'system', 'organization', '{}', now()
       from generate_series(1, 25) n`,
    [org.id],
  )
  await sealed()
  const rows = await db().rows<{ entryId: string }>(
    'select entry_id from audit_leaves where org_id = $1 order by position',
    [org.id],
  )
  expect((await machine.shell('skerry audit verify')).code).toBe(0)
  return { machine, orgId: org.id, ids: rows.map(({ entryId }) => entryId) }
}

interface Found {
  kind: string
  index?: number
  entryId?: string
}

/** The report of `verify`, which must exit with 3, as text and as JSON. */
async function found({ machine }: Trail): Promise<{ stderr: string; findings: Found[] }> {
  const { code, stdout, stderr } = await machine.shell('skerry audit verify')
  expect([code, stdout]).toEqual([3, ''])
  expect(stderr).toContain('the audit log was changed')
  const asJson = await machine.shell('skerry audit verify --json')
  expect(asJson.code).toBe(3)
  return { stderr, findings: JSON.parse(asJson.stdout).findings }
}

describe('skerry audit verify reports', () => {
  test('an entry that was changed', async () => {
    const trail = await verified('Changed')
    const [entryId, index] = [trail.ids[7], 7]
    await byHand('audit_entries', `update audit_entries set actor_id = 'usr_else' where id = '${entryId}'`)
    const { stderr, findings } = await found(trail)
    expect(stderr).toContain(`entry ${entryId} was changed after it was sealed (at ${index})`)
    expect(findings).toMatchObject([{ kind: 'changed', entryId, index }])
  })

  test('an entry that was deleted', async () => {
    const trail = await verified('Deleted')
    const [entryId, index] = [trail.ids[5], 5]
    await byHand('audit_entries', `delete from audit_entries where id = '${entryId}'`)
    const { stderr, findings } = await found(trail)
    expect(stderr).toContain(`entry ${entryId} was removed after it was sealed (at ${index})`)
    expect(findings).toMatchObject([{ kind: 'removed', entryId, index }])
  })

  test('an inserted entry, whether it was sealed later or never', async () => {
    const trail = await verified('Inserted')
    const insert = (id: string, xid: string) =>
      byHand(
        'audit_entries',
        `insert into audit_entries (org_id, id, action, actor_type, resource_type, metadata, created_at, xid)
         select org_id, '${id}', action, actor_type, resource_type, metadata, created_at - interval '1 hour', ${xid}
           from audit_entries where id = '${trail.ids[3]}'`,
      )
    const [late, hidden] = [`aud_${'L'.repeat(22)}`, `aud_${'H'.repeat(22)}`]
    await insert(late, 'pg_current_xact_id()')
    await insert(hidden, 'xid')
    await sealed()
    const { stderr, findings } = await found(trail)
    expect(stderr).toContain(`entry ${late} was added later than its time says (at ${trail.ids.length})`)
    expect(stderr).toContain(`entry ${hidden} was never sealed`)
    expect(findings.map(({ kind, entryId }) => [kind, entryId])).toEqual([
      ['put_between', late],
      ['put_between', hidden],
    ])
  })

  test('an entry whose stored hash was changed, also after the server has noticed and stopped sealing', async () => {
    const trail = await verified('Hash')
    const last = trail.ids.length - 1
    await byHand(
      'audit_leaves',
      `update audit_leaves set hash = sha256('x') where org_id = '${trail.orgId}' and position = ${last}`,
    )
    expect((await found(trail)).findings).toMatchObject([{ kind: 'changed', index: last }])
    await trail.machine.shell('skerry group create later')
    await sealed()
    const { stderr, findings } = await found(trail)
    expect(findings).toMatchObject([{ kind: 'changed', entryId: trail.ids[last], index: last }, { kind: 'unsealed' }])
    expect(stderr).toContain('has sealed no entry since 20')
    const shown = await trail.machine.shell('skerry audit checkpoint')
    expect([shown.code, shown.stdout, shown.stderr]).toEqual([
      3,
      '',
      expect.stringContaining('has sealed no entry since'),
    ])
  })

  test('the range of sixteen entries in which one entry and its stored hash were changed', async () => {
    const trail = await verified('Both')
    const setHash = (position: number, hash: Buffer) =>
      byHand(
        'audit_leaves',
        `update audit_leaves set hash = '\\x${hash.toString('hex')}' where org_id = '${trail.orgId}' and position = ${position}`,
      )
    const changed = async (index: number, actorId: string) => {
      const { ids, orgId } = trail
      await byHand('audit_entries', `update audit_entries set actor_id = '${actorId}' where id = '${ids[index]}'`)
      const [leaf] = await listLeaves(db(), { id: orgId }, index, index + 1)
      return leafHash(leaf?.entry as Entry)
    }
    const last = trail.ids.length - 1
    const before = (await listLeaves(db(), { id: trail.orgId }, 4, 5))[0]
    await setHash(4, await changed(4, 'usr_else'))
    const inFirst = await found(trail)
    expect(inFirst.findings).toMatchObject([{ kind: 'not_as_signed', index: 0 }])
    expect(inFirst.stderr).toContain(`one of the entries 0 to 15, ${trail.ids[0]} to ${trail.ids[15]},`)

    await byHand(
      'audit_entries',
      `update audit_entries set actor_id = ${before?.entry?.actorId ? `'${before.entry.actorId}'` : 'null'} where id = '${trail.ids[4]}'`,
    )
    await setHash(4, Buffer.from(before?.hash as string, 'base64'))
    expect((await trail.machine.shell('skerry audit verify')).code).toBe(0)
    await setHash(last, await changed(last, 'usr_else'))
    await trail.machine.shell('skerry group create later')
    await sealed()
    const inLast = await found(trail)
    expect(inLast.findings).toMatchObject([{ kind: 'not_as_signed', index: 16 }, { kind: 'unsealed' }])
    expect(inLast.stderr).toContain(
      `according to the stored hashes, one of the entries 16 to ${last}, ${trail.ids[16]} to ${trail.ids[last]},`,
    )
  })
})

test('skerry audit checkpoint --compare refuses a signed checkpoint of another history, whatever its size', async () => {
  const { machine, orgId, ids } = await verified('Two histories')
  await machine.shell('skerry audit checkpoint > early')
  await machine.shell('skerry group create later')
  await sealed()
  const signer = await world.server.context.exportKey.signer(db())
  const size = (await listLeaves(db(), { id: orgId }, 0, 1000)).length
  expect(size).toBeGreaterThan(ids.length)
  for (const at of [ids.length, size, size + 3]) {
    await machine.write('other', signCheckpoint(signer as NonNullable<typeof signer>, orgId, at, Buffer.alloc(32, 5)))
    const { code, stdout, stderr } = await machine.shell('skerry audit checkpoint --compare other')
    expect([at, code, stdout, stderr]).toEqual([at, at > size ? expect.any(Number) : 3, '', expect.any(String)])
    expect(code).not.toBe(0)
    if (at <= size) expect(stderr).toContain(`the first ${at} entries do not match the checkpoint`)
  }
  const honest = await machine.shell('skerry audit checkpoint --compare early')
  expect([honest.code, honest.stderr]).toEqual([0, expect.stringContaining('both belong to the same audit log')])
})
