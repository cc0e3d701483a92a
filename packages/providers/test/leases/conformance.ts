import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Lease, LeaseAccountRef, LeaseSession, LeaseTarget } from '../../src/leases/provider.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import type { Outside } from '../../src/outside.ts'
import { ProviderError } from '../../src/provider-error.ts'
import { type TestOutside, testOutside } from '../outside.ts'
import { digest, leaseId, password, roleName, verifierOf } from './mint.ts'

type To = Parameters<Outside['connect']>[0]
type DatabaseTag = 'postgres' | 'mysql' | 'redis'
type Level = 'readonly' | 'readwrite'

/** A database with something to read in it, and how its own clients use it. */
export interface Scene<T extends DatabaseTag> {
  /** What `verify` must say the server is. */
  server: RegExp
  target(level: Level): LeaseTarget<T>
  /** Signs in as a lease’s client would, with the driver of the product’s users. Rejects where it cannot. */
  signIn(name: string, secret: string): Promise<Client>
  exists(name: string): Promise<boolean>
  /** An account that nobody leased. */
  createForeign(name: string): Promise<void>
  /** What a crash in the middle of `create` leaves at most. */
  createHalf(lease: { id: string; roleName: string; verifier: string }): Promise<void>
  /** What a crash after the first statement of `revoke` leaves, whose sessions are open yet. */
  endHalf(name: string): Promise<void>
  stop(): Promise<void>
}

export interface Client {
  read(): Promise<unknown>
  write(): Promise<unknown>
  /** Something that no level allows: a change of structure, or of other accounts. */
  administer(): Promise<unknown>
  /** Settles when the server has ended the connection. */
  ended: Promise<void>
  close(): Promise<void>
}

/** What tests of one adapter alone use, of the same server. */
export interface Use<T extends DatabaseTag, S extends Scene<T>> {
  scene(): S
  open(config?: Partial<LeaseTarget<T>['config']>): Promise<LeaseSession<T>>
  mint(name?: string): Minted<T>
}

export interface Minted<T extends DatabaseTag> {
  lease: Lease<T>
  name: string
  secret: string
  verifier: string
  ref: LeaseAccountRef
}

