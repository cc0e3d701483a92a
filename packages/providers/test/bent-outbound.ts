import type { Outbound, OutboundRequest } from '../src/outbound.ts'

// Requests with one fault each, to show that a fake refuses what the real service refuses. A fake that accepts any body
// would hide faults of an adapter, such as a form without its content type.

/** Returns the request with its fault, or null if the fault does not apply to it. */
export type Bend = (request: OutboundRequest) => OutboundRequest | null

const withoutHeader =
  (wanted: (name: string) => boolean): Bend =>
  (request) => {
    const kept = Object.entries(request.headers ?? {}).filter(([name]) => !wanted(name.toLowerCase()))
    return { ...request, headers: Object.fromEntries(kept) }
  }

const isCredential = (name: string) => /^(?:authorization|x-api-key|x-auth-token)$/.test(name)

const isEmpty = ({ body }: OutboundRequest) => body === undefined || body.length === 0
const ofForms =
  (bend: Bend): Bend =>
  (request) =>
    isForm(request) ? bend(request) : null
const ofJson =
  (bend: Bend): Bend =>
  (request) =>
    isEmpty(request) || isForm(request) ? null : bend(request)

const isForm = ({ headers }: OutboundRequest) =>
  Object.entries(headers ?? {}).some(([name, value]) => /^content-type$/i.test(name) && value.includes('form'))

const textOf = ({ body }: OutboundRequest) => (typeof body === 'string' ? body : new TextDecoder().decode(body))

function withField(request: OutboundRequest): OutboundRequest {
  const json = JSON.parse(textOf(request))
  const target = Array.isArray(json) ? json[0] : json
  target.unknown = { unknown: 1 }
  return { ...request, body: JSON.stringify(json) }
}

function ofType(request: OutboundRequest, type: string): OutboundRequest {
  const bare = withoutHeader((name) => name === 'content-type')(request) as OutboundRequest
  return type === '' ? bare : { ...bare, headers: { ...bare.headers, 'content-type': type } }
}

const mebibyte = 2 ** 20

export const bends: [string, Bend][] = [
  ['whose JSON has no content type', ofJson((request) => ofType(request, ''))],
  ['whose JSON is sent as text', ofJson((request) => ofType(request, 'text/plain'))],
  ['whose form has no content type', ofForms((request) => ofType(request, ''))],
  ['whose form is sent as text', ofForms((request) => ofType(request, 'text/plain'))],
  ['with an unknown field in its JSON', ofJson(withField)],
  ['with an unknown field in its form', ofForms((request) => ({ ...request, body: `${textOf(request)}&unknown=1` }))],
  ['whose JSON is too large', ofJson((request) => ({ ...request, body: `${' '.repeat(mebibyte)}${textOf(request)}` }))],
  ['without its credential', (request) => (isForm(request) ? null : withoutHeader(isCredential)(request))],
]

/** An `Outbound` that puts the fault into every request, and says whether it applied to any. */
export function bentOutbound(outbound: Outbound, bend: Bend): Outbound & { bent(): boolean } {
  let bent = false
  return {
    ...outbound,
    bent: () => bent,
    send(request) {
      const changed = bend(request)
      if (changed !== null) bent = true
      return outbound.send(changed ?? request)
    },
  }
}
