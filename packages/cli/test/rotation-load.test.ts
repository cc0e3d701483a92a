import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { driverUrls } from '../../providers/test/leases/drivers.ts'
import { mariadbScene, missingMariadb } from '../../providers/test/leases/mysql-scene.ts'
import { postgresScene } from '../../providers/test/leases/postgres-scene.ts'
import { isQuick } from '../../server/test/extent.ts'
import { missingPostgres } from '../../server/test/services/postgres.ts'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

// An application runs as in production: under `skerry run`, it signs in all the time while its password is rotated.

const rotations = 4

/** The page's command that stores the name of the first account. A line break in the name would be another account. */
const [storeUser] = readFileSync(new URL('../../../docs/rotation.md', import.meta.url), 'utf8').match(
  /(?<=^ {4}).*skerry secrets set DB_USER.*$/m,
)!

interface Database {
  config: object
  credential: string
  stop: () => Promise<void>
}

/** Two accounts of an application with the same password, which take turns after the first rotation. */
async function openPostgres(): Promise<Database> {
  const scene = await postgresScene()
  for (const account of ['app_a', 'app_b'])
    await scene.root.query(`CREATE ROLE ${account} LOGIN PASSWORD 'first-password';
      GRANT CONNECT ON DATABASE shop TO ${account}; GRANT ${account} TO skerry_admin WITH ADMIN OPTION`)
  return { ...scene.target('readonly'), stop: scene.stop }
}

async function openMariadb(): Promise<Database> {
  const scene = await mariadbScene()
  for (const account of ['app_a', 'app_b']) {
    await scene.root.query(`CREATE USER ${account}@'%' IDENTIFIED BY 'first-password'`)
    await scene.root.query(`GRANT SELECT ON my_shop.* TO ${account}@'%'`)
  }
  return { ...scene.target('readonly'), stop: scene.stop }
}

const drivers = {
  postgres: `import pg from '${driverUrls.postgres}'
    const open = async (options) => {
      const client = new pg.Client(options)
      client.on('error', () => {})
      await client.connect()
      return client
    }`,
  mysql: `import { createConnection } from '${driverUrls.mysql}'
    const open = createConnection`,
}

/** Four clients, each of which signs in again for every query, and once more if that fails. */
const programOf = (kind: keyof typeof drivers, { port, database }: { port: number; database: string }) => `
  ${drivers[kind]}
  const { DB_USER: user, DB_PASSWORD: password } = process.env
  async function use() {
    const client = await open({ host: '127.0.0.1', port: ${port}, database: '${database}', user, password, connectTimeout: 300_000 })
    await client.query('SELECT 1')
    await client.end()
  }
  let count = 0
  async function work() {
    for (;;) {
      try {
        await use()
      } catch {
        console.log('refused once')
        await use().catch(() => console.log('refused twice'))
      }
      if (++count === 20) console.log('busy as ' + user)
    }
  }
  for (let client = 0; client < 4; client++) void work()`

const engines = [
  { kind: 'postgres', skip: missingPostgres(), open: openPostgres, more: [] },
  { kind: 'mysql', skip: missingMariadb(), open: openMariadb, more: ['--user-host', '%'] },
] as const

describe.skipIf(isQuick)('an application under load, whose two accounts take turns', () => {
  let server: Server
  let machine: Machine
  beforeAll(async () => {
    server = await openServer({ SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' })
    machine = await signedUp(server.url, 'Busy Org')
  })
  afterAll(async () => {
    await machine.remove()
    await server.close()
  })

  const ok = async (args: string[], input?: string) => {
    const ended = await machine.skerry(args, input === undefined ? {} : { input })
    expect([ended.code, ended.stderr]).toEqual([0, expect.any(String)])
  }

  for (const { kind, skip, open, more } of engines)
    describe.skipIf(skip !== undefined)(kind, () => {
      let database: Database
      beforeAll(async () => {
        database = await open()
        await machine.write(`${kind}.json`, JSON.stringify(database.config))
        const { connection } = database.config as { connection: { port: number; database: string } }
        await machine.write(`${kind}.mjs`, programOf(kind, connection))
        expect(await machine.shell(storeUser!)).toMatchObject({ code: 0 })
        await ok(['secrets', 'set', 'DB_PASSWORD'], 'first-password')
        await ok(['lease', 'target', 'add', kind, '--config', `${kind}.json`, '--yes'], `${database.credential}\n`)
        const turns = ['--username', 'app_a', '--alternate-username', 'app_b', '--username-secret', 'DB_USER']
        await ok([
          ...['rotation', 'create', 'DB_PASSWORD', '--kind', kind, '--every', '1h', '--target', kind],
          ...[...turns, ...more, '--yes'],
        ])
      })
      afterAll(async () => {
        await ok(['rotation', 'rm', 'DB_PASSWORD', '--yes'])
        await database.stop()
      })

      it(`signs in all the time under skerry run, while the accounts are rotated ${rotations} times`, async () => {
        const run = machine.start(['run', '--watch', '--interval', '1s', '--', 'node', `${kind}.mjs`])
        let printed = ''
        run.child.stdout!.on('data', (chunk: Buffer) => {
          printed += chunk
        })
        const starts = () => printed.split('\n').filter((line) => line.startsWith('busy as '))
        for (let count = 0; count < rotations; count++) {
          // Replaces the wait of a real interval: the program must have read the new password before the next rotation.
          await expect.poll(() => starts().length).toBe(count + 1)
          await ok(['rotation', 'run', 'DB_PASSWORD', '--yes'])
        }
        await expect.poll(() => starts().length).toBe(rotations + 1)
        run.child.kill('SIGTERM')
        const { stdout } = await run.ended
        const names = ['app_a', 'app_b', 'app_a', 'app_b', 'app_a']
        expect(stdout).toBe(names.map((name) => `busy as ${name}\n`).join(''))
      })
    })
})
