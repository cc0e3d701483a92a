import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { redactor, redactStream } from '@skerry/providers/redaction/redactor'
import { describe, expect, it } from 'vitest'
import { decompression, decompressionLimits } from './decompress.ts'

const value = 'p4ssword-of-the-upstream'
const body = Buffer.from(`${'a line of text\n'.repeat(5000)}${value}${'and more\n'.repeat(5000)}`)

const encoders = {
  gzip: promisify(zlib.gzip),
  'x-gzip': promisify(zlib.gzip),
  br: promisify(zlib.brotliCompress),
  deflate: promisify(zlib.deflate),
  zstd: promisify(zlib.zstdCompress),
} satisfies Record<string, (bytes: Buffer) => Promise<Buffer>>

/** Returns the beginning of the output, and its length. */
async function through(encoding: string | undefined, bytes: Buffer, limits = decompressionLimits, chunkBytes = 1000) {
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, at) =>
    bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes),
  )
  const one = redactor([{ name: 'KEY', value }])
  const out: Buffer[] = []
  let length = 0
  const sink = new Writable({
    write: (chunk: Buffer, _, done) => {
      length += chunk.length
      if (length < 1_000_000) out.push(chunk)
      done()
    },
  })
  await pipeline([Readable.from(chunks), ...decompression(encoding, limits), redactStream(one), sink])
  return { text: Buffer.concat(out).toString(), length }
}

describe('a compressed body', () => {
  const clean = body.toString().replace(value, '[redacted by skerry: KEY]')

  it.each(Object.entries(encoders))('in %s is searched', async (encoding, compress) => {
    expect((await through(encoding, await compress(body))).text).toBe(clean)
    expect((await through(encoding.toUpperCase(), await compress(body), decompressionLimits, 1)).text).toBe(clean)
  })

  it('is searched without compression, with two layers, and in the raw format that some servers call deflate', async () => {
    for (const encoding of [undefined, '', 'identity', ' identity ,'])
      expect((await through(encoding, body)).text).toBe(clean)
    expect((await through('br, gzip', zlib.gzipSync(zlib.brotliCompressSync(body)))).text).toBe(clean)
    expect((await through('deflate', zlib.deflateRawSync(body))).text).toBe(clean)
    expect((await through('deflate', Buffer.alloc(0))).text).toBe('')
  })

  it.each(['compress', 'gzip, sdch', 'constructor', 'gzip, gzip, gzip'])('in %s is refused', (encoding) => {
    expect(() => decompression(encoding)).toThrow(expect.objectContaining({ reason: 'unknown_encoding' }))
  })

  it.each(['gzip', 'br', 'deflate', 'zstd'] as const)(
    'that is damaged or cut off ends in an error: %s',
    async (encoding) => {
      const compressed = await encoders[encoding](body)
      await expect(through(encoding, compressed.subarray(0, compressed.length - 20))).rejects.toThrow()
      await expect(through(encoding, Buffer.from('no compressed text at all'))).rejects.toThrow()
    },
  )
})

describe('a decompression bomb', () => {
  const zeros = Buffer.alloc(16 * 1024 * 1024)

  it.each(['gzip', 'br', 'deflate', 'zstd'] as const)('of %s is stopped early', async (encoding) => {
    const bomb = await encoders[encoding](zeros)
    expect(zeros.length / bomb.length).toBeGreaterThan(500)
    await expect(through(encoding, bomb)).rejects.toMatchObject({ reason: 'too_large' })
  })

  it('in two layers is stopped, and a slow one is stopped at the size limit', async () => {
    await expect(through('gzip, gzip', zlib.gzipSync(zlib.gzipSync(zeros)))).rejects.toMatchObject({
      reason: 'too_large',
    })
    const limits = { ...decompressionLimits, maxBytes: 10_000 }
    await expect(through('gzip', zlib.gzipSync(body), limits)).rejects.toMatchObject({ reason: 'too_large' })
  })

  it('does not include text with ordinary repetition', async () => {
    const text = Buffer.from(Array.from({ length: 400_000 }, (_, at) => `{"id":${at},"name":"the same"},`).join(''))
    expect((await through('gzip', zlib.gzipSync(text))).length).toBe(text.length)
  })
})
