import { type Child, type ChildSettings, startChild } from './child.ts'

export interface PoolSettings extends ChildSettings {
  /** The most children that may exist at once. */
  max: number
  /** The most children that may work for one owner at once. */
  maxOfOwner: number
  /**
   * The number of children reserved for owners that have none. Another owner gets a further child only if more are
   * free. Default 0.
   */
  reserved?: number
  /**
   * An owner counts as slow if one of its jobs used a child for this long and then failed. A slow owner has one child
   * at a time, and other owners are served first. Default: never.
   */
  slowMs?: number
  /** How long an owner counts as slow. Default 10 minutes. */
  slowRestMs?: number
  /** The most jobs of one owner that may wait for a child. Default 32. */
  waitingMax?: number
  /** A child that has been idle for this long ends. Default 1 minute. */
  idleMs?: number
}

/** Children in which adapters run, one job in each at a time. */
export interface Pool {
  /**
   * Runs a job in a child that has only ever worked for this owner. Throws `PoolBusyError` if no child is free within
   * `waitMs`, or if too many jobs of the owner wait.
   */
  use<T>(owner: string, job: (child: Child) => Promise<T>, waitMs?: number): Promise<T>
  /** Process ids, for tests and operators. */
  pids(): number[]
  /** Ends every child at once. */
  close(): Promise<void>
}

export class PoolBusyError extends Error {}

const waitMsDefault = 20_000

interface Member {
  child: Child
  owner: string
  isBusy: boolean
  /** When its current or last job began, in milliseconds since this process started. */
  busySinceMs: number
  timer: NodeJS.Timeout | undefined
}

interface Waiting {
  owner: string
  resolve(member: Member): void
  reject(error: unknown): void
  timer: NodeJS.Timeout
}

/** A child works for one owner for its whole life, so damage done by a target cannot reach the next organization. */
export function openPool(all: PoolSettings): Pool {
  const { max, maxOfOwner, reserved = 0, waitingMax = 32, idleMs = 60_000, ...settings } = all
  const slow = openSlowOwners(all)
  const members = openMembers(settings, idleMs, () => serveQueue())
  const queue = openQueue(waitingMax)
  let isClosed = false

  const mayHaveAnother = (owner: string): boolean => {
    const own = members.busyOf(owner)
    if (own === 0) return true
    return own < (slow.has(owner) ? 1 : maxOfOwner) && max - members.busy().length > reserved
  }
  /** Takes the owner's own idle child or starts a new one. If the pool is full, it first ends any idle child. */
  const take = (owner: string): Member | undefined => {
    if (!mayHaveAnother(owner)) return undefined
    const ready = members.findIdle((one) => one.owner === owner)
    if (ready === undefined && members.size() >= max) {
      const idle = members.findIdle(() => true)
      if (idle === undefined) return undefined
      members.end(idle)
    }
    const member = ready ?? members.start(owner)
    member.isBusy = true
    member.busySinceMs = performance.now()
    clearTimeout(member.timer)
    return member
  }
  /**
   * Gives free children to waiting jobs. Owners with the fewest busy children come first, slow owners last. The jobs of
   * one owner run oldest first.
   */
  const serveQueue = () => {
    if (isClosed) return
    const order = ({ owner }: Waiting) => members.busyOf(owner) + (slow.has(owner) ? maxOfOwner : 0)
    for (const waiting of queue.all().sort((a, b) => order(a) - order(b))) {
      try {
        const member = take(waiting.owner)
        if (member === undefined) continue
        queue.leave(waiting)
        waiting.resolve(member)
      } catch (error) {
        queue.leave(waiting)
        waiting.reject(error)
      }
    }
  }

  return {
    async use(owner, job, waitMs = waitMsDefault) {
      if (isClosed) throw closed()
      const member = take(owner) ?? (await queue.wait(owner, waitMs))
      try {
        return await job(member.child)
      } catch (error) {
        slow.noteFailure(member)
        throw error
      } finally {
        members.giveBack(member)
        serveQueue()
      }
    },
    pids: members.pids,
    async close() {
      isClosed = true
      for (const waiting of queue.all()) {
        queue.leave(waiting)
        waiting.reject(closed())
      }
      await members.endAll()
    },
  }
}

/** The children of the pool. `onGone` is called after a child has ended. */
function openMembers(settings: ChildSettings, idleMs: number, onGone: () => void) {
  const members = new Set<Member>()
  const busy = () => [...members].filter((one) => one.isBusy)
  const end = (member: Member) => {
    members.delete(member)
    member.child.kill()
  }
  return {
    busy,
    end,
    size: () => members.size,
    busyOf: (owner: string) => busy().filter((one) => one.owner === owner).length,
    pids: () => [...members].flatMap(({ child }) => child.pid ?? []),
    findIdle: (test: (member: Member) => boolean) =>
      [...members].find((one) => !one.isBusy && !one.child.isOver && test(one)),
    start(owner: string): Member {
      const member: Member = { child: startChild(settings), owner, isBusy: false, busySinceMs: 0, timer: undefined }
      members.add(member)
      void member.child.gone.then(() => {
        clearTimeout(member.timer)
        members.delete(member)
        onGone()
      })
      return member
    },
    giveBack(member: Member) {
      member.isBusy = false
      if (member.child.isOver) return void members.delete(member)
      member.timer = setTimeout(() => end(member), idleMs)
      member.timer.unref()
    },
    async endAll() {
      const left = [...members]
      for (const member of left) end(member)
      await Promise.all(left.map(({ child }) => child.gone))
    },
  }
}

/** The jobs that wait for a child, oldest first. */
function openQueue(waitingMax: number) {
  const queue: Waiting[] = []
  const leave = (waiting: Waiting) => {
    const at = queue.indexOf(waiting)
    if (at !== -1) queue.splice(at, 1)
    clearTimeout(waiting.timer)
  }
  return {
    leave,
    all: () => [...queue],
    wait(owner: string, waitMs: number): Promise<Member> {
      const isFull = queue.filter((one) => one.owner === owner).length >= waitingMax
      if (waitMs === 0 || isFull) throw new PoolBusyError('no child is free')
      const { promise, resolve, reject } = Promise.withResolvers<Member>()
      const giveUp = () => {
        leave(waiting)
        reject(new PoolBusyError('no child is free'))
      }
      const waiting: Waiting = { owner, resolve, reject, timer: setTimeout(giveUp, waitMs) }
      queue.push(waiting)
      return promise
    },
  }
}

interface SlowOwners {
  /** Call it when a job has failed, while its child is still busy. */
  noteFailure(member: Member): void
  has(owner: string): boolean
}

/**
 * Remembers the owners whose targets do not answer, because each of their jobs uses a child until its deadline. A long
 * job that succeeds, such as ending many leases, does not count.
 */
function openSlowOwners({ slowMs = Number.POSITIVE_INFINITY, slowRestMs = 600_000 }: PoolSettings): SlowOwners {
  const untilMs = new Map<string, number>()
  return {
    noteFailure({ owner, busySinceMs }) {
      const nowMs = performance.now()
      for (const [one, endMs] of untilMs) if (endMs <= nowMs) untilMs.delete(one)
      if (nowMs - busySinceMs >= slowMs) untilMs.set(owner, nowMs + slowRestMs)
    },
    has: (owner) => (untilMs.get(owner) ?? 0) > performance.now(),
  }
}

const closed = () => new Error('the adapters are closed')
