import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines, type RunningEngine } from '../../test/db/engines.ts'
import type { Database } from './database.ts'
import { migrate } from './migrate.ts'

const ownFolder = fileURLToPath(new URL('./migrations/', import.meta.url))

/** An organization in the schema before principals: people, tokens in every state, a decoy, and their grants. */
const before = `
  insert into organizations (id, name, slug, created_at, updated_at) values ('org_1', 'One', 'one', now(), now()), ('org_2', 'Two', 'two', now(), now());
  insert into users (id, issuer, subject, created_at) values ('usr_1', 'i', '1', now()), ('usr_2', 'i', '2', now());
  insert into memberships (org_id, user_id, role, created_at) values ('org_1', 'usr_1', 'owner', now()), ('org_2', 'usr_1', 'owner', now());
  insert into applications (org_id, id, name, slug, created_at, updated_at) values ('org_1', 'app_1', 'A', 'a', now(), now());
  insert into environments (org_id, id, application_id, name, slug, created_at, updated_at)
    values ('org_1', 'env_1', 'app_1', 'E', 'e', now(), now()), ('org_1', 'env_2', 'app_1', 'F', 'f', now(), now());
  insert into service_tokens (org_id, id, token_hash, name, role, environment_id, public_key_jwk, created_by_type, created_by_id, created_at, revoked_at, deleted_at)
    values ('org_1', 'skt_live', 'h1', 't', 'admin', null, '{}', 'user', 'usr_1', now(), null, null),
           ('org_1', 'skt_bound', 'h2', 't', 'member', 'env_2', '{}', 'user', 'usr_1', now(), null, null),
           ('org_1', 'skt_revoked', 'h3', 't', 'admin', null, '{}', 'user', 'usr_1', now(), now(), null),
           ('org_1', 'skt_deleted', 'h4', 't', 'admin', null, '{}', 'user', 'usr_1', now(), now(), now());
  insert into service_tokens (org_id, id, token_hash, name, role, created_by_type, created_by_id, created_at, deleted_at)
    values ('org_1', 'skt_decoy', 'h5', 'd', 'member', 'user', 'usr_1', now(), now());
  insert into key_grants (org_id, id, environment_id, principal_type, principal_id, wrapped_dek, granted_by_type, granted_by_id, created_at)
    values ('org_1', 'ek_user', 'env_1', 'user', 'usr_1', 'wd1.x', 'user', 'usr_1', now()),
           ('org_1', 'ek_live', 'env_1', 'service_token', 'skt_live', 'wd1.x', 'user', 'usr_1', now()),
           ('org_1', 'ek_bound', 'env_1', 'service_token', 'skt_bound', 'wd1.x', 'user', 'usr_1', now()),
           ('org_1', 'ek_revoked', 'env_1', 'service_token', 'skt_revoked', 'wd1.x', 'user', 'usr_1', now()),
           ('org_1', 'ek_of_nobody', 'env_1', 'user', 'usr_2', 'wd1.x', 'user', 'usr_1', now());`

const keypair = (purpose: string, ownerId: string) =>
  `insert into server_keypairs (org_id, purpose, owner_id, public_key_jwk, sealed_private_key, created_at)
   values ('org_1', '${purpose}', '${ownerId}', '{}', 'sk1.x', now())`
const grant = (type: string, id: string, org = 'org_1') =>
  `insert into key_grants (org_id, id, environment_id, principal_type, principal_id, wrapped_dek, granted_by_type, granted_by_id, created_at)
   values ('${org}', 'ek_${type}_${id}', 'env_1', '${type}', '${id}', 'wd1.x', 'user', 'usr_1', now())`

