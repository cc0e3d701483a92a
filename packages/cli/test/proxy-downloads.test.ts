import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { run } from '../../proxy/test/curl.ts'
import { forward, lookUpHere, scratch, startUpstream, startWorld } from '../../proxy/test/world.ts'
import { isQuick } from '../../server/test/extent.ts'
import { surroundingsOf } from '../src/proxy/surroundings.ts'

// Unmodified clients, in the surroundings of `skerry proxy run`, download and upload with a secret in their requests.

const host = 'files.example.test'
const bearer = 'Authorization: Bearer {{skerry:API_KEY}}'
const rule = `[[forward.host]]\nmatch = "${host}"\nallow = ["API_KEY"]\nin = ["header"]\n`

async function startClientWorld(listener: RequestListener) {
  const upstream = await startUpstream(listener, { host })
  const values = { API_KEY: 'planted-5d1c7e-value' }
  const world = await startWorld(forward(rule), values, { upstreamCa: upstream.ca, lookUp: lookUpHere })
  const { env, remove } = await surroundingsOf(world, { PATH: process.env.PATH })
  onTestFinished(remove)
  return { upstream, run: (file: string, ...args: string[]) => run(file, args, { env, cwd: world.folder }) }
}

const object = gzipSync(randomBytes(2_000_000))
const head = { 'content-encoding': 'gzip', 'content-length': String(object.length), etag: '"stored"' }

it.skipIf(isQuick)('curl gets the head of a packed object, and the object as it is stored', async () => {
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

it.skipIf(isQuick)('the AWS SDK for JavaScript gets head and body of a packed object', async () => {
  const { upstream, run } = await startClientWorld((_, response) => response.writeHead(200, head).end(object))
  const sdk = import.meta.resolve('@aws-sdk/client-s3')
  // The SDK makes agents of its own, which look at no variable unless they are told to.
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

it.skipIf(isQuick)('git pushes more than the body of a filled request may have', async () => {
  const folder = await scratch()
  const bare = join(folder, 'remote.git')
  const { upstream, run } = await startClientWorld(() => {})
  upstream.server.removeAllListeners('request').on('request', gitBackend(folder))
  const work = join(folder, 'work')
  await mkdir(work)
  await writeFile(join(work, 'large'), randomBytes(4_000_000))
  const git = (...args: string[]) =>
    run('git', '-C', work, '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args)
  await run('git', 'init', '-q', '--bare', '-b', 'main', bare)
  await run('git', '-C', bare, 'config', 'http.receivepack', 'true')
  await git('init', '-q', '-b', 'main')
  await git('add', '.')
  await git('commit', '-qm', 'Add a large file')
  const extra = ['-c', `http.extraHeader=${bearer}`]
  const pushed = await git(...extra, 'push', '-q', `${upstream.origin}/remote.git`, 'main')
  expect(pushed).toMatchObject({ code: 0, stderr: '' })
  expect((await run('git', '-C', bare, 'cat-file', '-s', 'main:large')).stdout).toBe('4000000\n')
  const cloned = await run('git', ...extra, 'clone', '-q', `${upstream.origin}/remote.git`, join(folder, 'clone'))
  expect(cloned).toMatchObject({ code: 0, stderr: '' })
})

/** Git's own server, which takes requests with the secret alone. */
const gitBackend =
  (root: string): RequestListener =>
  (request, response) => {
    if (request.headers.authorization !== 'Bearer planted-5d1c7e-value') return void response.writeHead(401).end()
    const [path = '', query = ''] = request.url!.split('?')
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        REMOTE_USER: 'a',
        REQUEST_METHOD: request.method,
        PATH_INFO: path,
        QUERY_STRING: query,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        CONTENT_LENGTH: request.headers['content-length'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      },
    })
    request.pipe(backend.stdin)
    const chunks: Buffer[] = []
    backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    backend.on('close', () => {
      const all = Buffer.concat(chunks)
      const end = all.indexOf('\r\n\r\n')
      const lines = all.toString('latin1', 0, end).split('\r\n')
      const headers = lines.map((line) => line.split(': ') as [string, string])
      const status = Number.parseInt(headers.find(([name]) => name === 'Status')?.[1] ?? '200', 10)
      response.writeHead(status, headers.filter(([name]) => name !== 'Status').flat()).end(all.subarray(end + 4))
    })
  }
