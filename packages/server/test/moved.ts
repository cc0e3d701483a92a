import { restore } from '../src/features/export/restoring.ts'
import { archiveOf } from './archives.ts'
import type { Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** Exports an organization, deletes all its rows as if it had never existed, and restores it from the archive. */
export async function restoreHere(world: World, tenant: Tenant): Promise<void> {
  const { db, archiveSections } = world.server.context
  const archive = await archiveOf(world, tenant)
  const tables = await db.rows<{ name: string }>(
    `select table_name as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_schema = 'public' and column_name = 'org_id' and table_type = 'BASE TABLE'`,
  )
  await db.transaction(async (tx) => {
    await tx.rows('set local session_replication_role = replica')
    for (const { name } of tables) await tx.rows(`delete from ${name} where org_id = $1`, [tenant.orgId])
    await tx.rows('delete from organizations where id = $1', [tenant.orgId])
  })
  const open = async function* () {
    yield archive
  }
  await restore({ db, now: world.clock.now, archiveSections }, open, undefined)
}
