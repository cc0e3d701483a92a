import { beforeAll, expect, it } from 'vitest'
import type { LeaseSession, LeaseTarget } from '../../src/leases/provider.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import type { Outbound } from '../../src/outbound.ts'
import { ProviderError } from '../../src/provider-error.ts'
import type { TestOutbound } from '../outbound.ts'
import { type LeaseScene, leaseConformance } from './lease-conformance.ts'
import { type DatabaseTag, type Minted, mintFor } from './mint.ts'

type To = Parameters<Outbound['connect']>[0]
type Level = 'readonly' | 'readwrite'

/** A database with data to read, and the ways in which its own clients use it. */
export interface Scene<T extends DatabaseTag> extends LeaseScene<T> {
  target(level: Level): LeaseTarget<T>
  /** Signs in as a lease’s client would, with the driver that users of the product have. Rejects if it cannot. */
  signIn(name: string, secret: string): Promise<Client>
  exists(name: string): Promise<boolean>
  /** When the server itself stops accepting the account. Absent if the server has no such time. */
  validUntil?(name: string): Promise<Date>
  /** Creates an account that belongs to no lease. */
  createForeign(name: string): Promise<void>
  /** Creates the most that a crash in the middle of `create` can leave. */
  createHalf(lease: { id: string; roleName: string; verifier: string }): Promise<void>
  /** Leaves an account as a crash after the first statement of `revoke` does. Its sessions are still open. */
  endHalf(name: string): Promise<void>
  /** Whether the driver connects again after a connection was cut. */
  reconnects?: boolean
}

interface Client {
  read(): Promise<unknown>
  write(): Promise<unknown>
  /** An action that no level allows: a change of the structure, or of other accounts. */
  administer(): Promise<unknown>
  /** Settles when the server accepts nothing more on the connection. */
  ended: Promise<void>
  close(): Promise<void>
}

/** The parts for tests of a single adapter, on the same server. */
export interface Use<T extends DatabaseTag, S extends Scene<T>> {
  scene(): S
  open(config?: Partial<LeaseTarget<T>['config']>): Promise<LeaseSession<T>>
  mint(name?: string): Minted<T>
}

/**
 * The further tests for every lease adapter of a database, on a real server if there is one. `more` adds tests for one
 * adapter.
 */
