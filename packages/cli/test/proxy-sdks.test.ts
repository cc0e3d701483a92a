import { randomBytes } from 'node:crypto'
import type { RequestListener, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Key, startStrictAws, type Taken } from '../../proxy/test/strict-aws.ts'
import { certificateFor } from '../../proxy/test/world.ts'
import { bearer, host, pythonWith, runBehind, signingRules, startBehind } from './behind-proxy.ts'
import { gitBackend } from './git-backend.ts'
import { openProxied, type Proxied, planted } from './proxied.ts'

// Published SDKs and tools run unmodified behind the real `skerry proxy run`. The upstreams check the requests that
// reach them.

const mark = '[redacted by skerry: API_KEY]'
const placeholder = '{{skerry:API_KEY}}'
const real: Key = { accessKeyId: 'AKIDREAL', secretAccessKey: 'the/real+secret' }

let proxied: Proxied
beforeAll(async () => {
  proxied = await openProxied({ cold: true })
  const set = (name: string, value: string) => `printf %s '${value}' | skerry secrets set ${name}`
  await proxied.alice.ok(`${set('AWS_KEY_ID', real.accessKeyId)} && ${set('AWS_KEY', real.secretAccessKey)}`)
})
afterAll(() => proxied.close())

/** Writes a Node program that imports a package of this workspace. */
async function nodeProgram(lines: string): Promise<string> {
  await proxied.machine.write('program.mjs', lines)
  return 'node program.mjs'
}

const packages = {
  openai: import.meta.resolve('openai'),
  anthropic: import.meta.resolve('@anthropic-ai/sdk'),
  s3: import.meta.resolve('@aws-sdk/client-s3'),
}

const sendEvents = async (response: ServerResponse, events: string[]) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) {
    response.write(event)
    await new Promise((done) => setImmediate(done))
  }
  response.end()
}
const sendJson = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const sendGzip = (response: ServerResponse, body: unknown) =>
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    .end(gzipSync(JSON.stringify(body)))

describe('curl', () => {
  const text = 'abcdefghij'.repeat(1000)
  const listener: RequestListener = ({ url, headers }, response) => {
    if (url === '/204') return void response.writeHead(204).end()
    if (headers['if-none-match'] === '"tag"') return void response.writeHead(304, { etag: '"tag"' }).end()
    if (url === '/refused') return void sendJson(response, 403, { error: `${headers.authorization} may not` })
    if (headers.range !== 'bytes=10-19')
      return void response.writeHead(200, { 'content-length': text.length, etag: '"tag"' }).end(text)
    response.writeHead(206, { 'content-length': 10, 'content-range': `bytes 10-19/${text.length}` })
    response.end(text.slice(10, 20))
  }

  it('gets ranges, headers, empty answers and errors, and sends a long upload in chunks', async () => {
    const upstream = await startBehind(proxied, listener)
    const ask = (path: string, more = '') =>
      `curl -sS -o out -w '%{http_code} %{size_download} ' ${more} -H '${bearer}' ${upstream.origin}${path}; `
    const script = [
      ask('/'),
      ask('/', '-I'),
      ask('/204'),
      ask('/', `-H 'If-None-Match: "tag"'`),
      ask('/', '-r 10-19'),
      'head -c 3000000 /dev/zero > large; ',
      ask('/upload', `-T large -H 'Transfer-Encoding: chunked' -H 'Expect:'`),
      ask('/refused'),
      'cat out',
    ]
    const { stdout, stderr } = await upstream.run(script.join(''))
    expect(stdout, stderr).toBe(
      `200 10000 200 0 204 0 304 0 206 10 200 10000 403 ${mark.length + 27} {"error":"Bearer ${mark} may not"}`,
    )
    expect(upstream.got.map(({ headers }) => headers.authorization)).toEqual(Array(7).fill(`Bearer ${planted}`))
    const upload = upstream.got[5]
    expect([upload?.method, upload?.body.length, upload?.headers['transfer-encoding']]).toEqual([
      'PUT',
      3_000_000,
      'chunked',
    ])
  })
})

it('git pushes more than the body limit of a request with a placeholder, and clones it', async () => {
  const upstream = await startBehind(proxied, () => {})
  const folder = proxied.machine.project
  upstream.server.removeAllListeners('request').on('request', gitBackend(folder, `Bearer ${planted}`))
  const { stdout, stderr } = await upstream.run(`set -e
    git init -q --bare -b main remote.git
    git -C remote.git config http.receivepack true
    git init -q -b main work
    head -c 4000000 /dev/urandom > work/large
    git -C work add large
    git -C work -c user.name=a -c user.email=a@example.com commit -qm 'Add a large file'
    git -C work -c http.extraHeader='${bearer}' push -q ${upstream.origin}/remote.git main
    git -C remote.git cat-file -s main:large
    git -c http.extraHeader='${bearer}' clone -q ${upstream.origin}/remote.git clone
    cmp work/large clone/large && echo same`)
  expect(stdout, stderr).toBe('4000000\nsame\n')
})