/** What every lease adapter of a database must do, on a real server; `more` adds what only this one must. */
export function databaseConformance<T extends DatabaseTag, S extends Scene<T>>(
  tag: T,
  skip: string | undefined,
  start: () => Promise<S>,
  more: (use: Use<T, S>) => void,
): void {
  describe.skipIf(skip !== undefined)(`${tag} leases${skip === undefined ? '' : ` (skipped: ${skip})`}`, () => {
    let scene: S
    let outside: TestOutside
    const sessions: LeaseSession<T>[] = []
    beforeAll(async () => {
      scene = await start()
      outside = testOutside()
    }, 60_000)
    afterAll(async () => {
      for (const session of sessions) await session.close()
      await scene?.stop()
    })

    const openWith = async (config: Partial<LeaseTarget<T>['config']>, level: Level = 'readonly') => {
      const target = scene.target(level)
      const session = await openLeaseTarget(tag, { ...target, config: { ...target.config, ...config } }, outside)
      sessions.push(session)
      return session
    }
    const open = (level?: Level) => openWith({}, level)
    const mint = (name = roleName()): Minted<T> => {
      const secret = password()
      const verifier = verifierOf[tag](secret)
      const id = leaseId()
      const expiresAt = new Date(Date.now() + 3_600_000)
      const lease = { id, roleName: name, verifier, ttlSeconds: 3600, expiresAt } as unknown as Lease<T>
      return { lease, name, secret, verifier, ref: { id, resourceRef: name, verifierDigest: digest(verifier) } }
    }
    const reasonOf = async (work: Promise<unknown>) =>
      await work.then(
        () => 'nothing was refused',
        (error: unknown) => (error instanceof ProviderError ? error.reason : String(error)),
      )

    it('says what the server is', async () => {
      expect((await (await open()).verify()).server).toMatch(scene.server)
    })

    it('a read-only lease signs in, reads, and may neither write nor administer', async () => {
      const { lease, name, secret } = mint()
      const issued = await (await open()).create(lease)
      expect(issued).toMatchObject({
        resourceRef: name,
        result: { username: name, expiresAt: lease.expiresAt.toISOString() },
      })
      expect(issued.credential).toBeUndefined()
      const client = await scene.signIn(name, secret)
      await client.read()
      await expect(client.write()).rejects.toThrow()
      await expect(client.administer()).rejects.toThrow()
      await client.close()
    })

    it('a lease that may write reads and writes, and may not administer', async () => {
      const { lease, name, secret } = mint()
      await (await open('readwrite')).create(lease)
      const client = await scene.signIn(name, secret)
      await client.write()
      await client.read()
      await expect(client.administer()).rejects.toThrow()
      await client.close()
    })

    it('an open session ends with its lease, and nobody signs in any more', async () => {
      const session = await open('readwrite')
      const { lease, name, secret, ref } = mint()
      await session.create(lease)
      const [one, two] = [await scene.signIn(name, secret), await scene.signIn(name, secret)]
      await one.read()
      await session.revoke(ref)
      await Promise.all([one.ended, two.ended])
      await expect(scene.signIn(name, secret)).rejects.toThrow()
      expect(await scene.exists(name)).toBe(false)
    })

    it('ending a lease twice, or one that was never created, is no error', async () => {
      const session = await open()
      const { lease, ref } = mint()
      await session.create(lease)
      await session.revoke(ref)
      await session.revoke(ref)
      await session.revoke(mint().ref)
    })

    it('a name that exists is refused, and its owner is left as they were', async () => {
      const session = await open()
      const { lease, name, secret } = mint()
      await session.create(lease)
      expect(await reasonOf(session.create(mint(name).lease))).toBe('exists')
      await (await scene.signIn(name, secret)).close()
    })

    it('an account that is not the lease’s own is neither changed nor removed', async () => {
      const session = await open()
      const { lease, name, ref } = mint()
      await scene.createForeign(name)
      expect(await reasonOf(session.create(lease))).toBe('exists')
      expect(await reasonOf(session.revoke(ref))).toBe('foreign')
      expect(await scene.exists(name)).toBe(true)
    })

    it('what a crash left half made can be ended', async () => {
      const { name, verifier, ref } = mint()
      await scene.createHalf({ id: ref.id, roleName: name, verifier })
      await (await open()).revoke(ref)
      expect(await scene.exists(name)).toBe(false)
    })

    it('what a crash left half ended can be ended', async () => {
      const session = await open('readwrite')
      const { lease, name, secret, ref } = mint()
      await session.create(lease)
      const client = await scene.signIn(name, secret)
      await client.write()
      await scene.endHalf(name)
      await session.revoke(ref)
      await client.ended
      expect(await scene.exists(name)).toBe(false)
    })

    it('the list names every lease with what tells whose it is', async () => {
      const session = await open()
      const minted = [mint(), mint()]
      for (const { lease } of minted) await session.create(lease)
      const listed = await session.list()
      for (const { name, lease, ref } of minted) {
        const account = listed.find((one) => one.name === name)
        expect([account?.leaseId === lease.id, account?.verifierDigest === ref.verifierDigest]).toContain(true)
      }
      await session.revoke(minted[0]!.ref)
      expect((await session.list()).map(({ name }) => name)).not.toContain(minted[0]!.name)
    })

    it('a malformed verifier or name is refused before anything is sent', async () => {
      const session = await open()
      const { lease } = mint()
      const bad = [
        { verifier: 'secret' },
        { verifier: `${(lease as { verifier: string }).verifier}'` },
        { verifier: (lease as { verifier: string }).verifier.slice(0, -1) },
        { verifier: `md5${'0'.repeat(32)}` },
        { roleName: 'a"; DROP TABLE notes; --' },
        { roleName: "a'@'%" },
        { roleName: 'Upper' },
        { roleName: 'a'.repeat(32) },
        { roleName: 'pg_monitor' },
        { roleName: 'default' },
        { roleName: '' },
      ]
      outside.forget()
      for (const change of bad)
        expect([change, await reasonOf(session.create({ ...lease, ...change }))]).toEqual([change, 'invalid'])
      expect(outside.sent()).toBe(0)
    })

    it('a credential that leads elsewhere is refused before anything is sent', async () => {
      const { config, credential } = scene.target('readonly')
      const url = new URL(credential)
      const elsewhere = [
        credential.replace('localhost', '127.0.0.2'),
        credential.replace(`:${url.port}`, ':1'),
        credential.replace(`:${url.port}`, ''),
        `${credential}?host=127.0.0.2`,
        credential.replace(/^\w+:/, 'ftp:'),
        'not a connection string',
      ]
      outside.forget()
      for (const other of elsewhere)
        expect([other, await reasonOf(openLeaseTarget(tag, { config, credential: other }, outside))]).toEqual([
          other,
          'invalid',
        ])
      expect(outside.sent()).toBe(0)
    })

    it('a wrong password is refused as denied, and is not repeated', async () => {
      const { config, credential } = scene.target('readonly')
      const wrong = credential.replace(/:[^:@/]+@/, ':wrongpassword@')
      const failure = await openLeaseTarget(tag, { config, credential: wrong }, outside).catch((error) => error)
      expect(failure).toMatchObject({ reason: 'denied' })
      expect(failure.message).not.toContain('wrongpassword')
    })

    it('a server whose certificate carries another name, or is signed by nobody known, gets no credential', async () => {
      const { config, credential } = scene.target('readonly')
      const { caCertificate: _, ...unknown } = config.connection
      // Every name leads to this machine.
      const here = { ...outside, connect: (to: To) => outside.connect({ ...to, host: '127.0.0.1' }) }
      const attempt = (connection: object, secret = credential) =>
        openLeaseTarget(tag, { config: { ...config, connection }, credential: secret }, here).catch((error) => error)
      const at = (host: string) => attempt({ ...config.connection, host }, credential.replace('localhost', host))
      const refused = (reason: string, message: RegExp) => ({ reason, message: expect.stringMatching(message) })
      const otherName = refused('unreachable', /does not match certificate's altnames/)
      expect(await attempt(unknown)).toMatchObject(refused('unreachable', /self-signed certificate/))
      expect(await at('other.example')).toMatchObject(otherName)
      expect(await at('127.0.0.1')).toMatchObject(tag === 'mysql' ? refused('invalid', /needs a host name/) : otherName)
    })

    it('a connection that is cut is unreachable, and the next session works', async () => {
      const session = await open()
      for (const socket of outside.sockets) socket.destroy()
      sessions.splice(0)
      expect(await reasonOf(session.create(mint().lease))).toBe('unreachable')
      await (await open()).create(mint().lease)
    })

    it('leases that end together need one connection, and one more at times', async () => {
      const session = await open('readwrite')
      const minted = Array.from({ length: 20 }, () => mint())
      for (const { lease } of minted) await session.create(lease)
      outside.forget()
      const before = outside.open
      for (const { ref } of minted) await session.revoke(ref)
      expect(outside.peak - before).toBeLessThanOrEqual(1)
    })

    more({ scene: () => scene, open: openWith, mint })
  })
}
