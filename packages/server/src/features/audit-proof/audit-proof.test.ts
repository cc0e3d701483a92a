import { audit } from '@skerry/contract/audit/endpoints'
import { auditProof } from '@skerry/contract/audit-proof/endpoints'
import { decodeBase64url } from '@skerry/crypto/base64url'
import { decodeBase64, openCheckpoint } from '@skerry/crypto/checkpoint'
import { growTree, isSameHash, openHasher, rootOfInclusion, rootsOfConsistency } from '@skerry/crypto/merkle'
import { createClient } from '@skerry/sdk/client'
import { compareCheckpoints, fetchCheckpoint, type SeenCheckpoint, verifyTrail } from '@skerry/sdk/internal/audit-proof'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { held } from '../../../test/held.ts'
import { newApp, newGroup, newMember, newToken, signUp, type Tenant } from '../../../test/tenant.ts'
import { openWorld, type World } from '../../../test/world.ts'
import { seal } from './seal.ts'

let world: World
let tenant: Tenant
beforeAll(async () => {
  world = await openWorld()
  tenant = await signUp(world)
  // The tests call `seal` themselves, so the job must not run.
  await world.server.context.queue.stop()
})
afterAll(() => world.close())

const sealed = () => seal(world.server.context)
const db = () => world.server.context.db
const ask = <E extends Parameters<World['call']>[0]>(endpoint: E, query: object = {}, of = tenant) =>
  world.call(endpoint, { as: of.admin.as, params: { orgId: of.orgId }, query } as never)
const clientOf = (of: Tenant) =>
  createClient({ baseUrl: world.url, credential: { bearer: of.admin.as.replace('Bearer ', '') } })
const verify = (of: Tenant, seen?: SeenCheckpoint) => verifyTrail(clientOf(of), of.orgId, seen)
const seenNow = async (of: Tenant): Promise<SeenCheckpoint> => {
  const { note, publicKey } = await fetchCheckpoint(clientOf(of), of.orgId)
  return { note, publicKey }
}

/** Changes entries in the database directly, as its owner can. */
const byHand = (sql: string) =>
  db().script(`alter table audit_entries disable trigger user;
    ${sql};
    alter table audit_entries enable trigger user;`)

/** An organization with `count` apps and all entries sealed, and the ids of its entries, oldest first. */
async function withHistory(count: number): Promise<{ of: Tenant; ids: string[] }> {
  const of = await signUp(world)
  for (let n = 0; n < count; n++) await newApp(world, of)
  await sealed()
  const { body } = await world.call(auditProof.leaves, { as: of.admin.as, params: { orgId: of.orgId } })
  return { of, ids: body.leaves.map(({ entryId }) => entryId) }
}

