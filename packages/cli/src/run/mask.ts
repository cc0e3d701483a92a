import { createWriteStream } from 'node:fs'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { maskedValue } from '../output.ts'

/** Shorter values are words like `on` and `8080`, which would be cut out of everything. */
const shortestMasked = 4

/** Copies what a program prints to a descriptor of this process, with the values in it masked. */
export async function copyMasked(from: Readable, descriptor: number, values: Iterable<string>): Promise<void> {
  // Not `process.stdout`, which would make a pipe non-blocking for everyone who shares it.
  const to = createWriteStream('', { fd: descriptor, autoClose: false })
  // The reader has gone: closing the pipe tells the program so.
  await pipeline(from, maskStream(values), to).catch(() => {})
}

/**
 * Replaces values by asterisks, also where one is cut in two by the way it was written. A line of a value of several
 * lines counts as a value, because programs print them one by one. Bytes are compared, so text in any encoding passes.
 */
export function maskStream(values: Iterable<string>): Transform {
  const wanted = [...new Set([...values].flatMap((value) => [value, ...value.split('\n')]))]
    .filter((value) => value.length >= shortestMasked)
    .map((value) => Buffer.from(value))
    .sort((a, b) => b.length - a.length)
  let rest: Buffer = Buffer.alloc(0)
  const push = (stream: Transform, isLast: boolean) => {
    const { masked, open } = maskBytes(rest, wanted, isLast)
    rest = open
    stream.push(masked)
  }
  return new Transform({
    transform(chunk, _encoding, done) {
      rest = Buffer.concat([rest, chunk])
      push(this, false)
      done()
    },
    flush(done) {
      push(this, true)
      done()
    },
  })
}

const mask = Buffer.from(maskedValue)

/** What is certain, masked, and the end that may be the beginning of a value. */
function maskBytes(bytes: Buffer, wanted: Buffer[], isLast: boolean): { masked: Buffer; open: Buffer } {
  const parts: Buffer[] = []
  const firsts = new Set(wanted.map((value) => value[0]))
  let from = 0
  for (let at = 0; at < bytes.length; at++) {
    if (!firsts.has(bytes[at])) continue
    const left = bytes.length - at
    const mayBegin = (value: Buffer) => value.length > left && value.subarray(0, left).equals(bytes.subarray(at))
    // The longest one first: a longer value that may still come is waited for.
    const found = wanted.find((value) => {
      return mayBegin(value) ? !isLast : bytes.subarray(at, at + value.length).equals(value)
    })
    if (found === undefined) continue
    parts.push(bytes.subarray(from, at))
    if (found.length > left) return { masked: Buffer.concat(parts), open: bytes.subarray(at) }
    parts.push(mask)
    at += found.length - 1
    from = at + 1
  }
  return { masked: Buffer.concat([...parts, bytes.subarray(from)]), open: Buffer.alloc(0) }
}
