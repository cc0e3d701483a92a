import { generateKeyPairSync } from 'node:crypto'
import { newId } from '@skerry/crypto/random'
import { newToken, parseToken } from '@skerry/crypto/token'
import { wrapKey } from '@skerry/crypto/wrap'
import { describe, expect, test } from 'vitest'
import { signUserCertificate } from '../../providers/src/leases/ssh-certificate.ts'
import { readCaKey, readPublicKey } from '../../providers/src/leases/ssh-keys.ts'
import { startServer } from '../test/server.ts'
import { ids, now } from '../test/world.ts'
import { openAdminSecret } from './admin-secrets.ts'
import { createClient } from './client.ts'
import type { LeaseTarget } from './leases.ts'
import { createLease, createLeaseTarget, findLeaseTarget, listLeaseTargets } from './leases.ts'

const { orgId } = ids
const me = await newToken('skerry')
const broker = await newToken('skerry')
const expiresAt = new Date(Date.parse(now) + 600_000).toISOString()
const database = { host: 'db.example.com', port: 5432, database: 'shop' }

const ca = (() => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const key = readCaKey(privateKey.export({ type: 'pkcs8', format: 'pem' }) as string)
  return { key, publicKey: `ssh-ed25519 ${key.blob.toString('base64')}` }
})()

const configs = {
  postgres: {
    provider: 'postgres',
    executor: 'in_broker',
    connection: database,
    accessLevel: 'readonly',
    schema: 'app',
  },
  mysql: { provider: 'mysql', executor: 'in_broker', connection: database, accessLevel: 'readonly', userHost: '%' },
  redis: { provider: 'redis', executor: 'in_broker', connection: { host: 'r', port: 6379 }, accessLevel: 'readonly' },
  ssh: { provider: 'ssh', executor: 'in_broker', caPublicKey: `${ca.publicKey} of the hosts` },
  'cloud-a': {
    provider: 'cloud-a',
    executor: 'in_broker',
    region: 'eu-west-1',
    roleArn: 'arn:aws:iam::123456789012:role/r',
  },
  'cloud-b': { provider: 'cloud-b', executor: 'in_broker', serviceAccount: 'a@p.iam.gserviceaccount.com' },
  mongodb: { provider: 'mongodb', executor: 'in_broker', connection: database, accessLevel: 'readonly' },
} as const
type Tag = keyof typeof configs

const target = (tag: Tag): LeaseTarget => ({
  id: newId('leaseTarget'),
  name: tag,
  provider: tag,
  config: configs[tag],
  status: 'ready',
  lastError: null,
  server: 'a server',
  notes: [],
  createdAt: now,
  updatedAt: now,
})

interface Asked {
  roleName: string
  verifier: string
  publicKey: string
  principals: string[]
  recipientPublicKey: string
  ttlSeconds: number
}

const session = { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: 'very secret', sessionToken: 'token' }
const wrapped = async (text: string, { recipientPublicKey }: Asked) => ({
  wrappedCredential: await wrapKey(new TextEncoder().encode(text), recipientPublicKey),
})

function certificate(leaseId: string, { publicKey, principals }: Asked, more: object = {}): string {
  return signUserCertificate(ca.key, {
    key: readPublicKey(publicKey, 'publicKey'),
    serial: 1n,
    keyId: leaseId,
    principals,
    validAfter: 0,
    validBefore: Math.floor(Date.parse(expiresAt) / 1000),
    criticalOptions: {},
    extensions: [],
    ...more,
  })
}

/** The result that an honest server adds to the lease. */
const results: Record<Tag, (asked: Asked, leaseId: string) => object | Promise<object>> = {
  postgres: ({ roleName }) => ({ connection: { ...database, username: roleName, expiresAt } }),
  mysql: ({ roleName }) => ({ connection: { ...database, username: roleName, expiresAt } }),
  redis: ({ roleName }) => ({ connection: { host: 'r', port: 6379, database: 0, username: roleName, expiresAt } }),
  ssh: (asked, id) => ({
    ssh: {
      certificate: certificate(id, asked),
      principals: asked.principals,
      caPublicKey: configs.ssh.caPublicKey,
      expiresAt,
    },
  }),
  'cloud-a': async (asked) => ({
    cloudA: {
      ...(await wrapped(JSON.stringify(session), asked)),
      region: 'eu-west-1',
      roleArn: configs['cloud-a'].roleArn,
      expiresAt,
    },
  }),
  'cloud-b': async (asked) => ({
    cloudB: {
      ...(await wrapped('ya29', asked)),
      serviceAccount: configs['cloud-b'].serviceAccount,
      scopes: ['s'],
      expiresAt,
    },
  }),
  mongodb: async (asked) => ({
    mongodb: {
      ...(await wrapped('password', asked)),
      username: 'skerry_x',
      ...database,
      authSource: 'admin',
      expiresAt,
    },
  }),
}

/** The false part of a dishonest server’s answer. */
type Lie = (asked: Asked, leaseId: string) => Record<string, object | undefined>

