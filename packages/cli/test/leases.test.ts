import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mariadbScene, missingMariadb } from '../../providers/test/leases/mysql-scene.ts'
import { type PostgresScene, postgresScene } from '../../providers/test/leases/postgres-scene.ts'
import { missingRedis, redisScene } from '../../providers/test/leases/redis-scene.ts'
import { type Folder, folderFor } from '../../providers/test/services/process.ts'
import { missingSshd, type Sshd, startSshd } from '../../providers/test/services/sshd.ts'
import { newSshKey } from '../../server/test/lease-steps.ts'
import { missingPostgres } from '../../server/test/services/postgres.ts'
import { openWorld, type World } from '../../server/test/world.ts'
import { quickTimers } from './clock.ts'
import { childrenOf, type Machine, signedUp } from './machine.ts'

let server: World
let machine: Machine
beforeAll(async () => {
  server = await openWorld({ SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' })
  machine = await signedUp(server.url, 'Lease Org')
  // A command that leaves a private folder behind leaves it here.
  await machine.shell('mkdir -m 700 ~/runtime')
  machine.env.XDG_RUNTIME_DIR = join(machine.home, 'runtime')
})
afterAll(async () => {
  expect(readdirSync(join(machine.home, 'runtime'))).toEqual([])
  await machine.remove()
  await server.close()
})

const ok = async (args: string[], input?: string) => {
  const ended = await machine.skerry(args, input === undefined ? {} : { input })
  expect([ended.code, ended.stderr]).toEqual([0, expect.any(String)])
  return ended
}
const ledger = async () => JSON.parse((await ok(['lease', 'list', '--json'])).stdout).leases
const newest = async () => (await ledger())[0]

describe.skipIf(missingPostgres())('leases of PostgreSQL', () => {
  let scene: PostgresScene
  let credential: string
  beforeAll(async () => {
    scene = await postgresScene()
    const target = scene.target('readonly')
    credential = target.credential
    await machine.write('ca.pem', target.config.connection.caCertificate!)
    const added = await ok(
      ['lease', 'target', 'add', 'db', '--schema', 'app', '--tls', 'verify-full', '--ca-file', 'ca.pem', '--yes'],
      `${credential}\n`,
    )
    expect(added.stderr).toContain('warning: the server signs in to the target, so it can read this admin credential')
    expect(added.stderr).toMatch(/added target db: PostgreSQL \d/)
  })
  afterAll(() => scene.stop())

  it('a program signs in to the account over verified TLS, and the account is removed when the program ends', async () => {
    const sql =
      'select current_user || case when ssl then $$ over TLS$$ else $$$$ end from pg_stat_ssl where pid = pg_backend_pid()'
    const { stdout } = await ok(['lease', 'create', 'db', '--', 'psql', '-Atc', sql])
    const [, name = ''] = /^(lease_[a-z0-9]{16}) over TLS\n$/.exec(stdout) ?? []
    expect(await newest()).toMatchObject({ resourceRef: name, status: 'revoked' })
    expect(await scene.exists(name)).toBe(false)
  })

  describe('skerry run --lease', () => {
    beforeAll(async () => {
      await ok(['secrets', 'set', 'GREETING'], 'hello')
      await ok(['secrets', 'set', 'PGUSER'], 'somebody')
    })

    it('gives a program its secrets and a lease, whose variables win with a warning, and revokes the lease', async () => {
      const program = ['sh', '-c', 'echo "$GREETING"; psql -Atc "select current_user"']
      const { stdout, stderr } = await ok(['run', '--lease', 'db', '--ttl', '10m', '--', ...program])
      const [, name = ''] = /^hello\n(lease_[a-z0-9]{16})\n$/.exec(stdout) ?? []
      expect(stderr).toContain('warning: PGUSER of the lease is used, and not the secret: leave it out with --except')
      expect(await newest()).toMatchObject({ resourceRef: name, status: 'revoked', ttlSeconds: 600 })
    })

    it('masks the password of the lease, and not its host', async () => {
      const program = ['sh', '-c', 'echo "$PGPASSWORD $PGHOST"']
      expect((await ok(['run', '--mask', '--lease', 'db', '--', ...program])).stdout).toMatch(/^\*+ localhost\n$/)
    })

    it.each([
      [['--lease', 'db', '--lease', 'db'], 'db and db are both PostgreSQL, and set the same variables'],
      [['--lease', 'db', '--watch'], '--watch and --lease cannot be used together'],
      [['--lease', 'db', '--offline'], '--lease needs the server that --offline does not ask'],
      [['--lease', 'db', '--mount', 'a.env'], 'a mount and --lease cannot be used together'],
      [['--ttl', '1h'], '--ttl is for --lease'],
    ])('%s is refused, and makes no lease', async (options, text) => {
      const before = (await ledger()).length
      const { code, stderr } = await machine.skerry(['run', ...options, '--', 'true'])
      expect([code, stderr]).toEqual([2, expect.stringContaining(text)])
      expect(await ledger()).toHaveLength(before)
    })
  })

  it.each([[['lease', 'create', 'db']], [['run', '--lease', 'db']]])(
    '%s warns when the lease expires while the program runs',
    async (command) => {
      const env = { NODE_OPTIONS: quickTimers(600) }
      const program = ['sh', '-c', 'read -r end']
      const options = { env, input: null }
      const { child, ended, tells } = machine.start([...command, '--ttl', '10m', '--', ...program], options)
      await tells('the lease on db has expired, and the program still runs: start it again for a new lease')
      child.stdin!.end('now\n')
      await ended
      expect(await newest()).toMatchObject({ status: 'revoked' })
    },
  )

  it('a program that fails gives the command its exit code, and its lease is revoked', async () => {
    const program = ['sh', '-c', 'psql -Atc "select 1" && exit 7']
    expect(await machine.skerry(['lease', 'create', 'db', '--', ...program])).toMatchObject({ code: 7, stdout: '1\n' })
    expect(await newest()).toMatchObject({ status: 'revoked' })
  })

  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)(
    '%s reaches the program, and the lease is revoked when the program ends',
    async (signal) => {
      const program = ['sh', '-c', 'echo "$PGUSER"; exec sleep 60']
      const { child, says, ended } = machine.start(['lease', 'create', 'db', '--', ...program])
      await says('lease_')
      child.kill(signal)
      expect(await ended).toMatchObject({ code: null, signal })
      expect(await newest()).toMatchObject({ status: 'revoked' })
    },
  )

  it('a signal while the lease is being made revokes the lease, and the program does not run', async () => {
    const { root } = scene
    await root.query('BEGIN; LOCK TABLE pg_authid IN SHARE MODE')
    const { child, ended, tells } = machine.start(['lease', 'create', 'db', '--', 'echo', 'ran'])
    await expect.poll(async () => (await newest()).status).toBe('creating')
    child.kill('SIGTERM')
    await tells('skerry waits until the lease exists, and then revokes it')
    await root.query('COMMIT')
    expect(await ended).toMatchObject({ code: null, signal: 'SIGTERM', stdout: '' })
    expect(await newest()).toMatchObject({ status: 'revoked' })
  })

  it.skipIf(missingRedis())('a signal while the first of two leases is being made makes no second lease', async () => {
    const cache = await redisScene()
    const { config, credential } = cache.target('readonly')
    await machine.write('cache.json', JSON.stringify(config))
    await ok(['lease', 'target', 'add', 'cache', '--config', 'cache.json', '--yes'], credential)
    const before = (await ledger()).length
    await scene.root.query('BEGIN; LOCK TABLE pg_authid IN SHARE MODE')
    const { child, ended, tells } = machine.start(['run', '--lease', 'db', '--lease', 'cache', '--', 'echo', 'ran'])
    await expect.poll(async () => (await newest()).status).toBe('creating')
    child.kill('SIGTERM')
    await tells('skerry waits until the lease exists, and then revokes it')
    await scene.root.query('COMMIT')
    expect(await ended).toMatchObject({ code: null, signal: 'SIGTERM', stdout: '' })
    expect(await newest()).toMatchObject({ provider: 'postgres', status: 'revoked' })
    expect(await ledger()).toHaveLength(before + 1)
    await ok(['lease', 'target', 'rm', 'cache', '--yes'])
    await cache.stop()
  })

  it('the program gets a working DATABASE_URL and no credential of Skerry', async () => {
    const token = JSON.parse((await ok(['token', 'create', '--admin', '--name', 'ci', '--json'])).stdout).token
    const env = { SKERRY_TOKEN: token, DATABASE_URL: 'postgres://other' }
    const program = ['sh', '-c', 'echo "[$SKERRY_TOKEN]"; psql "$DATABASE_URL" -Atc "select 1"']
    const ended = await machine.skerry(['lease', 'create', 'db', '--', ...program], { env })
    expect(ended).toMatchObject({ code: 0, stdout: '[]\n1\n' })
  })

  it('without a program the command prints the variables, and the lease can be revoked by its id', async () => {
    const { stdout } = await ok(['lease', 'create', 'db', '--json', '--ttl', '90s', '--name', 'mine'])
    const { lease, variables } = JSON.parse(stdout)
    expect(lease).toMatchObject({ resourceRef: 'mine', ttlSeconds: 90, status: 'active' })
    const client = await scene.signIn('mine', variables.PGPASSWORD)
    await client.read()
    await expect(client.write()).rejects.toThrow('permission denied')
    expect((await ok(['lease', 'list'])).stdout).toMatch(/^lse_\S+ +db +mine +active/m)
    await ok(['lease', 'revoke', lease.id, '--yes'])
    await client.ended
    expect((await ok(['lease', 'create', 'db', '--name', 'other', '--format', 'shell'])).stdout).toContain(
      "export PGUSER='other'",
    )
  })

  it.each([
    ['an unknown target', ['create', 'nothing'], 4, "there is no lease target 'nothing'"],
    ['an unknown program', ['create', 'db', '--', 'no-such-program'], 127, 'command not found'],
    ['a lifetime beyond a day', ['create', 'db', '--ttl', '2d'], 2, '--ttl'],
    ['a lifetime below a minute', ['create', 'db', '--ttl', '5s'], 2, '--ttl must be at least 1 minute'],
    ['a name that exists already', ['create', 'db', '--name', 'billing'], 5, 'exists'],
    ['an invalid name', ['create', 'db', '--name', 'Robert"; --'], 2, '--name is not a valid account name'],
    ['revoking without --yes', ['revoke', 'lse_0000000000000000000000'], 2, 'Run again with `--yes` to do it.'],
    ['forgetting an unknown lease', ['forget', 'lse_0000000000000000000000', '--yes'], 4, 'lease'],
  ])('%s is refused, and leaves no lease', async (_, args, code, message) => {
    await scene.root.query(`DO $$ BEGIN CREATE ROLE billing; EXCEPTION WHEN duplicate_object THEN NULL; END $$`)
    const before = (await ledger()).filter(({ status }: { status: string }) => status === 'active').length
    expect(await machine.skerry(['lease', ...args])).toMatchObject({ code, stderr: expect.stringContaining(message) })
    expect((await ledger()).filter(({ status }: { status: string }) => status === 'active')).toHaveLength(before)
  })

  it.each([
    ['without a confirmation', ['db2'], 'postgres://a:b@127.0.0.1:1/shop', 2, 'Run again with `--yes` to do it.'],
    ['whose credential does not show its kind', ['db2', '--yes'], 'password', 2, 'use --provider, or --config'],
    [
      'with an option for another provider',
      ['db2', '--yes', '--principal', 'root'],
      'postgres://a:b@h/d',
      2,
      '--principal has no effect',
    ],
    ['that cannot be reached', ['db2', '--yes'], 'postgres://a:topsecret@127.0.0.1:1/shop', 5, 'target: '],
    [
      'with an unknown level',
      ['db2', '--yes', '--level', 'root'],
      'postgres://a:topsecret@127.0.0.1:1/shop',
      1,
      'accessLevel',
    ],
    [
      'of a cloud without its settings',
      ['db2', '--yes', '--provider', 'aws'],
      '{}',
      2,
      'docs/leases/aws/ describes the file',
    ],
    ['of a cloud by its tag', ['db2', '--yes', '--provider', 'cloud-b'], '{}', 2, 'docs/leases/google-cloud/'],
    ['of a provider that is misspelled', ['db2', '--yes', '--provider', 'postgre'], '{}', 2, 'did you mean postgres?'],
    ['of no provider', ['db2', '--yes', '--provider', 'ftp'], '{}', 2, 'known: postgres, mysql, redis, ssh, aws'],
  ])('a target %s is refused, and not stored', async (_, args, input, code, message) => {
    const ended = await machine.skerry(['lease', 'target', 'add', ...args], { input })
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining(message) })
    expect(ended.stderr).not.toContain('topsecret')
    expect(JSON.parse((await ok(['lease', 'target', 'list', '--json'])).stdout).targets).toHaveLength(1)
  })

  it('a target reports its problem, gets another credential, and is deleted', async () => {
    expect((await ok(['lease', 'target', 'verify', 'db'])).stdout).toMatch(/^db is ready: PostgreSQL/)
    await scene.root.query(`ALTER ROLE skerry_admin PASSWORD 'another'`)
    const failing = await machine.skerry(['lease', 'target', 'verify', 'db'])
    expect(failing).toMatchObject({ code: 5, stderr: expect.stringContaining('target db: target: ') })
    await ok(['lease', 'target', 'replace', 'db', '--yes'], credential.replace('adminpassword', 'another'))
    expect((await ok(['lease', 'target', 'list'])).stdout).toMatch(/^ltg_\S+ +db +postgres +ready +PostgreSQL/m)
    const live = await machine.skerry(['lease', 'target', 'rm', 'db', '--yes'])
    expect(live).toMatchObject({ code: 5, stderr: expect.stringContaining('or remove the target with --force') })
    await ok(['lease', 'target', 'rm', 'db', '--force', '--yes'])
    expect((await ok(['lease', 'target', 'list', '--json'])).stdout).toContain('"targets": []')
  })
})

