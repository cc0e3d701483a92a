import { randomBytes } from 'node:crypto'
import type { SyncTag } from '@skerry/contract/sync/providers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ProviderError } from '../../src/provider-error.ts'
import type { SyncConnection, SyncEntry, SyncOutcome, SyncSession } from '../../src/sync/provider.ts'
import { syncProvider } from '../../src/sync/registry.ts'
import { bends, bentOutbound } from '../bent-outbound.ts'
import { testOutbound } from '../outbound.ts'

/** A strict fake of a destination. It refuses what the real service refuses, and shows its contents to a test. */
export interface SyncFake<T extends SyncTag> {
  connection: SyncConnection<T>
  origin: string
  /** Empties it and ends its failures. */
  reset(): void
  /** Its contents, by the destination’s own names. */
  values(): Map<string, string>
  /** Writes a name as somebody else would. */
  put(name: string, value: string): void
  /** Deletes a name as somebody else would, if the destination keeps deleted names. */
  softDelete?(name: string): void
  /** The number of requests that would change something. */
  writes(): number
  /**
   * From the next request on: the credential is refused, there are too many requests, an error repeats the value, or
   * the destination is missing.
   */
  fail(how: 'credential' | 'rate' | 'echo' | 'missing'): void
  /** From the next request on, the fake refuses a write of this name, and of no other name. */
  refuse?(name: string): void
  stop(): Promise<void>
  /** Set if a destination starts to exist with its first name, so that it is never missing. */
  neverMissing?: true
}

/**
 * Destinations whose call for a name overwrites any value, also one of somebody else, and does not show that value
 * before. docs/sync-destinations.md names them under “Between the list and the write”.
 */
const writesOver: SyncTag[] = [
  ...(['app-platform-a', 'app-platform-b', 'app-platform-c', 'app-platform-f'] as const),
  ...(['cloud-c-key-vault', 'code-host-ci', 'edge-workers', 'ml-spaces'] as const),
]

/** The revision of a name. Reads the single name if the list shows no revisions. */
async function revisionOf(session: SyncSession, wanted: string): Promise<string | null | undefined> {
  const entry = session.look ? await session.look(wanted) : (await session.list()).find(({ name }) => name === wanted)
  return entry?.revision
}

