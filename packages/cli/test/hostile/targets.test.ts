import { generateKeyPair } from '@skerry/crypto/keys'
import { newId } from '@skerry/crypto/random'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type PostgresScene, postgresScene } from '../../../providers/test/leases/postgres-scene.ts'
import { newSshKey } from '../../../server/test/lease-steps.ts'
import { missingPostgres } from '../../../server/test/services/postgres.ts'
import { type Machine, signedUp } from '../machine.ts'
import { ok as okOn } from '../people.ts'
import { openServer, type Server } from '../server.ts'
import { type Json, type Liar, openLiar } from './liar.ts'

// A malicious server shows another address for a lease target, to get the password. Each test checks what a person
// sees.

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

describe.skipIf(missingPostgres())('a lease target with changed settings', () => {
  let server: Server
  let liar: Liar
  let scene: PostgresScene
  let admin: Machine
  const ok = (command: string) => okOn(admin, command)

  beforeAll(async () => {
    ;[server, scene] = await Promise.all([openServer({ SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' }), postgresScene()])
    liar = await openLiar(server.url)
    admin = await signedUp(liar.url, 'Targets')
    const { config, credential } = scene.target('readonly')
    const authority = newSshKey()
    await admin.write('ca.pem', config.connection.caCertificate!)
    await admin.write('admin-url', `${credential}\n`)
    await admin.write('ssh-ca', authority.privateKey)
    await admin.write('ssh-ca.pub', `${authority.publicKey} the authority\n`)
    await ok('skerry lease target create db --file admin-url --schema app --ca-file ca.pem --yes')
    await ok('skerry lease target create hosts --file ssh-ca --yes')
  })
  afterEach(() => liar.repent())
  afterAll(async () => {
    await admin?.remove()
    await liar?.close()
    await Promise.all([server?.close(), scene?.stop()])
  })

  const change = (name: string, to: (config: Json) => Json) =>
    liar.lie(/\/leases\/targets/, (body) => ({
      ...body,
      targets: body.targets?.map((one: Json) => (one.name === name ? { ...one, config: to(one.config) } : one)),
    }))
  const connection = (more: object) => (config: Json) => ({ ...config, connection: { ...config.connection, ...more } })
  const refused = async (command: string, env: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await admin.shell(command, { env })
    expect([code, stdout], stderr).toEqual([3, ''])
    expect(liar.sent()).toEqual([])
    return stderr
  }

  it.each([
    ['address', { host: 'evil.example.com' }, 'connection.host is evil.example.com (was ', '0'],
    ['address, in strict mode', { host: 'evil.example.com' }, 'connection.host is evil.example.com (was ', '1'],
    ['port', { port: 1 }, 'connection.port is 1 (was ', '0'],
    ['TLS mode', { tls: 'disable' }, 'connection.tls is disable (was ', '0'],
  ])('gets no password after a change of its %s', async (_, more, told, strict) => {
    change('db', connection(more))
    const command = 'skerry lease create db -- true'
    const stderr = await refused(command, { SKERRY_STRICT: strict })
    expect(stderr).toContain(`lease target db has different settings than before: ${told}`)
    expect(stderr).toContain('accept it with `skerry lease target trust db`')
  })

  it('does not replace the known target by having the known name as its id', async () => {
    const elsewhere = (one: Json) => ({
      ...{ ...one, id: 'db', name: 'other' },
      config: connection({ host: 'evil.example.com', tls: 'disable' })(one.config),
    })
    const add = (isKnownLeftOut: boolean) =>
      liar.lie(/\/leases\/targets/, (body) => {
        const db = body.targets.find((one: Json) => one.name === 'db')
        return { ...body, targets: [elsewhere(db), ...(isKnownLeftOut ? [] : body.targets)] }
      })
    add(false)
    expect(await ok('skerry lease create db -- env')).not.toContain('evil.example.com')
    liar.repent()
    add(true)
    const { code, stderr } = await admin.shell('skerry lease create db -- true')
    expect([code, liar.sent()], stderr).toEqual([4, []])
    expect(stderr).toContain("there is no lease target 'db'")
  })

  it('must be accepted on a terminal, and is refused there in strict mode', async () => {
    change('db', connection({ host: 'evil.example.com' }))
    const asked = await admin.terminal('skerry lease create db -- true', [
      ['Use lease target db with these new settings', 'n'],
    ])
    expect([asked.code, liar.sent()]).toEqual([1, []])
    const strict = await admin.terminal('env SKERRY_STRICT=1 skerry lease create db -- true')
    expect([strict.code, liar.sent()]).toEqual([3, []])
  })

  it('gets no admin credential', async () => {
    const tokenId = newId('serviceToken')
    change('db', (config) => ({ ...config, executor: 'provisioner', provisionerTokenId: tokenId }))
    const told = await refused('skerry lease target replace db --file admin-url --yes')
    expect(told).toContain(`executor is provisioner (was in_broker), provisionerTokenId is ${tokenId} (was not set)`)
  })

  /** Makes the server list a token with a key of its own, and returns the id of the token. */
  async function listToken(): Promise<string> {
    const { publicKeyJwk } = await generateKeyPair()
    const id = newId('serviceToken')
    const token = { id, name: 'inner', role: 'member', publicKeyJwk, createdAt: '2026-01-01T00:00:00.000Z' }
    const none = { environmentId: null, expiresAt: null, lastUsedAt: null, revokedAt: null }
    liar.lie(/\/tokens/, (body) => ({ ...body, tokens: [...body.tokens, { ...token, ...none }] }))
    return id
  }

  it('is not added with a provisioner whose key this machine has not seen', async () => {
    const tokenId = await listToken()
    const told = await refused(
      `skerry lease target create other --file admin-url --schema app --provisioner ${tokenId} --yes`,
    )
    expect(told).toContain(`inner would get the admin credential of other, and this machine`)
    expect(told).toContain('run again with --reader inner')
  })

  it('gets no admin credential on a machine that sees it first, if nobody named its provisioner', async () => {
    await ok('mv ~/.local/state/skerry/seen ~/aside')
    const tokenId = await listToken()
    change('db', (config) => ({ ...config, executor: 'provisioner', provisionerTokenId: tokenId }))
    const told = await refused('skerry lease target replace db --file admin-url --yes')
    expect(told).toContain(
      `inner would get the admin credential of db, and this machine has not given them a key before`,
    )
    await ok('rm -r ~/.local/state/skerry/seen && mv ~/aside ~/.local/state/skerry/seen')
  })

  it('gets no certificate for another login name', async () => {
    change('hosts', (config) => ({ ...config, connection: { host: 'h', user: 'root' } }))
    expect(await refused('skerry ssh hosts 127.0.0.1')).toContain('connection.user is root (was not set)')
  })

  it('is not used to rotate a password', async () => {
    await ok('skerry init --yes --env development')
    change('db', connection({ host: 'evil.example.com' }))
    const rotate = 'skerry rotation create PASSWORD --kind postgres --every 30d --target db --username app --yes'
    expect(await refused(rotate)).toContain('connection.host is evil.example.com')
  })

  it('is used after a person accepted it, and then the former settings must be accepted again', async () => {
    expect(await ok('skerry lease target trust db --yes')).toBe('')
    change('db', connection({ host: 'evil.example.com' }))
    const { stderr } = await admin.shell('skerry lease target trust db --yes')
    expect(stderr).toContain('accepted: lease target db has different settings than before')
    liar.repent()
    change('none', (config) => config)
    await refused('skerry lease create db -- true')
    await ok('skerry lease target trust db --yes && skerry lease create db -- true')
  })
})
