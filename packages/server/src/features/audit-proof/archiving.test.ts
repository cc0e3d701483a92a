import { createReadStream } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { audit } from '@skerry/contract/audit/endpoints'
import { auditProof } from '@skerry/contract/audit-proof/endpoints'
import { logSink } from '@skerry/contract/log-sink/endpoints'
import { createClient } from '@skerry/sdk/client'
import { readAuditArchive } from '@skerry/sdk/internal/audit-archive'
import { type ProvenArchive, verifyTrail } from '@skerry/sdk/internal/audit-proof'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { restoreHere } from '../../../test/moved.ts'
import { newScratch } from '../../../test/scratch.ts'
import { newApp, newMember, signUp, type Tenant } from '../../../test/tenant.ts'
import { openWorld, type World } from '../../../test/world.ts'
import { archiveTrail } from './archiving.ts'
import { seal } from './seal.ts'

let world: World
let folder: string
beforeAll(async () => {
  world = await openWorld()
  await world.server.context.queue.stop()
  folder = await newScratch('skerry-archiving-')
})
afterAll(async () => {
  await world.close()
  await rm(folder, { recursive: true, force: true })
})

const sealed = () => seal(world.server.context)
const db = () => world.server.context.db
const now = () => world.clock.now()
const byHand = (sql: string) =>
  db().script(`alter table audit_entries disable trigger user; ${sql}; alter table audit_entries enable trigger user;`)

/** An organization with entries before and after an instant, all of them sealed. */
async function withPast() {
  const of = await signUp(world)
  for (let n = 0; n < 7; n++) await newApp(world, of)
  world.clock.advance(3600)
  const before = now().toISOString()
  for (let n = 0; n < 3; n++) await newApp(world, of)
  await sealed()
  return { of, before, ids: (await leavesOf(of)).map(({ entryId }) => entryId) }
}

const leavesOf = async (of: Tenant) =>
  (await world.call(auditProof.leaves, { as: of.admin.as, params: { orgId: of.orgId } })).body.leaves
const verify = ({ orgId, admin }: Tenant, archives: ProvenArchive[] = []) => {
  const client = createClient({ baseUrl: world.url, credential: { bearer: admin.as.replace('Bearer ', '') } })
  return verifyTrail(client, orgId, undefined, archives)
}
const publicKey = async () => (await world.call(auditProof.exportKey)).body.publicKey
let files = 0
const newPath = () => join(folder, `trail-${++files}.jsonl`)
const archive = async (of: Tenant, before: string, path = newPath()) => ({
  path,
  ...(await archiveTrail({ db: db(), now }, { id: of.orgId }, { before, path })),
})
const read = async (path: string) => readAuditArchive(createReadStream(path), [await publicKey()])
const entriesOf = async (of: Tenant) =>
  (await world.call(audit.list, { as: of.admin.as, params: { orgId: of.orgId }, query: { limit: 200 } })).body.entries

describe('an archive of the audit log', () => {
  test('contains the older entries, which are then removed, and both parts can be proven', async () => {
    const { of, before, ids } = await withPast()
    const { path, entries } = await archive(of, before)
    expect(entries).toBe(ids.length - 3)
    const lines = (await readFile(path, 'utf8')).trim().split('\n').slice(1)
    expect(lines.map((line) => JSON.parse(line).id)).toEqual(ids.slice(0, -3))
    const [made, ...left] = await entriesOf(of)
    expect(made).toMatchObject({ action: 'audit.archived', actorType: 'system', metadata: { from: 0, to: entries } })
    expect(left.map(({ id }) => id)).toEqual(ids.slice(-3).reverse())

    // Once before the `audit.archived` entry is sealed, and once after.
    for (const isSealed of [false, true]) {
      if (isSealed) await sealed()
      expect(await verify(of)).toMatchObject({ findings: [], archived: { entries, unread: entries } })
      expect(await verify(of, [await read(path)])).toMatchObject({ findings: [], archived: { entries, unread: 0 } })
    }
    const query = { entry: ids[0] as string }
    const proof = await world.call(auditProof.inclusion, { as: of.admin.as, params: { orgId: of.orgId }, query })
    expect(proof.body.proof).toMatchObject({ index: 0 })
  })

  test('continues the archive before it, and an archived note about that one is not reported as missing', async () => {
    const { of, before } = await withPast()
    const first = await archive(of, before)
    world.clock.advance(3600)
    await newApp(world, of)
    await sealed()
    const second = await archive(of, now().toISOString())
    await sealed()
    const archives = [await read(first.path), await read(second.path)]
    expect(archives[1]).toMatchObject({ start: first.entries, size: first.entries + second.entries })
    expect(await readFile(second.path, 'utf8')).toContain('"action":"audit.archived"')
    const entries = first.entries + second.entries
    expect(await verify(of, archives)).toMatchObject({ findings: [], archived: { entries, unread: 0 } })
    expect(await verify(of, archives.slice(1))).toMatchObject({ archived: { unread: first.entries } })
  })

  test('with one changed byte is refused, and so is an archive of another log or key', async () => {
    const { of, before } = await withPast()
    const other = await withPast()
    const { path } = await archive(of, before)
    const text = await readFile(path, 'utf8')
    const [header, entry] = text.split('\n') as [string, string]
    const cases: [string, RegExp][] = [
      [text.replace('"Acme', '"Bcme').replace('app_', 'app-'), /do not match the server’s signature/],
      [text.replace(`${entry}\n`, ''), /has \d+ entries, but its header says/],
      [text.slice(0, -1), /the last line is incomplete/],
      [text.replace(entry, '{'), /line 2 is not a JSON object/],
      [text.replace(header, '{}'), /line 1/],
      [text.replace('"start":0', '"start":1'), /line 1/],
    ]
    for (const [changed, reason] of cases) {
      const bad = newPath()
      await writeFile(bad, changed)
      await expect(read(bad), String(reason)).rejects.toThrow(reason)
    }
    const stranger = Buffer.alloc(32, 1).toString('base64url')
    await expect(readAuditArchive(createReadStream(path), [stranger])).rejects.toThrow(
      'a key that this client does not know',
    )
    const { findings } = await verify(other.of, [await read(path)])
    expect(findings).toMatchObject([{ kind: 'other_archive' }])
  })
})

