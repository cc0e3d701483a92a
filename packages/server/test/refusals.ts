import type { IncomingMessage } from 'node:http'
import { type ErrorCode, errorStatus } from '@skerry/contract/errors'
import { oauth } from '@skerry/contract/oauth/endpoints'
import { OAuthErrorBody, oauthErrorOf } from '@skerry/contract/oauth/schemas'
import { Compile } from 'typebox/compile'
import { expect } from 'vitest'
import { send, statusOf, textOf } from './http.ts'
import { stateOf } from './state.ts'
import type { World } from './world.ts'

/** A broken request that the server must refuse. */
export interface Broken {
  /** Describes the fault in the output of a failed test. */
  title: string
  method: string
  /** With its query, as it is sent. */
  path: string
  as?: string | undefined
  body?: string | Uint8Array | undefined
  headers?: Record<string, string>
  /** The expected status. */
  status: 400 | 401 | 403 | 404 | 409
  /** The expected beginning of the message, which names the wrong field. */
  says?: string
}

const oauthRefusal = Compile(OAuthErrorBody)

/** Sends the request and describes what is wrong with the response. Undefined if it is as expected. */
async function complaintOf(world: World, broken: Broken): Promise<string | undefined> {
  const { title, method, path, as, body, headers = {}, status, says = '' } = broken
  const response = await send(`${world.url}${path}`, {
    method,
    headers: {
      ...(as === undefined ? {} : { authorization: as }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body,
  })
  const text = await textOf(response)
  const received = statusOf(response)
  const isToken = path.split('?')[0] === oauth.token.path
  const message = messageOf(response, text, isToken)
  if (message === undefined) return `${title}: ${received} without the one error shape: ${text.slice(0, 200)}`
  const expected = isToken ? oauthErrorOf('invalid_request', says).error_description : says
  if (received === status && message.startsWith(expected)) return undefined
  return `${title}: ${received} ${message}, not ${status} ${says}`
}

/** Returns the message of a response with the usual error body, and undefined for any other response. */
function messageOf({ statusCode, headers }: IncomingMessage, text: string, isToken: boolean): string | undefined {
  if (headers['content-type'] !== 'application/json; charset=utf-8') return undefined
  const parsed = parse(text) as { error?: { code: ErrorCode; message: string } } | undefined
  const { error } = parsed ?? {}
  if (oauthRefusal.Check(parsed)) return isToken ? parsed.error_description : undefined
  if (!error || typeof error.message !== 'string' || errorStatus[error.code] !== statusCode) return undefined
  const shape = JSON.stringify({ error: { code: error.code, message: error.message } })
  return shape === text && headers['x-request-id'] !== undefined ? error.message : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Expects that each request is refused as described, changes no row, and leaves no content of its body in the log.
 */
export async function expectRefused(world: World, all: Broken[]): Promise<void> {
  const before = await stateOf(world)
  const logged = world.log.length
  const complaints: string[] = []
  for (const broken of all) {
    const complaint = await complaintOf(world, broken)
    if (complaint !== undefined) complaints.push(complaint)
  }
  expect(complaints).toEqual([])
  expect(await stateOf(world)).toEqual(before)
  expect(world.log.slice(logged).filter((line) => !isPlain(line))).toEqual([])
}

/** Log fields that the sender of a request cannot choose, except the method and which of our routes it matched. */
const plainKeys = ['time', 'level', 'message', 'requestId', 'method', 'route', 'status', 'ms']

function isPlain(line: string): boolean {
  const entry = JSON.parse(line) as Record<string, unknown>
  return entry.message === 'request' && Object.keys(entry).every((key) => plainKeys.includes(key))
}