const certified =
  (more: object): Lie =>
  (asked, id) => ({ ssh: { certificate: certificate(id, asked, more) } })

/** A server that mints leases, and may lie about them. */
async function world(tag: Tag, lie: Lie = () => ({})) {
  const server = await startServer(`Bearer ${me.bearer}`)
  const of = target(tag)
  const revoked: string[] = []
  const lease = {
    id: newId('lease'),
    targetId: of.id,
    provider: tag,
    status: 'active',
    resourceRef: 'x',
    requestedByType: 'service_token',
    requestedById: me.tokenId,
    ttlSeconds: 600,
    createdAt: now,
    expiresAt,
    revokedAt: null,
    revokedById: null,
    lastError: null,
  }
  server.on('leases.create', async ({ body }) => {
    const asked = body as Asked
    const honest: Record<string, object> = { lease, ...(await results[tag](asked, lease.id)) }
    const lies = Object.entries(lie(asked, lease.id))
    const told = lies.map(([name, value]) => [name, value && { ...honest[name], ...value }] as const)
    return { status: 201, json: { ...honest, ...Object.fromEntries(told) } }
  })
  server.on('leases.revoke', ({ params }) => {
    revoked.push(params.leaseId!)
    return { json: { lease } }
  })
  const client = createClient({ baseUrl: server.baseUrl, credential: { bearer: me.bearer } })
  const principals = tag === 'ssh' ? ['deploy'] : undefined
  const make = () => createLease(client, { orgId, target: of, ttlSeconds: 600, principals })
  return { server, client, target: of, lease, revoked, make }
}

describe('a lease', () => {
  test.each(['postgres', 'mysql', 'redis'] as const)(
    'of %s is requested with a verifier, and its password stays on this machine',
    async (tag) => {
      const { server, make, revoked } = await world(tag)
      const made = await make()
      if (!('password' in made)) throw new Error('no password')
      expect(made.password).toMatch(/^[A-Za-z0-9]{40}$/)
      expect(made.connection.username).toMatch(/^lease_[a-z0-9]{16}$/)
      expect(JSON.stringify(server.requests)).not.toContain(made.password)
      expect(revoked).toEqual([])
    },
  )

  test('of SSH has a certificate for a key that was made for it', async () => {
    const { server, make } = await world('ssh')
    const made = await make()
    if (made.provider !== 'ssh') throw new Error('no certificate')
    expect(made.principals).toEqual(['deploy'])
    expect(made.key.privateKey).toContain('BEGIN OPENSSH PRIVATE KEY')
    expect(JSON.stringify(server.requests)).not.toContain('PRIVATE KEY')
  })

  test('of a cloud or of MongoDB is decrypted with a key that nobody else has', async () => {
    expect(await (await world('cloud-a')).make()).toMatchObject({ credential: session, region: 'eu-west-1' })
    expect(await (await world('cloud-b')).make()).toMatchObject({ accessToken: 'ya29', scopes: ['s'] })
    expect(await (await world('mongodb')).make()).toMatchObject({
      password: 'password',
      connection: { ...database, username: 'skerry_x', authSource: 'admin' },
    })
  })

  test.each<[string, Tag, Lie]>([
    ['with another name', 'postgres', () => ({ connection: { username: 'postgres' } })],
    ['on another host', 'postgres', () => ({ connection: { host: 'elsewhere' } })],
    ['in another database', 'redis', () => ({ connection: { database: 3 } })],
    ['without its connection', 'mysql', () => ({ connection: undefined })],
    ['that lives longer', 'postgres', () => ({ lease: { expiresAt: '2040-01-01T00:00:00.000Z' } })],
    ['for another target', 'postgres', () => ({ lease: { targetId: newId('leaseTarget') } })],
    ['that has failed', 'postgres', () => ({ lease: { status: 'failed' } })],
    ['in another region', 'cloud-a', () => ({ cloudA: { region: 'us-east-1' } })],
    ['for another service account', 'cloud-b', () => ({ cloudB: { serviceAccount: 'b' } })],
    ['with a certificate for more login names', 'ssh', certified({ principals: ['deploy', 'root'] })],
    ['with a certificate that is valid for longer', 'ssh', certified({ validBefore: 4_000_000_000 })],
    ['with the certificate of another lease', 'ssh', certified({ keyId: 'lse_other' })],
    ['from another authority', 'ssh', () => ({ ssh: { caPublicKey: 'ssh-ed25519 AAAA' } })],
    ['without a real certificate', 'ssh', () => ({ ssh: { certificate: 'ssh-ed25519 AAAA' } })],
  ])('%s (%s) is refused and revoked', async (_, tag, lie) => {
    const { make, revoked, lease } = await world(tag, lie)
    await expect(make()).rejects.toThrow()
    expect(revoked).toEqual([lease.id])
  })

  test.each<[string, Tag, object]>([
    ['with no login name in its certificate', 'ssh', { principals: [] }],
    ['of a database with login names', 'postgres', { principals: ['deploy'] }],
    ['with a name, when the target chooses the name,', 'mongodb', { roleName: 'mine' }],
  ])('%s is refused before any request', async (_, tag, more) => {
    const { server, client, target: of } = await world(tag)
    const wish = { orgId, target: of, ttlSeconds: 600, ...more }
    await expect(createLease(client, wish)).rejects.toMatchObject({ code: 'invalid_request' })
    expect(server.requests).toEqual([])
  })
})