export function databaseConformance<T extends DatabaseTag, S extends Scene<T>>(
  tag: T,
  skip: string | undefined,
  start: () => Promise<S>,
  more: (use: Use<T, S>) => void,
): void {
  const mint = (name?: string) => mintFor(tag, name)
  const suite = {
    start,
    ask: () => mint(),
    async use(scene: S, { name, secret }: Minted<T>, { credential = secret }: { credential?: string }) {
      const client = await scene.signIn(name, credential)
      await client.read()
      await client.close()
    },
    validUntil: async (scene: S, { name }: Minted<T>) => (await scene.validUntil?.(name)) ?? null,
    wrong: (scene: S) => scene.target('readonly').credential.replace(/:[^:@/]+@/, ':wrongpassword@'),
  }
  leaseConformance(tag, skip, suite, ({ scene: sceneNow, outbound: outboundNow, sessions, open: openTarget }) => {
    let scene: S
    let outbound: TestOutbound
    beforeAll(() => {
      scene = sceneNow()
      outbound = outboundNow()
    })

    const openWith = async (config: Partial<LeaseTarget<T>['config']>, level: Level = 'readonly') =>
      await openTarget({ config: { ...scene.target(level).config, ...config } })
    const open = (level?: Level) => openWith({}, level)
    /** Creates the account. The password is the client’s own, or the one that the target has created. */
    const create = async (session: LeaseSession<T>, { lease, secret }: Minted<T>) => {
      const issued = await session.create(lease)
      return { issued, secret: issued.credential ?? secret }
    }
    const reasonOf = async (work: Promise<unknown>) =>
      await work.then(
        () => 'nothing was refused',
        (error: unknown) => (error instanceof ProviderError ? error.reason : String(error)),
      )

    it('a read-only lease signs in and reads, but can neither write nor administer', async () => {
      const minted = mint()
      const { lease, name } = minted
      const { issued, secret } = await create(await open(), minted)
      expect(issued).toMatchObject({
        resourceRef: name,
        result: { username: name, expiresAt: lease.expiresAt.toISOString() },
      })
      expect(issued.credential !== undefined).toBe(minted.secret === '')
      const client = await scene.signIn(name, secret)
      await client.read()
      await expect(client.write()).rejects.toThrow()
      await expect(client.administer()).rejects.toThrow()
      await client.close()
    })

    it('a lease that may write reads and writes, but cannot administer', async () => {
      const minted = mint()
      const { secret } = await create(await open('readwrite'), minted)
      const client = await scene.signIn(minted.name, secret)
      await client.write()
      await client.read()
      await expect(client.administer()).rejects.toThrow()
      await client.close()
    })

    it('an open session ends with its lease, and nobody can sign in any more', async () => {
      const session = await open('readwrite')
      const minted = mint()
      const { name, ref } = minted
      const { secret } = await create(session, minted)
      const [one, two] = [await scene.signIn(name, secret), await scene.signIn(name, secret)]
      await one.read()
      await session.revoke(ref)
      await Promise.all([one.ended, two.ended])
      await expect(scene.signIn(name, secret)).rejects.toThrow()
      expect(await scene.exists(name)).toBe(false)
    })

    it('an existing name is refused, and the account with that name stays unchanged', async () => {
      const session = await open()
      const minted = mint()
      const { name } = minted
      const { secret } = await create(session, minted)
      expect(await reasonOf(session.create(mint(name).lease))).toBe('exists')
      await (await scene.signIn(name, secret)).close()
    })

    // The ledger chooses the name of MongoDB's account, so nobody else has it.
    if (tag !== 'mongodb')
      it('an account that is not the lease’s own is neither changed nor removed', async () => {
        const session = await open()
        const { lease, name, ref } = mint()
        await scene.createForeign(name)
        expect(await reasonOf(session.create(lease))).toBe('exists')
        expect(await reasonOf(session.revoke(ref))).toBe('foreign')
        expect(await scene.exists(name)).toBe(true)
      })

    it('an account that a crash left half created can be removed', async () => {
      const { name, verifier, ref } = mint()
      await scene.createHalf({ id: ref.id, roleName: name, verifier })
      await (await open()).revoke(ref)
      expect(await scene.exists(name)).toBe(false)
    })

    it('an account that a crash left half removed can be removed', async () => {
      const session = await open('readwrite')
      const minted = mint()
      const { name, ref } = minted
      const { secret } = await create(session, minted)
      const client = await scene.signIn(name, secret)
      await client.write()
      await scene.endHalf(name)
      await session.revoke(ref)
      await client.ended
      expect(await scene.exists(name)).toBe(false)
    })

    it('the list names every lease, with its id or with the digest of its verifier', async () => {
      const session = await open()
      const minted = [mint(), mint()]
      for (const { lease } of minted) await session.create(lease)
      const listed = await session.list()
      for (const { name, lease, ref } of minted) {
        const account = listed.find((one) => one.name === name)
        expect(account).toMatchObject(
          account?.leaseId === null ? { verifierDigest: ref.verifierDigest } : { leaseId: lease.id },
        )
      }
      await session.revoke(minted[0]!.ref)
      expect((await session.list()).map(({ name }) => name)).not.toContain(minted[0]!.name)
    })

    // MongoDB accepts neither from a client.
    if (tag !== 'mongodb')
      it('a malformed verifier or name is refused before anything is sent', async () => {
        const session = await open()
        const { lease, verifier } = mint()
        const bad = [
          { verifier: 'secret' },
          { verifier: `${verifier}'` },
          { verifier: verifier.slice(0, -1) },
          { verifier: `md5${'0'.repeat(32)}` },
          { roleName: 'a"; DROP TABLE notes; --' },
          { roleName: "a'@'%" },
          { roleName: 'Upper' },
          { roleName: 'a'.repeat(32) },
          { roleName: 'pg_monitor' },
          { roleName: 'default' },
          { roleName: '' },
        ]
        outbound.forget()
        for (const change of bad)
          expect([change, await reasonOf(session.create({ ...lease, ...change }))]).toEqual([change, 'invalid'])
        expect(outbound.sent()).toBe(0)
      })

    it('a credential that does not match the target is refused before anything is sent', async () => {
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
      outbound.forget()
      for (const other of elsewhere)
        expect([other, await reasonOf(openLeaseTarget(tag, { config, credential: other }, outbound))]).toEqual([
          other,
          'invalid',
        ])
      expect(outbound.sent()).toBe(0)
    })

    it('a server with another name in its certificate, or with an unknown issuer, gets no credential', async () => {
      const { config, credential } = scene.target('readonly')
      const { caCertificate: _, ...unknown } = config.connection
      // Every name leads to this machine here.
      const here = { ...outbound, connect: (to: To) => outbound.connect({ ...to, host: '127.0.0.1' }) }
      const attempt = (connection: object, secret = credential) =>
        openLeaseTarget(tag, { config: { ...config, connection }, credential: secret }, here).catch((error) => error)
      const at = (host: string) => attempt({ ...config.connection, host }, credential.replace('localhost', host))
      const refused = (reason: string, message: RegExp) => ({ reason, message: expect.stringMatching(message) })
      const otherName = refused('unreachable', /does not match certificate's altnames/)
      expect(await attempt(unknown)).toMatchObject(refused('unreachable', /self-signed certificate/))
      expect(await at('other.example')).toMatchObject(otherName)
      expect(await at('127.0.0.1')).toMatchObject(tag === 'mysql' ? refused('invalid', /needs a host name/) : otherName)
    })

    it('a connection that is cut is reported as unreachable, and the next session works', async () => {
      const session = await open()
      for (const socket of outbound.sockets) socket.destroy()
      sessions.splice(0)
      if (!scene.reconnects) expect(await reasonOf(session.create(mint().lease))).toBe('unreachable')
      await (await open()).create(mint().lease)
    })

    it('many leases are ended over one connection, and at times one more', async () => {
      const session = await open('readwrite')
      const minted = Array.from({ length: 20 }, () => mint())
      for (const { lease } of minted) await session.create(lease)
      outbound.forget()
      const before = outbound.open
      for (const { ref } of minted) await session.revoke(ref)
      expect(outbound.peak - before).toBeLessThanOrEqual(1)
    })

    more({ scene: () => scene, open: openWith, mint })
  })
}
