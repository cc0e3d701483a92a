import { existsSync } from 'node:fs'
import { stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mariadbScene, missingMariadb } from '../../providers/test/leases/mysql-scene.ts'
import { postgresScene } from '../../providers/test/leases/postgres-scene.ts'
import { missingPostgres } from '../../server/test/services/postgres.ts'
import { type Machine, signedUp } from './machine.ts'
import { openServer, type Server } from './server.ts'

const main = fileURLToPath(new URL('../src/main.js', import.meta.url))
const planted = 'planted-7Jq2vX9wLm4'

let server: Server
let machine: Machine
let plain: Client
let revealing: Client
const seen: string[] = []
const called = new Set<string>()

beforeAll(async () => {
  server = await openServer({ SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' })
  machine = await signedUp(server.url, 'Mcp Org')
  ;[plain, revealing] = await Promise.all([connect(), connect('--allow-reveal')])
})
afterAll(async () => {
  await Promise.all([plain.close(), revealing.close()])
  await machine.remove()
  await server.close()
})

async function connect(...more: string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const { env, project: cwd } = machine
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [main, 'mcp', ...more], env, cwd }))
  return client
}

interface Answer {
  text: string
  isError: boolean
}

async function ask(client: Client, name: string, given: Record<string, unknown>): Promise<Answer> {
  called.add(name)
  const { content, isError = false } = await client.callTool({ name, arguments: given })
  return { text: (content as { text: string }[]).map(({ text }) => text).join('\n'), isError: isError === true }
}

/** Calls a tool without reveal. The last tests search all answers for secrets. */
async function call(name: string, given: Record<string, unknown> = {}) {
  const { text, isError } = await ask(plain, name, given)
  seen.push(text)
  expect([name, isError, text]).toEqual([name, false, expect.any(String)])
  return JSON.parse(text)
}

async function refused(name: string, given: Record<string, unknown>): Promise<string> {
  const { text, isError } = await ask(plain, name, given)
  seen.push(text)
  expect([name, isError, text]).toEqual([name, true, expect.any(String)])
  return text
}

const inProject = (file: string) => join(machine.project, file)

