import { missingPostgres } from '../../../server/test/services/postgres.ts'
import { adminPassword, openShop } from '../../../server/test/shop.ts'
import { rotationConformance } from './conformance.ts'

rotationConformance('postgres', missingPostgres(), async () => {
  const shop = await openShop(['app'])
  const { connection } = shop
  const { port, database } = connection
  return {
    target: {
      config: { provider: 'postgres', executor: 'in_broker', connection, accessLevel: 'readonly', schema: 'public' },
      credential: `postgres://skerry_admin:${adminPassword}@127.0.0.1:${port}/${database}`,
    },
    config: { kind: 'postgres', username: 'app' },
    seen: async () => JSON.stringify((await shop.root.query('SELECT * FROM pg_authid, pg_stat_activity')).rows),
    stop: shop.stop,
  }
})
