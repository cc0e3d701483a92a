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

interface Tally {
  answered: number
  refused: number
  firstRefusal: string | null
}

function ask(job: Job, next: () => Buffer | string, tally: Tally, isOver: () => boolean): Promise<void> {
  const buffer = Buffer.allocUnsafe(64 * 1024)
  /** Bytes of the current answer's body that are still to come. */
  let missing = 0
  let inBody = false
  let head = ''
  return new Promise((resolve, reject) => {
    const answered = () => {
      tally.answered++
      inBody = false
      head = ''
      if (isOver()) socket.destroy()
      else socket.write(next())
    }
    const read = (length: number) => {
      if (inBody) {
        missing -= length
        if (missing <= 0) answered()
        return true
      }
      head += buffer.toString('latin1', 0, length)
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return true
      const bodyLength = /content-length: (\d+)/i.exec(head)?.[1]
      if (bodyLength === undefined) {
        socket.destroy(new Error(`an answer without Content-Length: ${head.slice(0, end)}`))
        return true
      }
      if (!head.startsWith('HTTP/1.1 20')) {
        tally.refused++
        tally.firstRefusal ??= head
      }
      missing = end + 4 + Number(bodyLength) - head.length
      inBody = true
      if (missing <= 0) answered()
      return true
    }
    const socket = connect({ host: '127.0.0.1', port: job.port, onread: { buffer, callback: read } })
    socket.setNoDelay(true)
    socket.on('connect', () => socket.write(next()))
    socket.on('error', reject)
    socket.on('close', () => (isOver() ? resolve() : reject(new Error('the server closed a connection'))))
  })
}

async function run(job: Job): Promise<Outcome> {
  const requests = job.requests.map(compile)
  const next = () => (requests[Math.floor(Math.random() * requests.length)] as () => Buffer | string)()
  const tally: Tally = { answered: 0, refused: 0, firstRefusal: null }
  const startedAt = performance.now()
  const endsAt = startedAt + job.ms
  await Promise.all(
    Array.from({ length: job.connections }, () => ask(job, next, tally, () => performance.now() >= endsAt)),
  )
  if (tally.refused > 0) throw new Error(`${tally.refused} requests were refused: ${tally.firstRefusal}`)
  return { answered: tally.answered, perSecond: (tally.answered * 1000) / (performance.now() - startedAt) }
}

process.on('message', (job: Job) => {
  run(job).then(
    (outcome) => process.send?.(outcome),
    (error: Error) => process.send?.({ error: error.message }),
  )
})
