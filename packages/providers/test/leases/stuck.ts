import { afterEach, expect, it } from 'vitest'
import type { LeaseSession } from '../../src/leases/provider.ts'
import { openLeaseTarget } from '../../src/leases/registry.ts'
import { type TestOutbound, testOutbound } from '../outbound.ts'
import type { Scene, Use } from './conformance.ts'

type Tag = 'postgres' | 'mysql'

/** A scene in which an admin of the database can block changes of accounts. */
export interface Blockable {
  /** Blocks every statement that creates or changes an account, until the returned function is called. */
  block(): Promise<() => Promise<void>>
  /** How many statements wait for that. */
  waiting(): Promise<number>
}

/** If one side must give up first, the other side waits `long`, so that there is no race. */
export const patienceMs = { brief: 2000, ample: 15_000, long: 300_000 }

export interface Stuck<T extends Tag> {
  /** Opens a session that waits long for an answer. Its database ends a statement after this time. */
  open(statementMs: number): Promise<{ session: LeaseSession<T>; outbound: TestOutbound }>
  /** Blocks every change of an account until `unblock`, or until the end of the test. */
  block(): Promise<void>
  unblock(): Promise<void>
}

/** Tests for a change of an account that is blocked while it runs. */
export function stuckStatements<T extends Tag, S extends Scene<T> & Blockable>(
  tag: T,
  { scene, mint }: Pick<Use<T, S>, 'scene' | 'mint'>,
): Stuck<T> {
  const held: (() => Promise<void>)[] = []
  const unblock = async () => {
    for (const free of held.splice(0)) await free()
  }
  const block = async () => {
    held.push(await scene().block())
  }
  afterEach(unblock)

  async function createAnother() {
    const session = await openLeaseTarget<T>(tag, scene().target('readonly'), testOutbound({}, patienceMs.long))
    await session.create(mint().lease)
    await session.close()
  }

  async function open(statementMs: number) {
    const outbound = Object.assign(testOutbound({}, patienceMs.long), { statementMs })
    // Creates everything that only the first lease creates, however long that takes.
    await createAnother()
    return { session: await openLeaseTarget<T>(tag, scene().target('readonly'), outbound), outbound }
  }

  it('an account whose creation is blocked too long is refused, and does not appear later', async () => {
    const { session } = await open(patienceMs.brief)
    const { lease, name } = mint()
    await block()
    await expect(session.create(lease)).rejects.toMatchObject({ reason: 'failed' })
    expect(await scene().waiting()).toBe(0)
    await unblock()
    expect(await scene().exists(name)).toBe(false)
    await session.close()
    await createAnother()
  })

  it('an account whose connection is cut while its creation is blocked does not appear later', async () => {
    // Long enough that the test sees the statement wait before the database ends it.
    const { session, outbound } = await open(patienceMs.ample)
    const { lease, name } = mint()
    await block()
    const refused = expect(session.create(lease)).rejects.toMatchObject({ reason: 'unreachable' })
    await expect.poll(() => scene().waiting()).toBe(1)
    for (const socket of outbound.sockets) socket.destroy()
    await refused
    await expect.poll(() => scene().waiting()).toBe(0)
    await unblock()
    expect(await scene().exists(name)).toBe(false)
  })

  return { open, block, unblock }
}