describe('the openai SDK', () => {
  const chunk = (content: string) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] })}\n\n`
  const listener: RequestListener = ({ url, headers }, response) => {
    const key = headers.authorization?.slice('Bearer '.length)
    if (url === '/v1/chat/completions')
      return void sendEvents(response, [chunk('Hello '), chunk(`your key is ${key}`), 'data: [DONE]\n\n'])
    if (url === '/v1/models/one') return void sendGzip(response, { id: `${key}` })
    if (url === '/v1/files') return void sendJson(response, 200, { id: 'file-1' })
    sendJson(response, 401, { error: { message: `Incorrect API key: ${key}`, type: 'invalid_request_error' } })
  }

  it('streams a completion, reads a compressed answer, uploads a long file and throws the error', async () => {
    const upstream = await startBehind(proxied, listener)
    const program = await nodeProgram(`
      import OpenAI, { toFile } from '${packages.openai}'
      const client = new OpenAI({ baseURL: '${upstream.origin}/v1', apiKey: '${placeholder}', maxRetries: 0 })
      const asked = { model: 'one', messages: [{ role: 'user', content: 'Hello' }], stream: true }
      let text = ''
      for await (const event of await client.chat.completions.create(asked)) text += event.choices[0]?.delta?.content ?? ''
      const { id } = await client.models.retrieve('one')
      const file = await client.files.create({ file: await toFile(Buffer.alloc(3_000_000, 'x'), 'a.jsonl'), purpose: 'batch' })
      const refused = await client.models.list().catch((error) => [error.constructor.name, error.status, error.message])
      console.log(JSON.stringify([text, id, file.id, refused]))`)
    const { stdout, stderr } = await upstream.run(program)
    const refusal = ['AuthenticationError', 401, `401 Incorrect API key: ${mark}`]
    expect(stdout, stderr).toBe(`${JSON.stringify([`Hello your key is ${mark}`, mark, 'file-1', refusal])}\n`)
    expect(upstream.got.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /v1/chat/completions',
      'GET /v1/models/one',
      'POST /v1/files',
      'GET /v1/models',
    ])
    expect(upstream.got.map(({ headers }) => headers.authorization)).toEqual(Array(4).fill(`Bearer ${planted}`))
    expect(JSON.parse(upstream.got[0]!.body)).toMatchObject({ model: 'one', stream: true })
    expect(upstream.got[2]!.body).toContain('x'.repeat(3_000_000))
  })
})

describe('the Anthropic SDK', () => {
  const event = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
  const delta = (text: string) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
  const message = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    content: [],
    model: 'one',
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const streamOf = (key: string) => [
    event('message_start', { message }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    delta('Hello '),
    delta(`your key is ${key}`),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
    event('message_stop', {}),
  ]

  it('streams a message, sends a long one and throws the error', async () => {
    const upstream = await startBehind(proxied, ({ headers, url }, response) => {
      const key = headers.authorization!.slice('Bearer '.length)
      if (url === '/v1/messages') return void sendEvents(response, streamOf(key))
      sendJson(response, 400, { type: 'error', error: { type: 'invalid_request_error', message: `not with ${key}` } })
    })
    const program = await nodeProgram(`
      import Anthropic from '${packages.anthropic}'
      const client = new Anthropic({ baseURL: '${upstream.origin}', apiKey: '${placeholder}', maxRetries: 0 })
      const asked = { model: 'one', max_tokens: 9, messages: [{ role: 'user', content: 'x'.repeat(3_000_000) }] }
      const answer = await client.messages.stream(asked).finalMessage()
      const refused = await client.models.list().catch((error) => [error.constructor.name, error.status, error.message])
      console.log(JSON.stringify([answer.content[0].text, refused[0], refused[1], refused[2].includes('${mark}')]))`)
    const { stdout, stderr } = await upstream.run(program)
    expect(stdout, stderr).toBe(`${JSON.stringify([`Hello your key is ${mark}`, 'BadRequestError', 400, true])}\n`)
    expect(upstream.got.map(({ headers }) => headers.authorization)).toEqual(Array(2).fill(`Bearer ${planted}`))
    expect(JSON.parse(upstream.got[0]!.body).messages[0].content).toHaveLength(3_000_000)
  })
})

const object = randomBytes(3_000_000)

async function startAws() {
  const certificate = await certificateFor(host)
  const answer = ({ method }: Taken) => (method === 'GET' ? 'stored' : '')
  const aws = await startStrictAws(real, answer, { SNICallback: certificate.sni })
  onTestFinished(() => aws.close())
  await proxied.machine.write('object.hex', object.toString('hex'))
  const run = (script: string) => runBehind(proxied, signingRules, certificate.ca, script)
  return { ...aws, origin: `https://${host}:${aws.port}`, run }
}

