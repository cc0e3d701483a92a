import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { run } from '../../proxy/test/curl.ts'
import { forward, lookUpHere, scratch, startUpstream, startWorld } from '../../proxy/test/world.ts'
import { isQuick } from '../../server/test/extent.ts'
import { openChildEnvironment } from '../src/proxy/child-environment.ts'

// Unmodified clients download objects with a secret in their requests, in the environment that `skerry proxy run`
// makes.

const host = 'files.example.test'
const bearer = 'Authorization: Bearer {{skerry:API_KEY}}'
const rule = `[[forward.host]]\nmatch = "${host}"\nallow = ["API_KEY"]\nin = ["header"]\n`

async function startClientWorld(listener: RequestListener) {
  const upstream = await startUpstream(listener, { host })
  const values = { API_KEY: 'planted-5d1c7e-value' }
  const world = await startWorld(forward(rule), values, { upstreamCa: upstream.ca, lookUp: lookUpHere })
  const { env, remove } = await openChildEnvironment(world, { PATH: process.env.PATH })
  onTestFinished(remove)
  return { upstream, run: (file: string, ...args: string[]) => run(file, args, { env, cwd: world.folder }) }
}

const object = gzipSync(randomBytes(2_000_000))
const head = { 'content-encoding': 'gzip', 'content-length': String(object.length), etag: '"stored"' }

it.skipIf(isQuick)('curl gets the headers of a compressed object, and the object as it is stored', async () => {
  const { upstream, run } = await startClientWorld((_, response) => response.writeHead(200, head).end(object))
  const asked = await run('curl', '-sSI', '-H', bearer, upstream.origin)
  expect(asked.stderr).toBe('')
  expect(asked.stdout.toLowerCase()).toContain(`content-length: ${object.length}\r\n`)
  expect(asked.stdout.toLowerCase()).toContain('content-encoding: gzip\r\n')
  const folder = await scratch()
  const saved = join(folder, 'object.gz')
  expect((await run('curl', '-sS', '-H', bearer, '-o', saved, upstream.origin)).stderr).toBe('')
  expect((await readFile(saved)).equals(object)).toBe(true)
})

it.skipIf(isQuick)('the AWS SDK for JavaScript gets the headers and the body of a compressed object', async () => {
  const { upstream, run } = await startClientWorld((_, response) => response.writeHead(200, head).end(object))
  const sdk = import.meta.resolve('@aws-sdk/client-s3')
  // The SDK makes its own HTTP agents, which ignore the proxy variables by default.
  const program = `
    import { Agent } from 'node:https'
    import { GetObjectCommand, HeadObjectCommand, S3Client } from ${JSON.stringify(fileURLToPath(sdk))}
    const client = new S3Client({ endpoint: ${JSON.stringify(upstream.origin)}, region: 'eu-central-1', forcePathStyle: true,
      requestHandler: { httpsAgent: new Agent({ proxyEnv: process.env }) },
      credentials: { accessKeyId: 'A', secretAccessKey: 'B' } })
    client.middlewareStack.add((next) => (args) => { args.request.headers.a = '{{skerry:API_KEY}}'; return next(args) }, { step: 'build' })
    const asked = { Bucket: 'bucket', Key: 'object' }
    const { ContentLength, ContentEncoding } = await client.send(new HeadObjectCommand(asked))
    const { Body } = await client.send(new GetObjectCommand(asked))
    console.log(ContentLength, ContentEncoding, (await Body.transformToByteArray()).length)`
  const file = join(await scratch(), 'program.mjs')
  await writeFile(file, program)
  const { stdout, stderr } = await run(process.execPath, file)
  expect(stdout, stderr).toBe(`${object.length} gzip ${object.length}\n`)
  expect(upstream.got.map(({ headers }) => headers.a)).toEqual(Array(2).fill('planted-5d1c7e-value'))
})
