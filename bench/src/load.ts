import { connect } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { Job, Outcome } from './loader.ts'

// Its own process, and much cheaper than any server it asks: prebuilt requests over raw sockets, one buffer for all reads,
// and of each answer only status and length are looked at. A connection asks again when it has been answered.

const unique = '{unique}'
let count = Date.now()

/** Requests as bytes; those that hold `{unique}` are made anew each time, with a name that nobody used before. */
function compile(text: string): () => Buffer | string {
  const [before, after] = text.split(unique)
  if (after === undefined) {
    const bytes = Buffer.from(text)
    return () => bytes
  }
  return () => before + (count++).toString(36).toUpperCase() + after
}

/** Calls `answered` for each answer when all its bytes have come. One that is not a success ends the run. */
function answerReader(answered: () => void): (bytes: Buffer, length: number) => void {
  /** Bytes of the current answer's body that are still to come. */
  let missing = 0
  let inBody = false
  let head = ''
  return (bytes, length) => {
    if (inBody) missing -= length
    else {
      head += bytes.toString('latin1', 0, length)
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      const bodyLength = /content-length: (\d+)/i.exec(head)?.[1]
      if (bodyLength === undefined) throw new Error(`an answer without Content-Length: ${head.slice(0, end)}`)
      if (!head.startsWith('HTTP/1.1 20')) throw new Error(`a request was refused: ${head}`)
      missing = end + 4 + Number(bodyLength) - head.length
      inBody = true
    }
    if (missing > 0) return
    inBody = false
    head = ''
    answered()
  }
}

interface Connection {
  /** Asks again and again, each time when it has been answered, until `note` of an answer says that it was the last. */
  ask(note: (askedAtMs: number, answeredAtMs: number) => boolean): Promise<void>
}

/** Each answer is read before the next: no two connections need a buffer at once. */
const buffer = Buffer.allocUnsafe(256 * 1024)

/** Open once a request of it has been answered: what it takes the server to accept it is no part of a run. */
function open(port: number, next: () => Buffer | string): Promise<Connection> {
  return new Promise((resolve, reject) => {
    let answered = () => resolve({ ask })
    let failed = reject
    const read = answerReader(() => answered())
    const callback = (length: number) => {
      try {
        read(buffer, length)
      } catch (error) {
        socket.destroy(error as Error)
      }
      return true
    }
    const socket = connect({ host: '127.0.0.1', port, onread: { buffer, callback } })
    socket.setNoDelay(true)
    socket.on('connect', () => socket.write(next()))
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
  })
}

/** More at once than a server's backlog holds would wait for a second each. */
const opensAtOnce = 100

async function openAll(job: Job, next: () => Buffer | string): Promise<Connection[]> {
  const connections: Connection[] = []
  while (connections.length < job.connections) {
    const length = Math.min(opensAtOnce, job.connections - connections.length)
    connections.push(...(await Promise.all(Array.from({ length }, () => open(job.port, next)))))
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