/** Every request that is in `taken` was verified with the real key. */
const seen = ({ method, headers, body }: Taken) => [
  method,
  headers.authorization?.includes(real.accessKeyId),
  body.length,
]

it('the AWS SDK for JavaScript puts and gets an object with stand-in credentials', async () => {
  const aws = await startAws()
  const program = await nodeProgram(`
    import { readFileSync } from 'node:fs'
    import { Agent } from 'node:https'
    import { Readable } from 'node:stream'
    import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, S3Client } from '${packages.s3}'
    const client = new S3Client({ endpoint: '${aws.origin}', region: 'eu-central-1', forcePathStyle: true, maxAttempts: 1,
      credentials: { accessKeyId: 'A', secretAccessKey: 'B' }, requestHandler: { httpsAgent: new Agent({ proxyEnv: process.env }) } })
    const asked = { Bucket: 'bucket', Key: 'object' }
    const body = Buffer.from(readFileSync('object.hex', 'utf8'), 'hex')
    await client.send(new PutObjectCommand({ ...asked, Body: Readable.from([body]), ContentLength: body.length }))
    await client.send(new HeadObjectCommand(asked))
    const { Body } = await client.send(new GetObjectCommand(asked))
    console.log(await Body.transformToString())`)
  const { stdout, stderr } = await aws.run(program)
  expect(stdout, stderr).toBe('stored\n')
  expect(aws.taken.map(seen)).toEqual([
    ['PUT', true, object.length],
    ['HEAD', true, 0],
    ['GET', true, 0],
  ])
  expect(aws.taken[0]!.body.equals(object)).toBe(true)
})

const boto3 = pythonWith('boto3')
it.skipIf(boto3 === null)('boto3 puts and gets an object with stand-in credentials', async () => {
  const aws = await startAws()
  await proxied.machine.write(
    'program.py',
    `import boto3
client = boto3.client('s3', endpoint_url='${aws.origin}', region_name='eu-central-1', aws_access_key_id='A', aws_secret_access_key='B')
body = bytes.fromhex(open('object.hex').read())
client.put_object(Bucket='bucket', Key='object', Body=body)
client.head_object(Bucket='bucket', Key='object')
print(client.get_object(Bucket='bucket', Key='object')['Body'].read().decode())
`,
  )
  const { stdout, stderr } = await aws.run(`${boto3} program.py`)
  expect(stdout, stderr).toBe('stored\n')
  expect(aws.taken.map(seen)).toEqual([
    ['PUT', true, object.length],
    ['HEAD', true, 0],
    ['GET', true, 0],
  ])
  expect(aws.taken[0]!.body.equals(object)).toBe(true)
})

const requests = pythonWith('requests')
it.skipIf(requests === null)('Python’s requests streams, decompresses, and uploads in chunks', async () => {
  const upstream = await startBehind(proxied, ({ method, url, headers }, response) => {
    if (method === 'DELETE') return void response.writeHead(204).end()
    if (url === '/events') return void sendEvents(response, ['data: 1\n\n', `data: ${headers.authorization}\n\n`])
    if (url === '/refused') return void sendJson(response, 404, { error: 'missing' })
    sendGzip(response, { said: headers.authorization })
  })
  await proxied.machine.write(
    'program.py',
    `import requests
at = '${upstream.origin}'
client = requests.Session()
client.headers['Authorization'] = 'Bearer ${placeholder}'
print(client.get(at + '/packed').json()['said'])
print([line.decode() for line in client.get(at + '/events', stream=True).iter_lines() if line])
print(client.delete(at).status_code, client.head(at).status_code, client.get(at + '/refused').json()['error'])
print(client.post(at, data=(b'x' * 100000 for _ in range(30))).status_code)
`,
  )
  const { stdout, stderr } = await upstream.run(`${requests} program.py`)
  const lines = [`Bearer ${mark}`, `['data: 1', 'data: Bearer ${mark}']`, '204 200 missing', '200', '']
  expect(stdout, stderr).toBe(lines.join('\n'))
  expect(upstream.got.map(({ headers }) => headers.authorization)).toEqual(Array(6).fill(`Bearer ${planted}`))
  expect(upstream.got.at(-1)!.body).toHaveLength(3_000_000)
})