test('after an interruption between the file and the removal, both have the entries, and archiving can run again', async () => {
  const { of, before } = await withPast()
  const path = newPath()
  const cutOff = Object.create(db(), { transaction: { value: () => Promise.reject(new Error('cut off')) } })
  await expect(archiveTrail({ db: cutOff, now }, { id: of.orgId }, { before, path })).rejects.toThrow('cut off')
  const [first, size] = [await read(path), (await leavesOf(of)).length]
  expect(await verify(of, [first])).toMatchObject({ findings: [], size, archived: { entries: 0 } })
  const { path: again, entries } = await archive(of, before)
  expect(await read(again)).toEqual(first)
  expect(await verify(of)).toMatchObject({ findings: [], archived: { entries } })
})

test('a restored organization keeps its archives and continues them', async () => {
  const { of, before } = await withPast()
  const { path, entries } = await archive(of, before)
  // An export contains no hashes of tokens, so a person sends the requests.
  const person = { ...of, admin: await newMember(world, of, 'admin') }
  await sealed()
  await restoreHere(world, of)
  await sealed()
  expect(await verify(person, [await read(path)])).toMatchObject({ findings: [], archived: { entries, unread: 0 } })
  world.clock.advance(60)
  await sealed()
  const next = await archive(of, now().toISOString())
  expect(await read(next.path)).toMatchObject({ start: entries })
})

describe('an entry that no archive contains', () => {
  test('is reported as removed if somebody deletes it after older entries were archived', async () => {
    const { of, before, ids } = await withPast()
    await archive(of, before)
    await sealed()
    const last = ids.at(-1) as string
    await byHand(`delete from audit_entries where id = '${last}'`)
    expect((await verify(of)).findings).toMatchObject([{ kind: 'removed', entryId: last }])
  })

  test('prevents an archive if somebody removed or changed it, and the entries stay', async () => {
    for (const sql of [(id: string) => `delete from audit_entries where id = '${id}'`, change]) {
      const { of, before, ids } = await withPast()
      await byHand(sql(ids[2] as string))
      const path = newPath()
      await expect(archive(of, before, path)).rejects.toThrow(ids[2])
      await expect(readFile(path)).rejects.toThrow('ENOENT')
      expect((await verify(of)).findings).toMatchObject([{ entryId: ids[2], index: 2 }])
    }
  })

  test('is reported as removed although a forged entry says that it was archived', async () => {
    const { of, ids } = await withPast()
    await byHand(`delete from audit_entries where id = '${ids[1]}';
      insert into audit_entries (org_id, id, action, actor_type, resource_type, metadata, created_at)
      values ('${of.orgId}', 'aud_${'F'.repeat(22)}', 'audit.archived', 'system', 'organization',
              '{"from": 0, "to": 5, "root": "${'A'.repeat(43)}="}', '${now().toISOString()}')`)
    await sealed()
    expect((await verify(of)).findings).toMatchObject([{ kind: 'removed', entryId: ids[1] }])
  })

  test('cannot be deleted from the database', async () => {
    const { of, before, ids } = await withPast()
    await archive(of, before)
    await expect(db().rows(`delete from audit_entries where id = '${ids.at(-1)}'`)).rejects.toThrow('append-only')
  })
})

describe('archiving is refused', () => {
  test('if no older entries are left, and if the file exists', async () => {
    const { of, before } = await withPast()
    const { path } = await archive(of, before)
    await expect(archive(of, before)).rejects.toThrow('no sealed entries from before')
    const { of: other, before: then } = await withPast()
    await expect(archive(other, then, path)).rejects.toThrow('EEXIST')
    expect((await verify(other)).archived.entries).toBe(0)
  })

  test('for the slower of two operators, who gets an error and no file', async () => {
    const { of, before } = await withPast()
    const [path, faster] = [newPath(), newPath()]
    const work = db().transaction.bind(db())
    /** The other operator archives the same entries after this one has written the file. */
    const overtaken = Object.create(db(), {
      transaction: {
        value: async (...args: Parameters<typeof work>) => {
          expect(await readFile(path, 'utf8')).not.toBe('')
          await archive(of, before, faster)
          return await work(...args)
        },
      },
    })
    const slower = archiveTrail({ db: overtaken, now }, { id: of.orgId }, { before, path })
    await expect(slower).rejects.toThrow('somebody else archived entries of this trail meanwhile')
    await expect(readFile(path)).rejects.toThrow('ENOENT')
    expect(await verify(of, [await read(faster)])).toMatchObject({ findings: [], archived: { unread: 0 } })
  })

  test('while the log sink has entries to send', async () => {
    const of = await signUp(world)
    const body = { endpoint: 'https://10.0.0.1/v1/logs' }
    await world.call(logSink.set, { as: of.admin.as, params: { orgId: of.orgId }, body })
    await sealed()
    world.clock.advance(60)
    const path = newPath()
    await expect(archive(of, now().toISOString(), path)).rejects.toThrow('the log sink has sent only the first 0')
    await expect(readFile(path)).rejects.toThrow('ENOENT')
  })
})

const change = (id: string) => `update audit_entries set actor_id = 'usr_else' where id = '${id}'`