describe('tools', () => {
  it('have the names that assistants know, and declare whether they change or delete something', async () => {
    const { tools } = await plain.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      ...['set_secret', 'get_secret', 'list_secrets', 'list_secret_versions', 'run_command', 'export_env'],
      ...['create_app', 'create_env', 'create_group', 'create_group_env', 'compose_group', 'uncompose_group'],
      ...['list_env_groups', 'list_group_envs', 'create_branch', 'delete_branch', 'list_branches'],
      ...['create_token', 'grant_env', 'revoke_token', 'list_tokens'],
      ...['create_pg_lease', 'revoke_pg_lease', 'list_pg_targets'],
      ...['create_mysql_lease', 'revoke_mysql_lease', 'list_mysql_targets'],
      ...['create_kms_key', 'list_kms_keys', 'kms_encrypt', 'kms_decrypt', 'kms_data_key', 'kms_sign', 'kms_verify'],
    ])
    const hints = new Map(tools.map(({ name, annotations }) => [name, annotations]))
    expect(hints.get('list_secrets')).toMatchObject({ readOnlyHint: true, destructiveHint: false })
    expect(hints.get('revoke_token')).toMatchObject({ readOnlyHint: false, destructiveHint: true })
  })

  it('write and read secrets', async () => {
    expect(await call('set_secret', { name: 'API_KEY', value: planted })).toMatchObject({ name: 'API_KEY', version: 1 })
    expect(await call('set_secret', { name: 'RANDOM', random: 24 })).toMatchObject({ version: 1 })
    expect(await call('set_secret', { name: 'EMPTY', value: '' })).toMatchObject({ version: 1 })
    expect(await call('get_secret', { name: 'API_KEY' })).toMatchObject({ name: 'API_KEY', version: 1, masked: true })
    const { secrets } = await call('list_secrets')
    expect(secrets.map(({ name }: { name: string }) => name)).toEqual(['API_KEY', 'EMPTY', 'RANDOM'])
    expect(await call('list_secret_versions', { name: 'API_KEY' })).toMatchObject({ currentVersion: 1 })
    expect(await call('export_env')).toEqual({ names: ['API_KEY', 'EMPTY', 'RANDOM'] })
  })

  it('export values only into a file of the project, and only if the person has allowed it', async () => {
    expect(await refused('export_env', { file: 'values.env' })).toContain('this server shows no secrets')
    expect(existsSync(inProject('values.env'))).toBe(false)
    const { text } = await ask(revealing, 'export_env', { file: 'values.env' })
    expect(JSON.parse(text)).toEqual({ format: 'dotenv', file: 'values.env' })
    expect(await machine.read('values.env')).toContain(`API_KEY=${planted}`)
    expect((await stat(inProject('values.env'))).mode & 0o777).toBe(0o600)
    const again = await ask(revealing, 'export_env', { file: 'values.env' })
    expect([again.isError, again.text]).toEqual([true, expect.stringContaining('values.env already exists')])
    await symlink(tmpdir(), inProject('elsewhere'))
    const outside = ['../out.env', join(tmpdir(), 'out.env'), 'elsewhere/out.env', '.']
    for (const file of outside)
      expect((await ask(revealing, 'export_env', { file })).text).toContain('name a file in the project')
    expect(await refused('create_token', { name: 'x', file: '../token' })).toContain('name a file in the project')
  })

  it('give a program the secrets, and mask them in its output', async () => {
    const answer = await call('run_command', {
      command: 'sh',
      args: ['-c', 'echo "it is $API_KEY"; echo $# >&2; exit 3'],
    })
    expect(answer).toEqual({ exitCode: 3, stdout: 'it is ********\n', stderr: '0\n' })
    const long = await call('run_command', { command: 'sh', args: ['-c', 'yes | head -c 100000'] })
    expect(long.stdout).toContain('(34464 more bytes were left out)')
    expect(await call('run_command', { command: 'no-such-program' })).toMatchObject({ exitCode: 127 })
  })

  it('show a value only if the caller asks for it and the person has allowed it', async () => {
    for (const name of ['get_secret', 'export_env'])
      expect(await refused(name, { ...(name === 'get_secret' ? { name: 'API_KEY' } : {}), reveal: true })).toContain(
        'this server shows no secrets',
      )
    const { text } = await ask(revealing, 'get_secret', { name: 'API_KEY', reveal: true })
    expect(JSON.parse(text)).toMatchObject({ name: 'API_KEY', value: planted, version: 1 })
    expect((await ask(revealing, 'get_secret', { name: 'API_KEY' })).text).not.toContain(planted)
    expect((await ask(revealing, 'export_env', { reveal: true })).text).toContain(`API_KEY=${planted}`)
  })

  it.each([
    ['set_secret', { name: 'A' }, 'give either value or random, not both'],
    ['set_secret', { name: '--reveal', value: 'x' }, 'name'],
    ['get_secret', { name: 'MISSING' }, 'there is no secret MISSING in shop/development'],
    ['list_secrets', { env: 'missing' }, 'there is no environment shop/missing'],
    ['list_secrets', { evn: 'development' }, 'evn'],
    ['create_token', { name: 'x' }, 'the destination of the secret is missing'],
    ['create_token', { name: 'x', file: 'a', reveal: true }, 'this server shows no secrets'],
    ['create_token', { name: 'x', file: 'no/such/folder' }, 'there is no such file or folder'],
    ['create_pg_lease', { target: 'missing', file: 'a' }, 'there is no target missing of PostgreSQL'],
    ['nothing', {}, 'nothing'],
  ])('refuse and say why: %s %o', async (name, given, why) => {
    expect(await refused(name, given)).toContain(why)
  })
})