const tools = [
  {
    tag: 'mysql',
    skip: missingMariadb(),
    open: mariadbScene,
    // With the name of this machine, the client would use a socket.
    program:
      'mysql --protocol=tcp -u "$MYSQL_USER" --ssl-ca="$MYSQL_SSL_CA" --ssl-verify-server-cert -Ne "select user()"',
    said: /^lease_[a-z0-9]{16}@/,
  },
  {
    tag: 'redis',
    skip: missingRedis(),
    open: redisScene,
    program: 'redis-cli -u "$REDIS_URL" --cacert "$REDIS_CA_FILE" PING',
    said: /^PONG$/m,
  },
] as const

for (const { tag, skip, open, program, said } of tools) {
  describe.skipIf(skip !== undefined)(`leases of ${tag}`, () => {
    it('let its own client sign in over verified TLS', async () => {
      const scene = await open()
      try {
        const { config, credential } = scene.target('readonly')
        await machine.write('target.json', JSON.stringify(config))
        await ok(['lease', 'target', 'add', tag, '--config', 'target.json', '--yes'], credential)
        const { stdout } = await ok(['lease', 'create', tag, '--', 'sh', '-c', program])
        expect(stdout).toMatch(said)
        expect(await newest()).toMatchObject({ provider: tag, status: 'revoked' })
      } finally {
        await scene.stop()
      }
    })
  })
}

