/** The server or the executor answered with an error. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'Refused'
    this.status = status
  }
}

/** There was no answer, or the answer was not JSON. */
export class Unreachable extends Error {
  readonly origin: string

  constructor(origin: string) {
    super(`${origin} cannot be reached`)
    this.name = 'Unreachable'
    this.origin = origin
  }
}

const timeoutMs = 30_000

interface Sending {
  method: 'GET' | 'POST'
  body?: object
  bearer?: string
}

/**
 * Sends JSON and reads JSON, with no cookie, no referrer and no redirect.
 *
 * @throws Refused with the status and the message of the answer. @throws Unreachable.
 */
export async function request(origin: string, path: string, { method, body, bearer }: Sending): Promise<unknown> {
  const response = await fetch(origin + path, {
    method,
    headers: {
      accept: 'application/json',
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
    ...{ credentials: 'omit', referrerPolicy: 'no-referrer', redirect: 'error', cache: 'no-store' },
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(() => {
    throw new Unreachable(origin)
  })
  const answer: unknown = await response.json().catch(() => {
    throw new Unreachable(origin)
  })
  if (!response.ok) throw new Refused(response.status, messageOf(answer))
  return answer
}

const messageOf = (answer: unknown) => (answer as { error?: { message?: string } } | null)?.error?.message ?? ''
