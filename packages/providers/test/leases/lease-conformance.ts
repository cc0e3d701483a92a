import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { LeaseTag } from '@skerry/contract/leases/providers'
import { vendorName } from '@skerry/contract/vendors'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Issued, Lease, LeaseAccountRef, LeaseSession, LeaseTarget } from '../../src/leases/provider.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import type { Outbound } from '../../src/outbound.ts'
import { ProviderError } from '../../src/provider-error.ts'
import { type TestOutbound, testOutbound } from '../outbound.ts'

/** A target that the suite has started. */
export interface LeaseScene<T extends LeaseTag> {
  /** The server that `verify` must report. */
  server: RegExp
  target(level: 'readonly'): LeaseTarget<T>
  /** The address of a fake, for adapters that send requests. */
  origin?: string
  stop(): Promise<void>
}

/** The request of a client, and the data of a ledger about it. */
export interface Asked<T extends LeaseTag> {
  lease: Lease<T>
  ref: LeaseAccountRef
}

export interface LeaseSuite<T extends LeaseTag, S extends LeaseScene<T>, A extends Asked<T>> {
  start(): Promise<S>
  ask(scene: S): A | Promise<A>
  /** Uses the credential as its holder would. Rejects if the target does not accept it. */
  use(scene: S, asked: A, issued: Issued<T>): Promise<unknown>
  /** Until when the target itself accepts the credential. Null if it does so until the lease is ended. */
  validUntil(scene: S, asked: A, issued: Issued<T>): Promise<Date | null>
  /** An admin credential of the right form that does not belong to the target. */
  wrong(scene: S): string
  /** Whether the adapter works without any connection. */
  offline?: boolean
}

/** The parts for tests of a single adapter, on the same target. */
export interface LeaseUse<T extends LeaseTag, S extends LeaseScene<T>> {
  scene(): S
  outbound(): TestOutbound
  open(change?: Partial<LeaseTarget<T>>): Promise<LeaseSession<T>>
  /** Sessions that are closed when the suite ends. */
  sessions: LeaseSession<T>[]
}

/** The tests for every lease adapter, whatever it creates. `more` adds tests that other adapters do not need. */
export function leaseConformance<T extends LeaseTag, S extends LeaseScene<T>, A extends Asked<T>>(
  tag: T,
  skip: string | undefined,
  suite: LeaseSuite<T, S, A>,
  more: (use: LeaseUse<T, S>) => void,
): void {
  describe.skipIf(skip !== undefined)(`${tag} leases${skip === undefined ? '' : ` (skipped: ${skip})`}`, () => {
    let scene: S
    let outbound: TestOutbound
    const sessions: LeaseSession<T>[] = []
    beforeAll(async () => {
      scene = await suite.start()
      outbound = testOutbound(scene.origin === undefined ? {} : { [tag]: scene.origin })
    })
    afterAll(async () => {
      for (const session of sessions) await session.close()
      await scene?.stop()
    })
    const open = async (change: Partial<LeaseTarget<T>> = {}) => {
      const session = await openLeaseTarget(tag, { ...scene.target('readonly'), ...change }, outbound)
      sessions.push(session)
      return session
    }
    const use: LeaseUse<T, S> = { scene: () => scene, outbound: () => outbound, open, sessions }
    describe('common rules:', () => {
      credentials(tag, suite, use)
      lifetimes(suite, use)
      if (suite.offline) offline(tag, suite, use)
      else strangers(tag, use)
    })
    more(use)
  })
}

/** The secret parts of an admin credential: a password, the lines of a private key, a secret key. */
function secretsOf(credential: string): string[] {
  if (URL.canParse(credential)) {
    const { password } = new URL(credential)
    return [password, decodeURIComponent(password)]
  }
  const fields = credential.startsWith('{') ? Object.entries<string>(JSON.parse(credential)) : [['private', credential]]
  return fields
    .filter(([name = '']) => /^secret|^private(?!_key_id)/.test(name))
    .flatMap(([, value = '']) => value.split('\n').filter((line) => line !== '' && !line.startsWith('-----')))
}

function expectWithout(said: unknown, ...credentials: string[]): void {
  const text = typeof said === 'string' ? said : JSON.stringify(said)
  for (const secret of credentials.flatMap(secretsOf)) expect(text).not.toContain(secret)
}