describe.skipIf(missingSshd())('skerry ssh', () => {
  const user = userInfo().username
  let folder: Folder
  let sshd: Sshd
  beforeAll(async () => {
    folder = folderFor({}, 'cli-sshd')
    const ca = join(folder.path, 'ca')
    const { publicKey, privateKey } = newSshKey()
    writeFileSync(ca, privateKey)
    writeFileSync(`${ca}.pub`, `${publicKey} the authority\n`)
    sshd = await startSshd(folder, [publicKey])
    await ok(['lease', 'target', 'add', 'hosts', '--file', ca, '--principal', user, '--yes'])
  })
  afterAll(async () => {
    await sshd.stop()
    folder.remove()
  })

  const options = () => [
    ...['-F', 'none', '-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=no', '-o', 'KexAlgorithms=curve25519-sha256'],
    ...['-o', `UserKnownHostsFile=${folder.path}/known_hosts`, '-p', `${sshd.port}`],
  ]

  it('signs in with a certificate for one user, and leaves no key', async () => {
    const seen = 'echo "as $(id -un)"'
    const ended = await ok(['ssh', 'hosts', `${user}@127.0.0.1`, ...options(), seen])
    expect(ended.stdout).toBe(`as ${user}\n`)
    expect(readdirSync(join(machine.home, 'runtime'))).toEqual([])
    expect(await newest()).toMatchObject({ provider: 'ssh', status: 'revoked', ttlSeconds: 300 })
  })

  it('exits with the code of the command on the host', async () => {
    expect(await machine.skerry(['ssh', 'hosts', `${user}@127.0.0.1`, ...options(), 'exit 9'])).toMatchObject({
      code: 9,
    })
  })

  it('keeps its key in a private folder, which is deleted even if the command is killed', async () => {
    const args = ['ssh', 'hosts', `${user}@127.0.0.1`, ...options(), 'echo in; sleep 60']
    const { child, says, ended } = machine.start(args)
    await says('in')
    const [name = ''] = readdirSync(machine.env.XDG_RUNTIME_DIR!)
    const place = join(machine.env.XDG_RUNTIME_DIR!, name)
    expect([statSync(place).mode & 0o777, statSync(join(place, 'key')).mode & 0o777]).toEqual([0o700, 0o600])
    const ssh = childrenOf(child.pid!).find((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'ssh\n')
    child.kill('SIGKILL')
    await expect.poll(() => readdirSync(machine.env.XDG_RUNTIME_DIR!)).toEqual([])
    process.kill(ssh!)
    await ended
  })

  it.each([
    [
      'a user that the target does not allow',
      ['hosts', 'nobody@127.0.0.1'],
      1,
      'principals: the target does not allow',
    ],
    ['no user', ['hosts', '127.0.0.1'], 2, 'write user@host'],
    ['options before the host', ['hosts', '-p'], 2, ''],
  ])('%s is refused', async (_, args, code, message) => {
    expect(await machine.skerry(['ssh', ...args])).toMatchObject({ code, stderr: expect.stringContaining(message) })
  })

  it('is suggested when skerry lease create gets an SSH target', async () => {
    expect(await machine.skerry(['lease', 'create', 'hosts'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('skerry ssh hosts user@host'),
    })
  })
})
