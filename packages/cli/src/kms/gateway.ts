import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isLoopback } from '@skerry/contract/loopback'
import { isNamed } from '@skerry/contract/prefixes'
import { type ManagedKey, type OpenedKey, type VerifyingKeys, verifyingKeys } from '@skerry/sdk/internal/kms'
import { Failure, usage } from '../failure.ts'
import type { SignedIn } from '../frame.ts'
import { note, warn } from '../output.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { accessKey, accessKeyPath } from './access-key.ts'
import { AwsError, invalidInput } from './aws-error.ts'
import { type AwsInput, type GatewayKeys, operations } from './aws-operations.ts'
import { listKeys, openFound } from './find.ts'
import { checkName, checkVersions } from './pins.ts'
import { type AccessKey, signatureProblem } from './sigv4.ts'

/** How long answers of the server are cached. A disabled or revoked key stops working within this time. */
const freshMs = 5000
const bodyMaxBytes = 64 * 1024

interface Options extends Flags {
  port: string
  host: string
  key?: string[]
}

export async function gateway({
  session,
  flags,
  input: { port },
}: SignedIn<Options, typeof parseGateway>): Promise<void> {
  await session.key()
  const keys = gatewayKeys(session, flags.key)
  const held = await keys.all()
  const missing = flags.key?.filter((wanted) => !held.some((one) => isNamed(wanted, 'kmsKey', one))) ?? []
  if (missing.length > 0)
    throw new Failure(
      'notFound',
      `there is no managed key ${missing.join(', ')} that you can see`,
      'see `skerry kms ls`',
    )
  const own = accessKey()
  const server = createServer((request, response) => void answer(request, response, { keys, own }))
  await new Promise<void>((done, failed) => {
    server.once('error', (error) => failed(new Failure('failure', `cannot listen on ${flags.host}: ${codeOf(error)}`)))
    server.listen(port, flags.host, done)
  })
  tell(server.address() as AddressInfo, held.length)
  await new Promise<void>((done) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => {
        server.close(() => done())
        server.closeAllConnections()
      })
  })
}

export function parseGateway(flags: Options) {
  const port = Number(flags.port)
  if (!/^\d{1,5}$/.test(flags.port) || port > 65_535) throw usage('--port must be a whole number from 0 to 65535')
  return { port }
}

const codeOf = (error: Error) => (error as NodeJS.ErrnoException).code ?? 'unknown reason'

function tell({ address, port }: AddressInfo, count: number): void {
  if (!isLoopback(address))
    warn(
      'the gateway listens on the network without encryption: others there can read what programs encrypt and decrypt',
    )
  const host = address.includes(':') ? `[${address}]` : address
  note(`AWS KMS with ${count} managed keys; programs need:`)
  note(`  AWS_ENDPOINT_URL_KMS=http://${host}:${port}`)
  note(`  AWS_SHARED_CREDENTIALS_FILE=${accessKeyPath()}`)
  note('  AWS_REGION=local')
}

/** The keys of this session. Fetched keys are cached for `freshMs`. */
function gatewayKeys(session: Session, wanted: string[] | undefined): GatewayKeys {
  const opened = new Map<string, () => Promise<OpenedKey>>()
  const shown = new Map<string, () => Promise<VerifyingKeys>>()
  const all = fresh(async () => {
    const { orgId, keys } = await listKeys(session)
    const chosen = keys.filter((key) => wanted === undefined || wanted.some((one) => isNamed(one, 'kmsKey', key)))
    for (const key of chosen) checkName(session, orgId, key)
    return chosen
  })
  const kept = <T>(of: Map<string, () => Promise<T>>, id: string, make: () => Promise<T>) => {
    const known = of.get(id) ?? fresh(make)
    of.set(id, known)
    return known()
  }
  const wantedAs = (key: ManagedKey) => (wanted?.includes(key.name) ? key.name : key.id)
  return {
    all,
    open: (key) => kept(opened, key.id, async () => openFound(session, (await session.org()).id, key, wantedAs(key))),
    publicKeys: (key) =>
      kept(shown, key.id, async () => {
        const { id: orgId } = await session.org()
        const check = checkVersions(session, orgId, key, wantedAs(key))
        return verifyingKeys(session.client, { orgId, kmsKeyId: key.id }, check)
      }),
  }
}

/** Caches a result for `freshMs`, also for concurrent callers. A failure is not cached. */
function fresh<T>(make: () => Promise<T>): () => Promise<T> {
  let kept: { value: Promise<T>; atMs: number } | undefined
  return () => {
    if (kept && performance.now() - kept.atMs < freshMs) return kept.value
    const made = { value: make(), atMs: performance.now() }
    made.value.catch(() => {
      if (kept === made) kept = undefined
    })
    kept = made
    return made.value
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { keys, own }: { keys: GatewayKeys; own: AccessKey },
): Promise<void> {
  const { status, body } = await perform(request, { keys, own }).then(
    (done) => ({ status: 200, body: done }),
    (error: unknown) => refusalOf(error),
  )
  const type = (body as { __type?: string }).__type
  response.writeHead(status, {
    'content-type': 'application/x-amz-json-1.1',
    ...(type === undefined ? {} : { 'x-amzn-errortype': type }),
  })
  response.end(JSON.stringify(body))
}

async function perform(
  request: IncomingMessage,
  { keys, own }: { keys: GatewayKeys; own: AccessKey },
): Promise<object> {
  const body = await readBody(request)
  const { method = '', url = '', headers } = request
  const problem = signatureProblem({ method, url, headers, body }, own, new Date())
  if (problem !== null) throw problem
  const [, name = ''] = /^TrentService\.(\w+)$/.exec(String(headers['x-amz-target'])) ?? []
  const operation = operations[name]
  if (method !== 'POST' || url !== '/' || !operation)
    throw new AwsError('UnknownOperationException', `the gateway has no operation ${name}`)
  return operation(keys, inputOf(body))
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > bodyMaxBytes) throw invalidInput('the request is larger than 64 KiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * Fields that the gateway does not support, and refuses rather than ignores. Programs may send them with empty values.
 */
const unsupported = ['DryRun', 'Recipient', 'GrantTokens', 'DryRunModifiers']
const asksForNothing = (value: unknown) =>
  value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0)

function inputOf(body: Buffer): AwsInput {
  let input: unknown
  try {
    input = JSON.parse(body.toString('utf8'))
  } catch {
    throw new AwsError('SerializationException', 'the body is not JSON')
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new AwsError('SerializationException', 'the body is not an object')
  const asked = unsupported.find((name) => !asksForNothing((input as AwsInput)[name]))
  if (asked) throw new AwsError('UnsupportedOperationException', `the gateway does not know ${asked}`)
  return input as AwsInput
}

function refusalOf(error: unknown): { status: number; body: object } {
  const told = error instanceof AwsError ? error : fromServer(error)
  return { status: told.status, body: { __type: told.name, message: told.message } }
}

/** Maps an error of the server or the client to an AWS error. SDKs retry only a 5xx status. */
function fromServer(error: unknown): AwsError {
  const { code, message = '', kind } = (error ?? {}) as { code?: string; message?: string; kind?: string }
  if (code === 'forbidden' || code === 'unauthorized' || kind === 'refused' || code === 'mfa_required')
    return new AwsError('AccessDeniedException', message)
  if (code === 'not_found') return new AwsError('NotFoundException', message)
  if (code === 'unavailable' || code === 'timeout') return new AwsError('DependencyTimeoutException', message, 500)
  return new AwsError('KMSInternalException', 'the gateway could not answer', 500)
}