/** The tests of every sync adapter, against the strict fake of its destination. */
export function syncConformance<T extends SyncTag>(tag: T, start: () => Promise<SyncFake<T>>): void {
  describe(`${tag} sync`, () => {
    let fake: SyncFake<T>
    beforeAll(async () => {
      fake = await start()
    })
    beforeEach(() => fake.reset())
    afterAll(() => fake.stop())

    const open = async () => (await syncProvider(tag)).open(fake.connection, testOutbound({ [tag]: fake.origin }))
    const facts = async () => (await syncProvider(tag)).describe(fake.connection)
    /** A name in the form of the destination, as the caller of an adapter passes it. */
    let own: (name: string) => string
    beforeAll(async () => {
      const { form } = (await facts()).limits.name
      own = (name) => (form === 'dashed' ? name.replaceAll('_', '-') : name)
    })
    const change = (write: Record<string, string>, remove: string[] = []) => ({
      runId: 'run_1',
      write: Object.entries(write).map(([name, value]) => ({ name: own(name), value, memo: null })),
      remove: remove.map((name) => ({ name: own(name), memo: null })),
    })
    const there = async (name: string) => `${(await facts()).limits.name.prefix}${own(name)}`
    const push = async (session: SyncSession, write: Record<string, string>, remove: string[] = []) =>
      await session.push(change(write, remove))
    const failureOf = async (work: Promise<unknown>) =>
      await work.then(
        () => ({ reason: 'nothing was refused', message: '' }),
        (error: ProviderError) => error,
      )

    it('the adapter describes its places, limits and effects', async () => {
      const { places, limits, effects } = await facts()
      expect(places.length).toBeGreaterThan(0)
      expect(() => new RegExp(limits.name.pattern)).not.toThrow()
      for (const effect of effects) expect(effect).toMatch(/^[A-Z].*\.$/)
    })

    it('verify writes nothing', async () => {
      await (await open()).verify()
      expect(fake.writes()).toBe(0)
    })

    it('a push creates, changes and removes the given names, and no others', async () => {
      fake.put(await there('FOREIGN_NAME'), 'theirs')
      const session = await open()
      const first = await push(session, { FIRST_NAME: 'one', SECOND_NAME: 'two "quoted"\nlines €' })
      expect(first).toMatchObject({ removed: [], failed: [] })
      expect(first.written.map(({ name }) => name).sort()).toEqual(['FIRST_NAME', 'SECOND_NAME'].map(own))
      expect(fake.values().get(await there('SECOND_NAME'))).toBe('two "quoted"\nlines €')
      const second = await push(session, { FIRST_NAME: 'three' }, ['SECOND_NAME'])
      expect(second).toMatchObject({ removed: [own('SECOND_NAME')], failed: [] })
      expect(Object.fromEntries(fake.values())).toEqual({
        [await there('FOREIGN_NAME')]: 'theirs',
        [await there('FIRST_NAME')]: 'three',
      })
    })

    it('the list shows existing names, also in the session that has just written', async () => {
      fake.put(await there('FOREIGN_NAME'), 'theirs')
      const session = await open()
      await push(session, { FIRST_NAME: 'one' })
      expect((await session.list()).map(({ name }: SyncEntry) => name).sort()).toEqual(
        ['FIRST_NAME', 'FOREIGN_NAME'].map(own),
      )
      expect((await (await open()).list()).length).toBe(2)
    })

    it('a change by somebody else changes the revision, if the destination has revisions', async ({ skip }) => {
      const session = await open()
      const [written] = (await push(session, { FIRST_NAME: 'one' })).written
      if (written?.revision === null) skip('the destination shows nothing that changes with a value')
      expect(await revisionOf(session, own('FIRST_NAME'))).toBe(written?.revision)
      fake.put(await there('FIRST_NAME'), 'changed by a person')
      expect(await revisionOf(await open(), own('FIRST_NAME'))).not.toBe(written?.revision)
    })

    it('a name that is refused fails alone', async ({ skip }) => {
      if (fake.refuse === undefined) skip('the fake refuses no single name')
      fake.put(await there('FOREIGN_NAME'), 'theirs')
      fake.refuse?.(await there('BAD_NAME'))
      const value = `value-${randomBytes(12).toString('hex')}`
      const names = { FIRST_NAME: 'one', BAD_NAME: value, OTHER_NAME: 'three', LAST_NAME: 'four' }
      const { written, failed } = await push(await open(), names)
      expect(written.map(({ name }) => name).sort()).toEqual(['FIRST_NAME', 'LAST_NAME', 'OTHER_NAME'].map(own))
      expect(failed).toEqual([{ name: own('BAD_NAME'), reason: expect.stringMatching(/^[A-Z].*\.$/) }])
      expect(failed[0]?.reason).not.toContain(value)
      expect([...fake.values().keys()].sort()).toEqual(
        await Promise.all(['FIRST_NAME', 'FOREIGN_NAME', 'LAST_NAME', 'OTHER_NAME'].map(there)),
      )
    })

    it('a name that somebody created after the list was read is left alone, if the destination can tell', async () => {
      const session = await open()
      await session.list()
      fake.put(await there('FIRST_NAME'), 'theirs')
      const write = ['FIRST_NAME', 'SECOND_NAME'].map((name) => ({
        name: own(name),
        value: 'ours',
        memo: null,
        isNew: true,
      }))
      const outcome = await session.push({ runId: 'run_1', write, remove: [] })
      const isSeen = !writesOver.includes(tag)
      expect(fake.values().get(await there('FIRST_NAME'))).toBe(isSeen ? 'theirs' : 'ours')
      expect(fake.values().get(await there('SECOND_NAME'))).toBe('ours')
      const failed = { name: own('FIRST_NAME'), reason: expect.stringMatching(/^[A-Z].*\.$/), foreign: true }
      expect(outcome.failed).toEqual(isSeen ? [failed] : [])
    })

    it('a missing name counts as removed', async () => {
      expect(await push(await open(), {}, ['NEVER_THERE'])).toMatchObject({ removed: [own('NEVER_THERE')], failed: [] })
    })

    it('a revoked credential is denied, and a lost destination is missing', async () => {
      fake.fail('credential')
      expect(await failureOf((await open()).verify())).toMatchObject({ reason: 'denied' })
      if (fake.neverMissing) return
      fake.reset()
      fake.fail('missing')
      expect(await failureOf((await open()).verify())).toMatchObject({ reason: 'missing' })
    })

    it('after too many requests, the outcome says how long to wait', async () => {
      fake.fail('rate')
      const outcome = await push(await open(), { FIRST_NAME: 'one' }).catch((error: ProviderError) => error)
      if (outcome instanceof ProviderError) expect(outcome.reason).toBe('rate_limited')
      expect(outcome.retryAfterMs).toBeGreaterThan(0)
    })

    it.for(bends)('the fake refuses a request %s, and stores nothing', async ([, bend], { skip }) => {
      const outbound = bentOutbound(testOutbound({ [tag]: fake.origin }), bend)
      const session = (await syncProvider(tag)).open(fake.connection, outbound)
      const outcome = await push(session, { FIRST_NAME: 'one' }).catch((error: unknown) => error)
      const written = outcome instanceof Error ? [] : (outcome as SyncOutcome).written
      if (!outbound.bent()) skip('the service is sent nothing of the kind')
      expect([written, [...fake.values()]]).toEqual([[], []])
    })

    it('no error contains a value or credential, even if the answer repeats it', async () => {
      fake.fail('echo')
      const value = `value-${randomBytes(12).toString('hex')}`
      const outcome = await push(await open(), { FIRST_NAME: value }).catch((error: ProviderError) => error)
      const told = outcome instanceof Error ? `${outcome.message} ${outcome.stack}` : JSON.stringify(outcome)
      expect(told).not.toContain(value)
      expect(told).not.toContain(fake.connection.credential)
      expect(outcome instanceof ProviderError || outcome.failed.length === 1).toBe(true)
    })
  })
}
