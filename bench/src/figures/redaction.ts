import { randomBytes } from 'node:crypto'
import { Readable, Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { redactor, redactStream } from '../../../packages/providers/src/redaction/redactor.ts'
import type { Bench } from '../figure.ts'
import { median, say } from '../measure.ts'

const megabytes = 100
const chunkBytes = 65_536
const chunkCount = (megabytes * 1_000_000) / chunkBytes

/** The time to copy 100 MB of JSON, divided by the time to redact twenty secrets in it, which occur now and then. */
export async function redaction({ plan }: Bench): Promise<number> {
  const secrets = Array.from({ length: 20 }, (_, at) => ({ name: `S${at}`, value: randomBytes(24).toString('base64') }))
  const rows = Array.from({ length: 5000 }, (_, id) => {
    const text = id % 100 === 0 ? secrets[id % 20]!.value : randomBytes(12).toString('base64')
    return { id, url: `https://api.example.com/v1/items/${id}?a=%2F`, text, note: 'some words of text' }
  })
  const body = Buffer.from(JSON.stringify(rows))
  const run = async (stage: Transform): Promise<number> => {
    const startedAt = performance.now()
    await pipeline(Readable.from(chunksOf(body)), stage, new Writable({ write: (_, __, done) => done() }))
    return performance.now() - startedAt
  }
  const rounds: { ours: number; floor: number }[] = []
  for (let round = 0; round < Math.min(15, plan.rounds) + 1; round++)
    rounds.push({ floor: await run(copying()), ours: await run(redactStream(redactor(secrets))) })
  // The first round does not count, because the code is compiled during it.
  const [floor, ours] = [
    median(rounds.slice(1).map((one) => one.floor)),
    median(rounds.slice(1).map((one) => one.ours)),
  ]
  const resident = Math.round(process.memoryUsage().rss / 1_000_000)
  say(`  redacted ${perSecond(ours)} MB/s; copied ${perSecond(floor)} MB/s; ${resident} MB resident`)
  return floor / ours
}

const perSecond = (ms: number) => ((megabytes * 1000) / ms).toFixed(0)

const copying = () => new Transform({ transform: (chunk: Buffer, _, done) => done(null, Buffer.from(chunk)) })

function* chunksOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < chunkCount; at++) {
    const from = (at * 977) % (body.length - chunkBytes)
    yield body.subarray(from, from + chunkBytes)
  }
}
