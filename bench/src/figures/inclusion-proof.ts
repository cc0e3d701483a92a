import type { Database } from '../../../packages/server/src/db/database.ts'
import type { Entry } from '../../../packages/server/src/features/audit/scope.ts'
import { insertLeaves, insertNodes, saveTrees } from '../../../packages/server/src/features/audit-proof/store.ts'
import { collectNodes, leafHash, rangeHash } from '../../../packages/server/src/features/audit-proof/tree.ts'
import { newId } from '../../../packages/server/src/kernel/context.ts'
import { startServer } from '../child.ts'
import { type BenchOnPostgres, onDatabase, withServerKey } from '../figure.ts'
import { say } from '../measure.ts'
import { makeTenant, request } from '../tenant.ts'
import { openTrail, stopSealing } from '../trail.ts'

const asked = 5000
const batch = 20_000

/** The milliseconds of one proof in a tree of a million entries, when proofs are requested one after the other. */
export async function inclusionProof({ plan, loader, postgres }: BenchOnPostgres): Promise<number> {
  const { secretCount: count } = plan
  if (count < 1_000_000) say(`  with only ${count} entries: this run is to be quick`)
  const databaseUrl = await postgres.createDatabase('inclusion_proof')
  await using server = await startServer({ ...onDatabase(databaseUrl), ...withServerKey })
  const db = await openTrail(databaseUrl)
  try {
    // The tree is inserted. Before there is an organization, the server has sealed nothing.
    await stopSealing(db)
    const { orgId, admin } = await makeTenant(server.url, 1)
    const entryIds = await plantTree(db, orgId, count)
    const requests = entryIds.map((entryId) =>
      request('GET', `/v1/orgs/${orgId}/audit/proof/inclusion?entry=${entryId}`, admin.bearer),
    )
    const { p99Ms, perSecond } = await loader.run({ port: server.port, connections: 1, ms: plan.warmUpMs, requests })
    say(`  ${perSecond.toFixed(0)} proofs/s one after the other, 99 % within ${p99Ms.toFixed(1)} ms`)
    return 1000 / perSecond
  } finally {
    await db.close()
  }
}

/** Inserts a tree as the server would have made it, for entries that do not exist -> the ids of some of them. */
async function plantTree(db: Database, orgId: string, count: number): Promise<string[]> {
  const createdAt = new Date().toISOString()
  const nodes = collectNodes()
  const hashes = new Map<string, Buffer>()
  const chosen: string[] = []
  for (let from = 0; from < count; from += batch) {
    const leaves = Array.from({ length: Math.min(batch, count - from) }, (_, n) => {
      const entryId = newId('audit')
      const hash = leafHash({ id: entryId, action: 'secret.written', createdAt } as Entry)
      nodes.add(hash)
      hashes.set(`0 ${from + n}`, hash)
      if ((from + n) % Math.ceil(count / asked) === 0) chosen.push(entryId)
      return { entryId, createdAt, hash }
    })
    const complete = nodes.take()
    for (const { level, position, hash } of complete) hashes.set(`${level} ${position}`, hash)
    await db.transaction(async (tx) => {
      await insertLeaves(tx, [{ orgId, start: from, leaves }])
      await insertNodes(
        tx,
        complete.map((node) => ({ orgId, ...node, hash: node.hash.toString('base64') })),
      )
    })
  }
  const root = rangeHash((level, position) => hashes.get(`${level} ${position}`) as Buffer, 0, count)
  const tree = { orgId, size: count, root: root.toString('base64'), checkpoint: null }
  await db.transaction((tx) => saveTrees(tx, [tree], createdAt))
  await db.script('analyze')
  return chosen
}