async function refusalOf(work: Promise<unknown>): Promise<ProviderError> {
  const refusal = await work.then(
    () => new Error('nothing was refused'),
    (error: unknown) => error,
  )
  expect(refusal).toBeInstanceOf(ProviderError)
  return refusal as ProviderError
}

/** An `Outbound` that fails the test if anything is sent. */
const nowhere: Outbound = {
  ...testOutbound(),
  send: () => Promise.reject(new Error('a request was sent')),
  connect: () => Promise.reject(new Error('a connection was opened')),
}

function credentials<T extends LeaseTag, S extends LeaseScene<T>, A extends Asked<T>>(
  tag: T,
  { wrong }: LeaseSuite<T, S, A>,
  { scene, outbound, open }: LeaseUse<T, S>,
): void {
  it('the adapter says what the target is, and reveals nothing of the admin credential', async () => {
    const facts = await (await open()).verify()
    expect(facts.server).toMatch(scene().server)
    const { credential } = scene().target('readonly')
    expect(secretsOf(credential)).not.toEqual([])
    expectWithout(facts, credential)
  })

  it('an admin credential of another target is refused, and the error does not repeat it', async () => {
    const { config, credential } = scene().target('readonly')
    const other = wrong(scene())
    const attempt = async () => await (await openLeaseTarget(tag, { config, credential: other }, outbound())).verify()
    const { reason, message } = await refusalOf(attempt())
    // No target could refuse the key of an authority, so it is compared with the settings.
    expect([reason, message]).toEqual(
      tag === 'ssh' ? ['invalid', expect.stringMatching(/^caPublicKey: /)] : ['denied', expect.any(String)],
    )
    expectWithout(message, credential, other)
  })

  it('a malformed admin credential is refused with its kind before anything is sent, and the error does not repeat it', async () => {
    const { config, credential } = scene().target('readonly')
    const half = credential.slice(0, credential.length / 2)
    for (const malformed of ['', 'not a credential', '{}', 'null', half]) {
      const { reason, message } = await refusalOf(openLeaseTarget(tag, { config, credential: malformed }, nowhere))
      expect([malformed, reason]).toEqual([malformed, 'invalid'])
      expect(message).toMatch(/^(?:admin connection string|base credential|certificate authority key): /)
      expectWithout(message, credential)
    }
  })

  it('settings of another provider are refused with their field before anything is sent', async () => {
    const { credential } = scene().target('readonly')
    const connection = { host: 'localhost', port: 6379 }
    const others = {
      redis: { provider: 'redis', executor: 'in_broker', connection, accessLevel: 'readonly' },
      'cloud-b': {
        provider: 'cloud-b',
        executor: 'in_broker',
        serviceAccount: 'deploy@shop-1.iam.gserviceaccount.com',
      },
    }
    const other = others[tag === 'redis' ? 'cloud-b' : 'redis']
    const attempt = async (config: object) =>
      await refusalOf(openLeaseTarget(tag, { config, credential } as LeaseTarget<T>, nowhere))
    expect(await attempt(other)).toMatchObject({
      reason: 'invalid',
      message: `config/provider: must be ${vendorName(tag)}`,
    })
    const { reason, message } = await attempt({ ...other, provider: tag })
    const lacking =
      /^config(?:\/connection)?: must have required properties .*(?:schema|userHost|connection|database|caPublicKey|roleArn|serviceAccount)/
    expect([reason, message]).toEqual(['invalid', expect.stringMatching(lacking)])
    expectWithout(message, credential)
  })
}

