import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { createConnection } from 'node:net'
import { createInterface } from 'node:readline'
import { type Bytes, decodeBase64url, encodeBase64url } from '@skerry/crypto/base64url'
import type { DirectorySigner } from '@skerry/crypto/directory/signing'
import { CryptoError, type CryptoErrorCode } from '@skerry/crypto/errors'
import { exportPrivateKey, type PrivateKey, parsePublicKeyJwk } from '@skerry/crypto/keys'
import type { PolicySigner } from '@skerry/crypto/policy'
import type { RemoteKey } from '@skerry/crypto/wrap'
import { Failure } from '../failure.ts'
import { ownFile } from '../own-file.ts'
import { type Answer, agentSocket, type Request, type Start, type Status } from './protocol.ts'

/** The limit for a slow agent. A missing agent is noticed at once. */
const answerWithinMs = 30_000
const startWithinMs = 60_000

/** An agent ends after 12 hours, however often it is used. */
const lifeSeconds = 12 * 3600

export const hasAgents = process.platform !== 'win32'

/** The status of the agent; undefined if none runs. */
export async function agentStatus(url: string, userId: string): Promise<Status | undefined> {
  if (!hasAgents) return undefined
  const answer = await ask(agentSocket(url, userId), { op: 'status' })
  return answer && 'status' in answer ? answer.status : undefined
}

/** The key that the agent keeps. The agent unwraps and wraps keys and signs policies, and returns only the results. */
export async function agentKey(url: string, userId: string): Promise<(RemoteKey & PolicySigner) | undefined> {
  const status = await agentStatus(url, userId)
  if (!status) return undefined
  const socket = agentSocket(url, userId)
  return {
    point: parsePublicKeyJwk(status.publicKeyJwk),
    unwrap: (blob) => askBytes(socket, { op: 'unwrap', blob }),
    wrapToSelf: (key) => askBlob(socket, { op: 'wrap-to-self', key: encodeBase64url(key) }),
    sign: (body) => askBytes(socket, { op: 'sign-policy', body: encodeBase64url(body) }),
  }
}

/** The directory signer whose key the agent derives and keeps; undefined if none runs. */
export async function agentDirectorySigner(url: string, userId: string): Promise<DirectorySigner | undefined> {
  if ((await agentStatus(url, userId)) === undefined) return undefined
  const socket = agentSocket(url, userId)
  const answer = await ask(socket, { op: 'directory-signer' })
  if (!answer || !('signer' in answer)) throw outdatedAgent()
  const sign = (bytes: Bytes) => askBytes(socket, { op: 'sign-directory', body: encodeBase64url(bytes) })
  return { ...answer.signer, sign }
}

const outdatedAgent = (): Failure =>
  new Failure(
    'refused',
    'the keyring’s agent was started by an older version of skerry',
    'run `skerry keys lock`, and try again',
  )

async function askBytes(socket: string, request: Request): Promise<Bytes> {
  const answer = await ask(socket, request)
  if (answer && 'bytes' in answer) return decodeBase64url(answer.bytes)
  if (answer && 'error' in answer && answer.error !== 'internal') {
    throw new CryptoError(answer.error as CryptoErrorCode)
  }
  throw new Failure('refused', 'the keyring was locked in the meantime', 'run `skerry keys unlock`')
}

async function askBlob(socket: string, request: Request): Promise<string> {
  const answer = await ask(socket, request)
  if (answer && 'blob' in answer) return answer.blob
  if (answer && 'error' in answer && answer.error === 'invalid_request') throw outdatedAgent()
  throw new Failure('refused', 'the keyring was locked in the meantime', 'run `skerry keys unlock`')
}

/** Ends the agent. Returns whether one ran. */
export async function stopAgent(url: string, userId: string): Promise<boolean> {
  return hasAgents && (await ask(agentSocket(url, userId), { op: 'lock' })) !== undefined
}

/** Starts the agent process and passes it the private key over a pipe, and not by argument, environment or file. */
export async function startAgent(url: string, userId: string, privateKey: PrivateKey, idleSeconds: number) {
  await stopAgent(url, userId)
  const main = ownFile('keyring/agent.ts')
  const compiled = getCompileCacheDir()
  // The agent needs no other variable of this environment, which may contain credentials.
  const env = {
    ...(process.env.HOME ? { HOME: process.env.HOME } : {}),
    ...(compiled ? { NODE_COMPILE_CACHE: compiled } : {}),
  }
  const child = spawn(process.execPath, [main], { detached: true, stdio: ['pipe', 'pipe', 'ignore'], env, cwd: '/' })
  child.on('error', () => {})
  child.stdin.on('error', () => {})
  const start: Start = {
    socket: agentSocket(url, userId),
    privateKey: encodeBase64url(await exportPrivateKey(privateKey)),
    idleSeconds: Math.min(idleSeconds, lifeSeconds),
    lifeSeconds,
  }
  child.stdin.end(JSON.stringify(start))
  const lines = createInterface({ input: child.stdout })
  try {
    await once(lines, 'line', { signal: AbortSignal.any([AbortSignal.timeout(startWithinMs), ended(child)]) })
  } catch {
    child.kill()
    throw new Failure(
      'failure',
      'the keyring’s agent did not start',
      'set SKERRY_PASSPHRASE_FILE, or enter the passphrase for each command',
    )
  } finally {
    lines.close()
    child.stdout.destroy()
    child.unref()
  }
}

function ended(child: ReturnType<typeof spawn>): AbortSignal {
  const controller = new AbortController()
  child.once('exit', () => controller.abort())
  return controller.signal
}

/** Sends a request. The answer is undefined if no agent listens. */
function ask(socket: string, request: Request): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    let text = ''
    const connection = createConnection(socket)
    connection.setEncoding('utf8').setTimeout(answerWithinMs, () => connection.destroy())
    connection.on('error', () => resolve(undefined))
    connection.on('data', (chunk) => {
      text += chunk
    })
    connection.on('close', () => resolve(parse(text)))
    connection.end(`${JSON.stringify(request)}\n`)
  })
}

function parse(text: string): Answer | undefined {
  try {
    return JSON.parse(text) as Answer
  } catch {
    return undefined
  }
}