describe('a checkpoint', () => {
  test('is a note about all sealed entries, signed with the key that the server publishes', async () => {
    await sealed()
    const { body } = await ask(auditProof.checkpoint)
    const { body: key } = await world.call(auditProof.exportKey)
    expect(key).toMatchObject({ algorithm: 'Ed25519', publicKey: expect.stringMatching(/^[\w-]{43}$/) })
    const opened = await openCheckpoint(body.checkpoint, decodeBase64url(key.publicKey), `skerry/${tenant.orgId}`)
    const hasher = await openHasher()
    const tree = growTree(hasher)
    const { leaves } = (await ask(auditProof.leaves)).body
    for (const { entry } of leaves) tree.append(hasher.leaf(entry as object))
    expect(opened.size).toBe(leaves.length)
    expect(body.size).toBe(leaves.length)
    const instants = [leaves.at(-1)?.createdAt, body.signedAt, world.clock.now().toISOString()]
    expect(instants).toEqual(instants.toSorted())
    expect(isSameHash(opened.root, tree.root())).toBe(true)
    const { entries } = (await ask(audit.list, { limit: 200 })).body
    expect(leaves.map(({ entryId }) => entryId).sort()).toEqual(entries.map(({ id }) => id).sort())
  })

  test('with a changed size, root, log or signature is refused', async () => {
    const { note, publicKey } = await seenNow(tenant)
    const open = (text: string, origin = `skerry/${tenant.orgId}`) =>
      openCheckpoint(text, decodeBase64url(publicKey), origin)
    await expect(open(note)).resolves.toMatchObject({ origin: `skerry/${tenant.orgId}` })
    const lines = note.split('\n')
    const withLine = (index: number, line: string) => lines.with(index, line).join('\n')
    for (const bad of [
      withLine(1, String(Number(lines[1]) + 1)),
      withLine(2, Buffer.alloc(32).toString('base64')),
      withLine(4, (lines[4] as string).replace(/.{6}$/, 'AAAAAA')),
      note.slice(0, -1),
      note.replace('\n\n', '\n'),
    ])
      await expect(open(bad)).rejects.toThrow(/checkpoint/)
    await expect(open(note, 'skerry/org_other')).rejects.toThrow('another audit log')
    await expect(open(withLine(1, '1'))).rejects.toMatchObject({ code: 'unsigned_checkpoint' })
    await expect(openCheckpoint(note, new Uint8Array(32).fill(9), `skerry/${tenant.orgId}`)).rejects.toMatchObject({
      code: 'other_checkpoint_key',
    })
  })

  test('stays the same, byte for byte, until something is written', async () => {
    await sealed()
    const before = await seenNow(tenant)
    await sealed()
    expect(await seenNow(tenant)).toEqual(before)
    await newApp(world, tenant)
    await sealed()
    expect((await seenNow(tenant)).note).not.toBe(before.note)
  })

  test('of an organization without sealed entries is refused, and the error says how long to wait', async () => {
    const young = await signUp(world)
    const { status, error } = await ask(auditProof.checkpoint, {}, young)
    expect([status, error?.message]).toEqual([409, expect.stringContaining('ten seconds')])
  })

  test('is only for admins of the organization', async () => {
    for (const actor of [await newMember(world, tenant), await newToken(world, tenant)])
      for (const path of ['checkpoint', 'leaves', 'proof/consistency?from=1']) {
        const url = `${world.url}/v1/orgs/${tenant.orgId}/audit/${path}`
        expect((await fetch(url, { headers: { authorization: actor.as } })).status).toBe(403)
      }
    expect((await ask(auditProof.leaves, {}, { ...tenant, admin: (await signUp(world)).admin })).status).toBe(404)
  })
})

describe('proofs', () => {
  test('of inclusion lead from entries to the root at several sizes, and proofs of consistency connect each two sizes', async () => {
    const { of } = await withHistory(36)
    const { leaves, size } = (await ask(auditProof.leaves, {}, of)).body
    const hasher = await openHasher()
    const roots = [hasher.empty()]
    const tree = growTree(hasher)
    for (const { hash } of leaves) {
      tree.append(decodeBase64(hash))
      roots.push(tree.root())
    }
    expect(size).toBeGreaterThan(36)
    const sizes = [1, 2, 3, 15, 16, 17, 31, 33, size]
    for (const at of sizes)
      for (const { index, entryId, hash } of leaves.filter(
        ({ index }) => index < at && (index < 3 || index % 7 === 0),
      )) {
        const { body } = await ask(auditProof.inclusion, { entry: entryId, size: at }, of)
        expect(body.proof).toMatchObject({ index, size: at })
        const hashes = body.proof.hashes.map(decodeBase64)
        expect(rootOfInclusion(hasher, { leaf: decodeBase64(hash), index, size: at, hashes })).toEqual(roots[at])
      }
    for (const [place, to] of sizes.entries())
      for (const from of sizes.slice(0, place)) {
        const { body } = await ask(auditProof.consistency, { from, to }, of)
        const fromRoot = roots[from] as (typeof roots)[0]
        const hashes = body.proof.hashes.map(decodeBase64)
        expect(rootsOfConsistency(hasher, { from, to, fromRoot, hashes })).toEqual({ from: fromRoot, to: roots[to] })
      }
  })

  test('of unsealed entries and of impossible sizes are refused with the reason', async () => {
    const stranger = await withHistory(1)
    const { of, ids } = await withHistory(3)
    const { size } = (await ask(auditProof.leaves, {}, of)).body
    await newApp(world, of)
    const [fresh] = (await ask(audit.list, { limit: 1 }, of)).body.entries
    const cases: [Parameters<World['call']>[0], object, number, RegExp][] = [
      [auditProof.inclusion, { entry: fresh?.id }, 404, /no sealed entry/],
      [auditProof.inclusion, { entry: ids.at(-1), size: 1 }, 400, /query.size/],
      [auditProof.inclusion, { entry: ids[0], size: size + 1 }, 400, /query.size/],
      [auditProof.inclusion, { entry: 'aud_x' }, 400, /query.entry/],
      [auditProof.consistency, { from: 2, to: 1 }, 400, /query.from/],
      [auditProof.consistency, { from: 1, to: size + 1 }, 400, /query.to/],
      [auditProof.consistency, { from: -1 }, 400, /query.from/],
      [auditProof.inclusion, { entry: stranger.ids[0] }, 404, /no sealed entry/],
    ]
    for (const [endpoint, query, status, message] of cases) {
      const answer = await ask(endpoint, query, of)
      expect([answer.status, answer.error?.message]).toEqual([status, expect.stringMatching(message)])
    }
  })
})

