import { fileURLToPath } from 'node:url'
import type { Child } from '../../src/children/child.ts'
import { withLeaseSession } from '../../src/children/remote.ts'

export const childFile = fileURLToPath(new URL('./child.ts', import.meta.url))

/** Signs in to a PostgreSQL target at this port of loopback. No real server listens there. */
export const nothingThere = (child: Child, port: number, answerMs = 60_000): Promise<unknown> =>
  withLeaseSession(
    child,
    {
      config: {
        provider: 'postgres',
        executor: 'in_broker',
        connection: { host: '127.0.0.1', port, database: 'shop' },
        accessLevel: 'readonly',
        schema: 'app',
      },
      credential: `postgres://skerry:secret@127.0.0.1:${port}/shop`,
    },
    { now: () => new Date(), answerMs },
    (session) => session.verify(),
  )