describe('tools of an administrator', () => {
  it('create applications, environments, groups and branches, and delete branches', async () => {
    expect(await call('create_app', { slug: 'web', name: 'Web' })).toMatchObject({ app: { slug: 'web', name: 'Web' } })
    await call('create_env', { app: 'web', slug: 'staging' })
    await call('create_group', { slug: 'shared' })
    await call('create_group_env', { group: 'shared', slug: 'staging' })
    await call('compose_group', { group: 'shared', app: 'web', env: 'staging', grant: true })
    expect(await call('list_env_groups', { app: 'web', env: 'staging' })).toMatchObject({
      groups: [{ slug: 'shared' }],
    })
    expect(await call('list_group_envs', { group: 'shared' })).toMatchObject({ environments: [{ slug: 'staging' }] })
    await call('create_branch', { app: 'web', from: 'staging', slug: 'pr-7', ttl: '1h' })
    expect(await call('list_branches', { app: 'web' })).toMatchObject({ branches: [{ slug: 'pr-7' }] })
    await call('set_secret', { name: 'ONLY_HERE', value: planted, app: 'web', env: 'staging', branch: 'pr-7' })
    await call('delete_branch', { app: 'web', from: 'staging', slug: 'pr-7' })
    await call('uncompose_group', { group: 'shared', app: 'web', env: 'staging' })
    expect(await call('list_env_groups', { app: 'web', env: 'staging' })).toEqual({ groups: [] })
  })

  it('create a token and write it into a file', async () => {
    const { serviceToken, file } = await call('create_token', { name: 'ci', file: 'token' })
    expect(file).toBe('token')
    const token = await machine.read('token')
    expect(token).toMatch(/^skt_/)
    expect(seen.join()).not.toContain(token)
    const unbound = await machine.skerry(['token', 'create', '--name', 'other', '--unbound', '--json'])
    const { id } = JSON.parse(unbound.stdout).serviceToken
    expect(await call('grant_env', { token: id, app: 'web', env: 'staging' })).toMatchObject({
      granted: ['web/staging'],
    })
    expect(await call('list_tokens')).toMatchObject({
      tokens: expect.arrayContaining([expect.objectContaining({ name: 'ci' })]),
    })
    expect(await call('revoke_token', { token: serviceToken.id })).toMatchObject({ revoked: serviceToken.id })
  })

  it('use managed keys', async () => {
    await call('create_kms_key', { name: 'billing' })
    await call('create_kms_key', { name: 'releases', spec: 'ed25519' })
    expect((await call('list_kms_keys')).keys).toHaveLength(2)
    const { ciphertext } = await call('kms_encrypt', { key: 'billing', plaintext: planted, context: 'a' })
    await call('kms_decrypt', { key: 'billing', ciphertext, context: 'a', file: 'opened' })
    expect(await machine.read('opened')).toBe(planted)
    expect(await call('kms_data_key', { key: 'billing', file: 'data-key' })).toMatchObject({
      wrapped: expect.stringMatching(/^dk1\./),
    })
    expect(Buffer.from(await machine.read('data-key'), 'base64')).toHaveLength(32)
    const { signature } = await call('kms_sign', { key: 'releases', message: 'v1' })
    expect(await call('kms_verify', { message: 'v1', signature })).toMatchObject({ valid: true })
    expect(await refused('kms_verify', { message: 'v2', signature })).toContain('not valid for this message')
  })
})

describe('leases', () => {
  it.each([
    ['pg', missingPostgres(), postgresScene],
    ['mysql', missingMariadb(), mariadbScene],
  ])('of %s write the sign-in data into a file, and can be revoked', async (word, missing, openScene) => {
    if (missing) return expect(await call(`list_${word}_targets`)).toEqual({ targets: [] })
    const scene = await openScene()
    try {
      const { credential, config } = scene.target('readonly')
      await machine.write('ca.pem', config.connection.caCertificate!)
      await add(`${word}-db`, word, credential)
      expect(await call(`list_${word}_targets`)).toMatchObject({ targets: [{ name: `${word}-db` }] })
      const { lease, variables } = await call(`create_${word}_lease`, {
        target: `${word}-db`,
        ttl: '5m',
        file: `${word}.env`,
      })
      const written = await machine.read(`${word}.env`)
      for (const name of variables) expect(written).toContain(`${name}=`)
      const [, password = ''] = /^(?:PGPASSWORD|MYSQL_PWD)=(.+)$/m.exec(written) ?? []
      expect(password.length).toBeGreaterThan(8)
      expect(seen.join()).not.toContain(password)
      expect(await call(`revoke_${word}_lease`, { lease: lease.id })).toMatchObject({ lease: { status: 'revoked' } })
    } finally {
      await scene.stop()
    }
  })
})

async function add(name: string, word: string, credential: string): Promise<void> {
  const schema = word === 'pg' ? ['--schema', 'app'] : []
  const words = ['lease', 'target', 'add', name, ...schema, '--tls', 'verify-full', '--ca-file', 'ca.pem', '--yes']
  const { code, stderr } = await machine.skerry(words, { input: credential })
  expect([code, stderr]).toEqual([0, expect.any(String)])
}

describe('a planted value', () => {
  it('is in no result', async () => {
    expect(seen.length).toBeGreaterThan(10)
    expect(seen.filter((text) => text.includes(planted) || text.includes(btoa(planted)))).toEqual([])
  })

  it('was searched for in the results of every tool', async () => {
    const { tools } = await plain.listTools()
    called.delete('nothing')
    expect([...called].sort()).toEqual(tools.map(({ name }) => name).sort())
  })
})
