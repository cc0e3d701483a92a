import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createConnection } from 'mysql2/promise'
import { freePort } from '../../../server/test/services/free-port.ts'
import { findBinary, folderFor, missing, runAs, startDaemon } from '../services/process.ts'
import { rotationConformance } from './conformance.ts'

rotationConformance('mysql', missing(['mariadbd', 'mariadb-install-db'], 'mariadb-server'), async () => {
  const user = runAs('mysql', 'nobody')
  const folder = folderFor(user, 'mariadb')
  const port = await freePort()
  const common = ['--no-defaults', `--datadir=${folder.path}/data`]
  const install = ['--auth-root-authentication-method=normal', '--skip-test-db', '--skip-name-resolve']
  const own = { ...user, cwd: folder.path }
  await promisify(execFile)(findBinary('mariadb-install-db')!, [...common, ...install], own)
  const log = `${folder.path}/general.log`
  const settings = [`--port=${port}`, '--bind-address=127.0.0.1', `--socket=${folder.path}/s`, '--skip-name-resolve']
  const more = [
    `--pid-file=${folder.path}/pid`,
    '--innodb-buffer-pool-size=8M',
    '--general-log',
    `--general-log-file=${log}`,
  ]
  const daemon = await startDaemon(findBinary('mariadbd')!, [...common, ...settings, ...more], {
    ready: /ready for connections/,
    ...own,
    user,
  })
  const root = await createConnection({ socketPath: `${folder.path}/s`, user: 'root' })
  for (const statement of [
    'CREATE DATABASE my_shop',
    `CREATE USER skerry_admin@'%' IDENTIFIED BY 'adminpassword'`,
    `GRANT CREATE USER, PROCESS ON *.* TO skerry_admin@'%'`,
    `GRANT SELECT ON mysql.* TO skerry_admin@'%'`,
    `GRANT SELECT ON my_shop.* TO skerry_admin@'%'`,
    `CREATE USER app@'%' IDENTIFIED BY 'first-password'`,
    `GRANT SELECT ON my_shop.* TO app@'%'`,
  ])
    await root.query(statement)
  const connection = { host: '127.0.0.1', port, database: 'my_shop' }
  return {
    target: {
      config: { provider: 'mysql', executor: 'in_broker', connection, accessLevel: 'readonly', userHost: '%' },
      credential: `mysql://skerry_admin:adminpassword@127.0.0.1:${port}/my_shop`,
    },
    config: { kind: 'mysql', username: 'app', userHost: '%' },
    seen: async () => {
      const { readFileSync } = await import('node:fs')
      return readFileSync(log, 'utf8')
    },
    async stop() {
      await root.end()
      await daemon.stop()
      folder.remove()
    },
  }
})
