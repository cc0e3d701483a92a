import { type Child, type ChildSettings, startChild } from './child.ts'

export interface PoolSettings extends ChildSettings {
  /** Children that may be there at once. */
  max: number
  /** Of these, the most that work for one owner. */
  maxOfOwner: number
  /** A child that has had no work for so long ends. Default a minute. */
  idleMs?: number
}

/** Children in which adapters run, one job in each at a time. */
export interface Pool {
  /** Runs a job in a child that has worked for nobody but this owner. Waits for a child as long as the signal allows. */
  use<T>(owner: string, job: (child: Child) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Process ids, for tests and for operators. */
  pids(): number[]
  /** Ends every child at once. */
  close(): Promise<void>
}

interface Member {
  child: Child
  owner: string
  isBusy: boolean
  timer: NodeJS.Timeout | undefined
}

interface Waiting {
  owner: string
  resolve(member: Member): void
  reject(error: unknown): void
}

/** What a target has done to a child must not reach the next organization, so a child keeps its owner for life. */
export function openPool({ max, maxOfOwner, idleMs = 60_000, ...settings }: PoolSettings): Pool {
  const members = new Set<Member>()
  const queue: Waiting[] = []
  let isClosed = false

  const start = (owner: string): Member => {
    const member: Member = { child: startChild(settings), owner, isBusy: false, timer: undefined }
    members.add(member)
    void member.child.gone.then(() => {
      clearTimeout(member.timer)
      members.delete(member)
      if (!isClosed) serveQueue()
    })
    return member
  }
  const rest = (member: Member) => {
    member.timer = setTimeout(() => end(member), idleMs)
    member.timer.unref()
  }
  const end = (member: Member) => {
    members.delete(member)
    member.child.kill()
  }
  const find = (test: (member: Member) => boolean) =>
    [...members].find((one) => !one.isBusy && !one.child.isOver && test(one))

  /** The owner's own idle child, or a new one, in the place of somebody's idle child where there are enough. */
  const take = (owner: string): Member | undefined => {
    if ([...members].filter((one) => one.isBusy && one.owner === owner).length >= maxOfOwner) return undefined
    const ready = find((one) => one.owner === owner)
    if (ready === undefined && members.size >= max) {
      const idle = find(() => true)
      if (idle === undefined) return undefined
      end(idle)
    }
    const member = ready ?? start(owner)
    member.isBusy = true
    clearTimeout(member.timer)
    return member
  }
  const serveQueue = () => {
    for (const waiting of [...queue]) {
      const member = take(waiting.owner)
      if (member === undefined) continue
      queue.splice(queue.indexOf(waiting), 1)
      waiting.resolve(member)
    }
  }
  const giveBack = (member: Member) => {
    member.isBusy = false
    if (member.child.isOver) members.delete(member)
    else rest(member)
    if (!isClosed) serveQueue()
  }
  const waitFor = (owner: string, signal: AbortSignal | undefined): Promise<Member> => {
    const { promise, resolve, reject } = Promise.withResolvers<Member>()
    const waiting = { owner, resolve, reject }
    queue.push(waiting)
    signal?.addEventListener('abort', () => {
      const at = queue.indexOf(waiting)
      if (at === -1) return
      queue.splice(at, 1)
      reject(signal.reason)
    })
    return promise
  }

  return {
    async use(owner, job, signal) {
      if (isClosed) throw closed()
      const member = take(owner) ?? (await waitFor(owner, signal))
      try {
        return await job(member.child)
      } finally {
        giveBack(member)
      }
    },
    pids: () => [...members].flatMap(({ child }) => child.pid ?? []),
    async close() {
      isClosed = true
      for (const { reject } of queue.splice(0)) reject(closed())
      const all = [...members]
      for (const member of all) end(member)
      await Promise.all(all.map(({ child }) => child.gone))
    },
  }
}

const closed = () => new Error('the adapters are closed')