describe('sealing', () => {
  test('adds each entry to the tree once, while several servers seal and others write', async () => {
    const of = await signUp(world)
    const writing = Array.from({ length: 30 }, () => newGroup(world, of))
    await Promise.all([sealed(), sealed(), ...writing, sealed()])
    await sealed()
    const { leaves } = (await ask(auditProof.leaves, {}, of)).body
    const { entries } = (await ask(audit.list, { limit: 200 }, of)).body
    expect(leaves.map(({ entryId }) => entryId).sort()).toEqual(entries.map(({ id }) => id).sort())
    expect((await verify(of)).findings).toEqual([])
  })

  /** Writes an entry and commits it after `work`. The embedded database can run `work` only after the commit. */
  async function slowly(of: Tenant, work: () => Promise<unknown>): Promise<string> {
    const id = `aud_${'S'.repeat(22)}`
    const slow = `insert into audit_entries (org_id, id, action, actor_type, resource_type, metadata, created_at)
                  values ('${of.orgId}', '${id}', 'org.updated', 'system', 'organization', '{}', now())`
    const writing = await held(db(), (tx) => tx.rows(slow))
    if (db().engine === 'postgres') await work()
    await writing.commit()
    if (db().engine !== 'postgres') await work()
    return id
  }

  test('includes an entry whose transaction ends after younger entries were sealed', async () => {
    const of = await signUp(world)
    const id = await slowly(of, async () => {
      await newGroup(world, of)
      await sealed()
    })
    await newGroup(world, of)
    await sealed()
    const { leaves } = (await ask(auditProof.leaves, {}, of)).body
    expect(leaves.filter(({ entryId }) => entryId === id)).toHaveLength(1)
    expect((await verify(of)).findings).toEqual([])
  })

  test('adds several batches once, also while an older transaction is open', async () => {
    const of = await signUp(world)
    const id = await slowly(of, async () => {
      await db().rows(
        `insert into audit_entries (org_id, id, action, actor_type, resource_type, metadata, created_at)
         select $1, 'aud_' || lpad(n::text, 22, '0'), 'org.updated', 'system', 'organization', '{}', now()
           from generate_series(1, 2500) n`,
        [of.orgId],
      )
      await sealed()
      await sealed()
    })
    await sealed()
    const count = `select count(*)::int as n, count(*) filter (where entry_id = '${id}')::int as slow
                     from audit_leaves where org_id = '${of.orgId}' and entry_id in
                          (select id from audit_entries where action = 'org.updated')`
    expect(await db().row(count)).toEqual({ n: 2501, slow: 1 })
    expect((await verify(of)).findings).toEqual([])
  })

  test('continues after a restore into a database that counts transactions from the beginning', async () => {
    const { of } = await withHistory(2)
    await db().rows(`update audit_sealing set xid = '9000000000', latest_xid = '9000000000'`)
    await newApp(world, of)
    await sealed()
    const { leaves } = (await ask(auditProof.leaves, {}, of)).body
    expect(leaves).toHaveLength((await ask(audit.list, { limit: 200 }, of)).body.entries.length)
  })
})