for (const engine of engines) {
  describe.skipIf(engine.missing)(`${engine.name}${engine.missing ? ` (skipped: ${engine.missing})` : ''}`, () => {
    let running: RunningEngine
    let db: Database
    let earlier: string
    beforeAll(async () => {
      running = await engine.start()
      db = await running.open()
      earlier = mkdtempSync(join(tmpdir(), 'skerry-migrations-'))
      for (const file of readdirSync(ownFolder)) if (file < '0007') cpSync(join(ownFolder, file), join(earlier, file))
      await migrate(db, { folder: earlier })
      await db.script(before)
      await migrate(db)
    })
    afterAll(async () => {
      rmSync(earlier, { recursive: true })
      await running?.stop()
    })

    const principals = async () =>
      (
        await db.rows<{ one: string }>(`select org_id || ' ' || type || ' ' || id as one from principals order by 1`)
      ).map(({ one }) => one)
    const grants = async () =>
      (await db.rows<{ id: string }>('select id from key_grants order by id')).map(({ id }) => id)
    const migrated = [
      'org_1 service_token skt_bound',
      'org_1 service_token skt_live',
      'org_1 service_token skt_revoked',
      'org_1 user usr_1',
      'org_2 user usr_1',
    ]

    it('a database with rows migrates: each member and token becomes a principal, and keeps its grants', async () => {
      expect(await principals()).toEqual(migrated)
      expect(await grants()).toEqual(['ek_bound', 'ek_live', 'ek_revoked', 'ek_user'])
    })

    it('only a principal of the same organization can get a grant', async () => {
      const strangers = [
        ['user', 'usr_2'],
        ['service_token', 'skt_deleted'],
        ['service_token', 'skt_decoy'],
        ['user', 'skt_live'],
        ['rotator', 'org_1'],
      ] as const
      for (const [type, id] of strangers) await expect(db.rows(grant(type, id))).rejects.toThrow(/foreign key/)
      await expect(db.rows(grant('service_token', 'skt_live', 'org_2'))).rejects.toThrow(/foreign key/)
    })

    it('the grants of a principal are deleted with it, whatever deletes it', async () => {
      await db.rows(`update service_tokens set name = 'renamed' where id = 'skt_live'`)
      expect(await principals()).toEqual(migrated)
      await db.rows(`update service_tokens set deleted_at = now() where id = 'skt_revoked'`)
      expect(await grants()).toEqual(['ek_bound', 'ek_live', 'ek_user'])
      await db.rows(`delete from environments where id = 'env_2'`) // also deletes the token that is bound to it
      expect(await grants()).toEqual(['ek_live', 'ek_user'])
      await db.rows(`delete from memberships where org_id = 'org_1'`)
      await db.rows(`delete from service_tokens where id = 'skt_live'`)
      expect([await grants(), await principals()]).toEqual([[], ['org_2 user usr_1']])
    })

    it('a server-side reader is a principal as long as it has a key, and a broker never is', async () => {
      await db.script(
        [
          keypair('broker', 'org_1'),
          keypair('rotator', 'org_1'),
          keypair('sync', 'syn_1'),
          keypair('sync', 'syn_2'),
        ].join(';'),
      )
      const readers = ['org_1 rotator org_1', 'org_1 sync_connection syn_1', 'org_1 sync_connection syn_2']
      expect(await principals()).toEqual([...readers, 'org_2 user usr_1'])
      for (const [type, id] of [
        ['rotator', 'org_1'],
        ['sync_connection', 'syn_1'],
        ['sync_connection', 'syn_2'],
      ] as const)
        await db.rows(grant(type, id))
      await db.rows(`delete from server_keypairs where owner_id = 'syn_1'`)
      expect(await grants()).toEqual(['ek_rotator_org_1', 'ek_sync_connection_syn_2'])
      await db.rows(`delete from server_keypairs where purpose in ('broker', 'rotator')`)
      expect(await grants()).toEqual(['ek_sync_connection_syn_2'])
    })

    it('every type of principal has a trigger that adds it and one that drops it', async () => {
      const [check] = await db.rows<{ text: string }>(
        `select pg_get_constraintdef(oid) as text from pg_constraint where conrelid = 'principals'::regclass and contype = 'c'`,
      )
      const types = [...(check?.text.matchAll(/'(\w+)'/g) ?? [])].map(([, type]) => type)
      expect(types).toContain('sync_connection')
      for (const name of ['add_principal', 'drop_principal']) {
        const triggers = await db.rows<{ type: string }>(
          `select distinct split_part(encode(tgargs, 'escape'), '\\000', 1) as type from pg_trigger where tgfoid = $1::regproc`,
          [name],
        )
        expect(triggers.map(({ type }) => type).sort()).toEqual(types.toSorted())
      }
    })
  })
}
