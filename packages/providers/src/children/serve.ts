import { flushCompileCache } from 'node:module'
import { Worker } from 'node:worker_threads'
import type { LeaseTag } from '@skerry/contract/leases/providers'
import type { AccountKind } from '@skerry/contract/rotation/kinds'
import type { LeaseSession } from '../leases/provider.ts'
import { openLeaseTarget } from '../leases/registry.ts'
import { type Outbound, OutboundError } from '../outbound.ts'
import { fromOutbound, ProviderError } from '../provider-error.ts'
import { loadRotation } from '../rotation/registry.ts'
import { readLines } from './lines.ts'
import { type Answer, type Request, residentBytesMax, type Surroundings, swollenMark } from './messages.ts'

/** The part of `Outbound` that a child creates once. The clock and timeouts come with each request. */
type Door = Pick<Outbound, 'connect' | 'send' | 'origin'>

/** Far above the size of any request, because a child trusts its parent. */
const requestBytesMax = 64 * 1024 * 1024

/**
 * Runs an adapter child. It handles the requests of its parent one after another, until the parent closes the pipe. No
 * other process parses data that a target sends.
 * @param doorOf creates the network access from the first line that the parent sends
 */
export function serveAdapters<Settings>(doorOf: (settings: Settings) => Door): void {
  watch(Number(process.argv[2]))
  // A signal to the process group is meant for the parent, which lets the current job finish.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.stdin.once('end', () => process.exit(0))
  const fail = (error: unknown) => {
    process.stdout.write(`${JSON.stringify(faultOf(error))}\n`, () => process.exit(1))
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)

  let door: Door | undefined
  let session: LeaseSession<LeaseTag> | undefined
  const setSession = (next: typeof session) => {
    session = next
  }
  readLines(process.stdin, requestBytesMax, {
    onTooLong: () => process.exit(1),
    onLine(line) {
      const message = JSON.parse(line)
      if (door === undefined) {
        door = doorOf(message as Settings)
        return
      }
      void answerOf(message as Request, { door, session, setSession }).then((answer) => {
        process.stdout.write(`${JSON.stringify(answer)}\n`)
        // The driver is loaded by now. The cache is written here, because a child ends by a kill, which would lose it.
        flushCompileCache()
      })
    },
  })
}

function watch(parentPid: number): void {
  const limits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 }
  const workerData = { parentPid, residentBytesMax, swollenMark }
  new Worker(new URL('./watchdog.js', import.meta.url), { workerData, resourceLimits: limits }).unref()
}

interface State {
  door: Door
  session: LeaseSession<LeaseTag> | undefined
  setSession(next: LeaseSession<LeaseTag> | undefined): void
}

async function answerOf(request: Request, state: State): Promise<Answer> {
  try {
    return { value: (await perform(request, state)) ?? null }
  } catch (error) {
    const refusal = error instanceof OutboundError ? fromOutbound(error) : error
    if (!(refusal instanceof ProviderError)) return faultOf(error)
    const { reason, message, retryAfterMs } = refusal
    return { error: { reason, message, retryAfterMs } }
  }
}

async function perform(request: Request, { door, session, setSession }: State): Promise<unknown> {
  if (request.op === 'open') {
    setSession(await openLeaseTarget(request.tag, request.target, outboundOf(door, request.around)))
    return
  }
  if (request.op === 'account') return onAccount(request, outboundOf(door, request.around))
  if (session === undefined) throw new Error('no session is open')
  switch (request.op) {
    case 'verify':
      return session.verify()
    case 'create': {
      const { lease } = request
      return session.create({ ...lease, expiresAt: new Date(lease.expiresAt) })
    }
    case 'revoke':
      return session.revoke(request.lease)
    case 'close':
      setSession(undefined)
      return session.close()
  }
}

async function onAccount(request: Extract<Request, { op: 'account' }>, outbound: Outbound): Promise<unknown> {
  const adapter = await loadRotation<AccountKind>(request.kind)
  const { account } = request
  if (request.call === 'change') return adapter.change(account, request.password, request.keep, outbound)
  if (request.call === 'signsIn') return adapter.signsIn(account, request.password, outbound)
  return adapter.verify(account, outbound)
}

/** Continues the parent's clock from the time that the request carries. */
function outboundOf(door: Door, { nowMs, answerMs, statementMs }: Surroundings): Outbound {
  const begunMs = performance.now()
  return {
    ...door,
    now: () => new Date(nowMs + performance.now() - begunMs),
    ...(answerMs === undefined ? {} : { answerMs }),
    ...(statementMs === undefined ? {} : { statementMs }),
  }
}

function faultOf(error: unknown): Answer {
  const { name = 'Error', message = '', stack = '' } = (error ?? {}) as Partial<Error>
  // A stack begins with the message. A target can write lines into the message that look like frames.
  const frames = stack.slice(stack.indexOf(message) + message.length).split('\n')
  const plain = frames.filter((line) => /^\s+at /.test(line)).map((line) => line.trim().slice(0, 200))
  return { fault: { name: String(name).slice(0, 100), frames: plain.slice(0, 20) } }
}
