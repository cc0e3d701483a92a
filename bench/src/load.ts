import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { connect as connectSecurely } from 'node:tls'
import type { Job, Outcome, Tunnel } from './loader.ts'

// The load generator runs in its own process and needs much less processor time than any server. It sends prebuilt
// requests over raw sockets, has one buffer for all reads, and checks only status and length of each answer. Each
// connection sends its next request when it has got the answer.

const unique = '{unique}'
let count = Date.now()

/** Compiles a request to bytes. A request with `{unique}` is made again each time, with a name not used before. */
function compile(text: string): () => Buffer | string {
  const [before, after] = text.split(unique)
  if (after === undefined) {
    const bytes = Buffer.from(text)
    return () => bytes
  }
  return () => before + (count++).toString(36).toUpperCase() + after
}

/** The last chunk of an answer. No body of a figure contains these bytes. */
const lastChunk = '\r\n0\r\n\r\n'

/** Calls `answered` when all bytes of an answer have arrived. An answer that is not a success ends the run. */
function answerReader(answered: () => void): (bytes: Buffer, length: number) => void {
  /** The missing bytes of the current answer's body, or null if it comes in chunks. */
  let missing: number | null = 0
  let inBody = false
  let head = ''
  let tail = ''
  const isLast = (bytes: Buffer, length: number) => {
    tail = (tail + bytes.toString('latin1', Math.max(0, length - lastChunk.length), length)).slice(-lastChunk.length)
    return tail === lastChunk
  }
  return (bytes, length) => {
    if (!inBody) {
      head += bytes.toString('latin1', 0, length)
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      if (!head.startsWith('HTTP/1.1 20')) throw new Error(`a request was refused: ${head}`)
      missing = missingAfter(head, end + 4)
      inBody = true
    } else if (missing !== null) missing -= length
    if (missing === null ? !isLast(bytes, length) : missing > 0) return
    inBody = false
    head = ''
    tail = ''
    answered()
  }
}

function missingAfter(head: string, end: number): number | null {
  const bodyLength = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (bodyLength !== undefined) return end + Number(bodyLength) - head.length
  if (/\r\ntransfer-encoding: chunked\r\n/i.test(head)) return null
  throw new Error(`an answer without Content-Length: ${head.slice(0, end)}`)
}

interface Connection {
  /** Sends one request after the other, each when the last was answered, until `note` of an answer returns true. */
  ask(note: (askedAtMs: number, answeredAtMs: number) => boolean): Promise<void>
}

/** One buffer for all connections, because each read is handled before the next one. */
const buffer = Buffer.allocUnsafe(256 * 1024)

type Take = (bytes: Buffer, length: number) => void

async function dial(port: number, take: Take): Promise<Socket> {
  const callback = (length: number) => {
    take(buffer, length)
    return true
  }
  const socket = connect({ host: '127.0.0.1', port, onread: { buffer, callback } })
  await once(socket, 'connect')
  return socket.setNoDelay(true)
}

async function dialThrough({ port, to, ca }: Tunnel, take: Take): Promise<Socket> {
  const plain = connect({ host: '127.0.0.1', port }).setNoDelay(true)
  plain.write(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n\r\n`)
  const [head] = await once(plain, 'data')
  if (!String(head).startsWith('HTTP/1.1 200')) throw new Error(`no tunnel: ${head}`)
  const socket = connectSecurely({ socket: plain, servername: 'localhost', ca })
  await once(socket, 'secureConnect')
  return socket.on('data', (bytes) => take(bytes, bytes.length))
}

/** Opens a connection and waits for a first answer, so that the time to accept it is not part of a run. */
async function open({ port, tunnel }: Job, next: () => Buffer | string): Promise<Connection> {
  const { promise, resolve, reject } = Promise.withResolvers<Connection>()
  let answered = () => resolve({ ask })
  let failed = reject
  const read = answerReader(() => answered())
  const take: Take = (bytes, length) => {
    try {
      read(bytes, length)
    } catch (error) {
      socket.destroy(error as Error)
    }
  }
  const socket = await (tunnel ? dialThrough(tunnel, take) : dial(port, take))
  socket.on('error', (error) => failed(error))
  socket.on('close', () => failed(new Error('the server closed a connection')))
  const ask: Connection['ask'] = (note) =>
    new Promise((done, notDone) => {
      failed = notDone
      let askedAtMs = performance.now()
      answered = () => {
        const nowMs = performance.now()
        if (note(askedAtMs, nowMs)) {
          done()
          return void socket.destroy()
        }
        askedAtMs = nowMs
        socket.write(next())
      }
      if (socket.destroyed) notDone(new Error('the server closed a connection'))
      socket.write(next())
    })
  socket.write(next())
  return promise
}

/** If more connections were opened at once than a server's backlog holds, each of them would wait for a second. */
const opensAtOnce = 100

async function openAll(job: Job, next: () => Buffer | string): Promise<Connection[]> {
  const connections: Connection[] = []
  while (connections.length < job.connections) {
    const length = Math.min(opensAtOnce, job.connections - connections.length)
    connections.push(...(await Promise.all(Array.from({ length }, () => open(job, next)))))
  }
  return connections
}

async function run(job: Job): Promise<Outcome> {
  const requests = job.requests.map(compile)
  const next = () => (requests[Math.floor(Math.random() * requests.length)] as () => Buffer | string)()
  const connections = await openAll(job, next)
  const tookMs: number[] = []
  const startedAt = performance.now()
  const endsAt = startedAt + job.ms
  const note = (askedAtMs: number, answeredAtMs: number) => {
    tookMs.push(answeredAtMs - askedAtMs)
    return answeredAtMs >= endsAt
  }
  await Promise.all(connections.map((connection) => connection.ask(note)))
  const perSecond = (tookMs.length * 1000) / (performance.now() - startedAt)
  tookMs.sort((a, b) => a - b)
  return { answered: tookMs.length, perSecond, p99Ms: tookMs[Math.ceil(tookMs.length * 0.99) - 1] as number }
}

process.on('message', (job: Job) => {
  run(job).then(
    (outcome) => process.send?.(outcome),
    (error: Error) => process.send?.({ error: error.message }),
  )
})