describe('a verification of the audit log', () => {
  test('finds nothing in an unchanged log, and the next one continues from its checkpoint', async () => {
    const { of, ids } = await withHistory(5)
    const first = await verify(of)
    expect(first).toMatchObject({ size: ids.length, findings: [] })
    await newApp(world, of)
    await sealed()
    const next = await verify(of, { note: first.checkpoint, publicKey: first.publicKey })
    expect(next).toMatchObject({ size: ids.length + 1, findings: [] })
  })

  test('finds a changed entry', async () => {
    const { of, ids } = await withHistory(5)
    await byHand(`update audit_entries set actor_id = 'usr_else' where id = '${ids[3]}'`)
    expect((await verify(of)).findings).toMatchObject([{ kind: 'changed', entryId: ids[3], index: 3 }])
  })

  test('finds a removed entry', async () => {
    const { of, ids } = await withHistory(5)
    await byHand(`delete from audit_entries where id = '${ids[2]}'`)
    expect((await verify(of)).findings).toMatchObject([{ kind: 'removed', entryId: ids[2], index: 2 }])
  })

  test('finds an entry that was inserted among sealed ones, with a new or an old transaction number', async () => {
    const { of, ids } = await withHistory(2)
    world.clock.advance(3600)
    await newApp(world, of)
    await sealed()
    const [late, hidden] = [`aud_${'L'.repeat(22)}`, `aud_${'H'.repeat(22)}`]
    const copy = (id: string, xid: string) => `
      insert into audit_entries (org_id, id, action, actor_type, resource_type, metadata, created_at, xid)
      select org_id, '${id}', action, actor_type, resource_type, metadata, created_at, ${xid}
        from audit_entries where id = '${ids[0]}'`
    await byHand(copy(late, 'pg_current_xact_id()'))
    await byHand(copy(hidden, 'xid'))
    await sealed()
    const { findings } = await verify(of)
    // Either of the two may be sealed first.
    expect(new Set(findings.map(({ kind, entryId }) => `${kind} ${entryId}`))).toEqual(
      new Set([`put_between ${late}`, `put_between ${hidden}`]),
    )
  })

  test('finds a changed hash, after which the server seals nothing more and reports it', async () => {
    const { of, ids } = await withHistory(20)
    const seen = await seenNow(of)
    await db().script(`alter table audit_leaves disable trigger user;
      update audit_leaves set hash = sha256('x') where org_id = '${of.orgId}' and position = 18;
      alter table audit_leaves enable trigger user`)
    expect((await verify(of, seen)).findings).toMatchObject([{ kind: 'changed', index: 18 }])
    await newApp(world, of)
    await sealed()
    const { body } = await ask(auditProof.checkpoint, {}, of)
    const signed = { size: ids.length, signedAt: expect.any(String) }
    expect(body).toEqual({ checkpoint: seen.note, ...signed, brokenAt: expect.any(String) })
    expect((await ask(auditProof.leaves, {}, of)).body).toMatchObject({ size: ids.length, brokenAt: body.brokenAt })
    expect((await ask(auditProof.consistency, { from: 1 }, of)).error?.message).toContain('were changed')
    expect((await verify(of, seen)).findings).toMatchObject([{ kind: 'changed', index: 18 }, { kind: 'unsealed' }])
    expect(world.log.some((line) => line.includes('changed by hand') && line.includes(of.orgId))).toBe(true)
  })
})

describe('a server that shows two histories', () => {
  test('is caught when two people compare checkpoints of one or two sizes, and an honest server is not', async () => {
    const { of } = await withHistory(4)
    const { note: early, publicKey } = await seenNow(of)
    await newApp(world, of)
    await sealed()
    const { note: late } = await seenNow(of)
    const compare = (...notes: [string, string]) =>
      compareCheckpoints(clientOf(of), of.orgId, { publicKeys: [publicKey], notes })
    expect(await compare(early, late)).toBeNull()
    expect(await compare(late, late)).toBeNull()

    // The same server signs another history for somebody else.
    const signer = await world.server.context.exportKey.signer(db())
    const { signCheckpoint } = await import('./note.ts')
    const size = Number(early.split('\n')[1])
    const forked = (at: number) => signCheckpoint(signer as never, of.orgId, at, Buffer.alloc(32, 5))
    for (const pair of [
      [forked(size), early],
      [forked(size), late],
      [early, forked(size + 1)],
    ] as [string, string][])
      expect(await compare(...pair)).toMatchObject({ kind: 'other_history' })
    expect((await verify(of, { note: forked(size), publicKey })).findings).toMatchObject([{ kind: 'other_history' }])
    const longer = { note: forked(size + 9), publicKey }
    expect((await verify(of, longer)).findings).toMatchObject([{ kind: 'shorter' }])
  })
})

test('a server without a key also seals, and signs once it has a key', async () => {
  const { context } = world.server
  const { of } = await withHistory(1)
  const { openExportKey } = await import('../../keys/export-key.ts')
  await newApp(world, of)
  await seal({ ...context, exportKey: openExportKey(null, world.clock.now) })
  expect((await ask(auditProof.checkpoint, {}, of)).error?.message).toBe('this server has no server key')
  await sealed()
  expect((await verify(of)).findings).toEqual([])
})