function lifetimes<T extends LeaseTag, S extends LeaseScene<T>, A extends Asked<T>>(
  { ask, use, validUntil }: LeaseSuite<T, S, A>,
  { scene, open }: LeaseUse<T, S>,
): void {
  it('a credential works for the requested time and no longer, and contains nothing of the admin credential', async () => {
    const session = await open()
    const asked = await ask(scene())
    const issued = await session.create(asked.lease)
    expectWithout([issued, await session.list()], scene().target('readonly').credential)
    await use(scene(), asked, issued)
    const { ttlSeconds, expiresAt } = asked.lease
    const until = await validUntil(scene(), asked, issued)
    for (const end of [new Date(issued.result.expiresAt), ...(until === null ? [] : [until])]) {
      // Some targets count whole seconds, and some count from the time of the request.
      expect(end.getTime()).toBeGreaterThan(expiresAt.getTime() - 1000)
      expect(end.getTime()).toBeLessThanOrEqual(Date.now() + ttlSeconds * 1000)
    }
    await session.revoke({ ...asked.ref, resourceRef: issued.resourceRef })
    if (until === null) await expect(use(scene(), asked, issued)).rejects.toThrow()
  })

  it('two leases that are created at once are different, and both work', async () => {
    const sessions = [await open(), await open()]
    const made = await Promise.all(
      sessions.map(async (session) => {
        const asked = await ask(scene())
        return { asked, issued: await session.create(asked.lease) }
      }),
    )
    // If the target creates the credential, two leases may have the same name.
    const [one, other] = made.map(({ issued: { credential, resourceRef } }) => credential ?? resourceRef)
    expect(one).not.toEqual(other)
    for (const { asked, issued } of made) await use(scene(), asked, issued)
  })

  it('ending a lease twice, or ending an unknown lease, is no error', async () => {
    const session = await open()
    const { lease, ref } = await ask(scene())
    const { resourceRef } = await session.create(lease)
    await session.revoke({ ...ref, resourceRef })
    await session.revoke({ ...ref, resourceRef })
    await session.revoke((await ask(scene())).ref)
  })
}

function offline<T extends LeaseTag, S extends LeaseScene<T>, A extends Asked<T>>(
  tag: T,
  { ask }: LeaseSuite<T, S, A>,
  { scene }: LeaseUse<T, S>,
): void {
  it('the adapter needs no connection', async () => {
    const session = await openLeaseTarget(tag, scene().target('readonly'), nowhere)
    await session.verify()
    const { lease, ref } = await ask(scene())
    await session.create(lease)
    await session.revoke(ref)
  })
}

const http = 'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n400 Bad Request'
const noise = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7919) % 251))

/** Servers that may be at the address of a target: the reason if only one is possible, and the answer. */
const strangersThere: [string, ProviderError['reason'] | null, ((socket: Socket) => void) | null][] = [
  ['is not there', 'unreachable', null],
  ['accepts connections and never answers', 'unreachable', () => {}],
  ['hangs up', 'unreachable', (socket) => socket.destroy()],
  ['speaks HTTP', null, (socket) => socket.end(http)],
  ['sends noise', null, (socket) => socket.end(noise)],
]

/** How long a test waits for an answer that never comes. */
const briefMs = 500

function strangers<T extends LeaseTag, S extends LeaseScene<T>>(tag: T, { scene }: LeaseUse<T, S>): void {
  it.each(strangersThere)(
    'the adapter reports a target that %s, and leaves no connection',
    async (_, reason, answer) => {
      const server = await listening(answer ?? (() => {}))
      if (answer === null) await server.stop()
      const { credential } = scene().target('readonly')
      const outbound = testOutbound({ [tag]: `http://127.0.0.1:${server.port}` }, briefMs)
      for (const target of targetsAt(scene().target('readonly'), server.port)) {
        const attempt = async () => await (await openLeaseTarget(tag, target, outbound)).verify()
        const refusal = await refusalOf(attempt())
        expect(refusal.message).not.toBe('')
        if (reason !== null) expect(refusal).toMatchObject({ reason })
        expectWithout(refusal.message, credential)
      }
      await expect.poll(() => outbound.open).toBe(0)
      if (answer !== null) await server.stop()
    },
  )
}

/** The target at another port, with and without TLS. A target without a connection stays unchanged. */
function targetsAt<T extends LeaseTag>(target: LeaseTarget<T>, port: number): LeaseTarget<T>[] {
  const { connection } = target.config as { connection?: { port: number; tls?: string; caCertificate?: string } }
  if (!connection) return [target]
  const credential = target.credential.replace(`:${connection.port}`, `:${port}`)
  const { tls: _, caCertificate: __, ...address } = connection
  return ['disable', 'require'].map((tls) => {
    // MongoDB’s TLS setting is beside its connection.
    const settings =
      target.config.provider === 'mongodb'
        ? { connection: { ...address, port }, tls }
        : { connection: { ...address, port, tls } }
    return { config: { ...target.config, ...settings } as LeaseTarget<T>['config'], credential }
  })
}

async function listening(answer: (socket: Socket) => void): Promise<{ port: number; stop(): Promise<void> }> {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    answer(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