describe('a lease that a provisioner makes', () => {
  const provisioned = { ...configs.postgres, executor: 'provisioner', provisionerTokenId: me.tokenId } as const
  /** The first answer says `pending`. Later answers have the members of `said`, in order. */
  async function waiting(...said: object[]) {
    const {
      server,
      client,
      target: of,
      lease,
      revoked,
    } = await world('postgres', () => ({
      lease: { status: 'pending' },
    }))
    server.on('leases.get', () => ({ json: { lease: { ...lease, ...(said.shift() ?? {}) } } }))
    const wish = { orgId, target: { ...of, config: provisioned }, ttlSeconds: 600 }
    return { make: (signal?: AbortSignal) => createLease(client, { ...wish, signal }), revoked, lease, server }
  }

  test('is returned once it is active', async () => {
    const { make, revoked } = await waiting({ status: 'creating' }, { status: 'active' })
    expect(await make()).toMatchObject({ provider: 'postgres', lease: { status: 'active' } })
    expect(revoked).toEqual([])
  })

  test.each([
    ['failed', { status: 'failed', lastError: 'target: it said no' }, 'target: it said no'],
    [
      'changed its expiry',
      { status: 'active', expiresAt: '2040-01-01T00:00:00.000Z' },
      'the server returned another lease than before',
    ],
  ])('is refused and revoked if it %s', async (_, said, message) => {
    const { make, revoked, lease } = await waiting(said)
    await expect(make()).rejects.toThrow(message)
    expect(revoked).toEqual([lease.id])
  })

  test('is revoked when its caller stops waiting', async () => {
    const { make, revoked, lease, server } = await waiting({ status: 'creating' })
    const caller = new AbortController()
    const given = expect(make(caller.signal)).rejects.toThrow()
    await expect.poll(() => server.requests.some(({ line }) => line.startsWith('GET '))).toBe(true)
    caller.abort()
    await given
    expect(revoked).toEqual([lease.id])
  })
})

describe('a target', () => {
  test('of a provisioner is registered with a credential wrapped to the named token, for its settings', async () => {
    const { server, client, target: of } = await world('postgres')
    const provisioner = await newToken('skerry')
    const { publicKeyJwk } = provisioner
    server.on('leases.createTarget', () => ({ status: 201, json: { target: of } }))
    const named = { executor: 'provisioner', provisionerTokenId: provisioner.tokenId } as const
    const config = { ...configs.postgres, ...named }
    const adminSecret = 'postgres://a:secret@h/d'
    const provisionerKeyJwk = publicKeyJwk
    await createLeaseTarget(client, { orgId, config, adminSecret, provisionerKeyJwk })
    const wrappedAdminSecret = String((server.requests.at(-1)!.body as Record<string, unknown>).wrappedAdminSecret)
    const { privateKey } = await parseToken(provisioner.token)
    expect(await openAdminSecret(wrappedAdminSecret, config, privateKey)).toBe(adminSecret)
    // Without the caller's own copy of the key the call fails. It does not ask the server for the key, because the
    // server could lie.
    const asked = server.requests.length
    await expect(createLeaseTarget(client, { orgId, config, adminSecret })).rejects.toMatchObject({
      code: 'invalid_request',
    })
    expect(server.requests).toHaveLength(asked)
  })

  test('without a provisioner is registered with its credential wrapped to the broker', async () => {
    const { server, client, target: of } = await world('postgres')
    server.on('leases.brokerKey', () => ({ json: { publicKeyJwk: broker.publicKeyJwk } }))
    server.on('leases.createTarget', () => ({ status: 201, json: { target: of } }))
    const config = configs.postgres
    const made = await createLeaseTarget(client, {
      orgId,
      name: 'shop',
      config,
      adminSecret: 'postgres://a:secret@h/d',
    })
    expect(made).toEqual(of)
    expect(JSON.stringify(server.requests)).not.toContain('secret@')
    expect(server.requests.at(-1)?.body).toMatchObject({
      name: 'shop',
      wrappedAdminSecret: expect.stringMatching(/^wd1\./),
    })
  })

  test('is found by its name or id on any page', async () => {
    const { server, client } = await world('postgres')
    const [first, second] = [target('postgres'), target('redis')]
    server.on('leases.targets', ({ query }) => {
      const isFirst = query.cursor === undefined
      return { json: { targets: [isFirst ? first : second], nextCursor: isFirst ? 'next' : null } }
    })
    expect(await listLeaseTargets(client, orgId)).toEqual([first, second])
    expect(await findLeaseTarget(client, orgId, 'redis')).toEqual(second)
    expect(await findLeaseTarget(client, orgId, first.id)).toEqual(first)
    await expect(findLeaseTarget(client, orgId, 'none')).rejects.toMatchObject({ code: 'not_found' })
  })
})
