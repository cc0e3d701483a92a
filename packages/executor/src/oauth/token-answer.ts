/**
 * The member that carries an id token to the executor. Under its usual name, the library would refuse the answer for a
 * claim of it.
 */
export const idTokenMember = 'executor_id_token'

type Members = Record<string, unknown>

/**
 * Reads the answer of a token endpoint and converts it to the form of RFC 6749. A provider with a form of its own has
 * often already replaced the refresh token. If this function refused such an answer, the new token would be lost.
 *
 * - GitHub and Slack refuse with HTTP 200. The answer becomes a 400.
 * - Slack's `token_type` is `bot`, and others send none. Every token is used as the provider's settings say.
 * - `refresh_token`, `expires_in` and `scope` may be null, empty or of another type. They then count as absent.
 */
export async function readTokenAnswer(response: Response): Promise<Response> {
  const text = await response.text()
  const members = membersOf(text, response.headers.get('content-type') ?? '')
  if (!members) return new Response(text, { status: response.status, headers: response.headers })
  if (response.ok && isText(members.access_token)) return Response.json(tokenOf(members))
  const error = errorOf(members) ?? 'no_token'
  return Response.json({ error }, { status: response.ok ? 400 : response.status })
}

/** Undefined for a text that is neither JSON nor a form, such as a page of a proxy or an answer that was cut off. */
function membersOf(text: string, contentType: string): Members | undefined {
  if (/^application\/x-www-form-urlencoded/i.test(contentType)) return Object.fromEntries(new URLSearchParams(text))
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined
  } catch {
    return undefined
  }
}

/**
 * RFC 6749 uses `error`. Notion's API uses `code` beside `object: "error"`, and others use an object that contains a
 * code.
 */
function errorOf({ error, code, object }: Members): string | undefined {
  if (isText(error)) return error
  if (typeof error === 'object' && error !== null) return textOf((error as Members).code ?? (error as Members).type)
  return object === 'error' ? textOf(code) : undefined
}

function tokenOf(members: Members): Members {
  const { access_token, refresh_token, expires_in, refresh_token_expires_in, scope, id_token } = members
  const known: Members = {
    refresh_token: textOf(refresh_token),
    expires_in: secondsOf(expires_in),
    refresh_token_expires_in: secondsOf(refresh_token_expires_in),
    scope: textOf(scope),
    [idTokenMember]: textOf(id_token),
  }
  const given = Object.entries(known).filter(([, value]) => value !== undefined)
  return { access_token, token_type: 'bearer', ...Object.fromEntries(given) }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const textOf = (value: unknown): string | undefined => (isText(value) ? value : undefined)

function secondsOf(value: unknown): number | undefined {
  const seconds = isText(value) ? Number(value) : value
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0 ? seconds : undefined
}
