import type { Outside, OutsideRequest } from '../src/outside.ts'

// Requests with one fault each, to show that a fake refuses what the real service refuses. A fake that takes any body hides
// faults of an adapter, such as a form without its content type.

/** Gives the request with its fault, or null where the fault does not apply to it. */
export type Bend = (request: OutsideRequest) => OutsideRequest | null

const withoutHeader =
  (wanted: (name: string) => boolean): Bend =>
  (request) => {
    const kept = Object.entries(request.headers ?? {}).filter(([name]) => !wanted(name.toLowerCase()))
    return { ...request, headers: Object.fromEntries(kept) }
  }

const isCredential = (name: string) => /^(?:authorization|x-api-key|x-auth-token)$/.test(name)

const isEmpty = ({ body }: OutsideRequest) => body === undefined || body.length === 0
const ofForms =
  (bend: Bend): Bend =>
  (request) =>
    isForm(request) ? bend(request) : null
const ofJson =
  (bend: Bend): Bend =>
  (request) =>
    isEmpty(request) || isForm(request) ? null : bend(request)

const isForm = ({ headers }: OutsideRequest) =>
  Object.entries(headers ?? {}).some(([name, value]) => /^content-type$/i.test(name) && value.includes('form'))

const textOf = ({ body }: OutsideRequest) => (typeof body === 'string' ? body : new TextDecoder().decode(body))

function withField(request: OutsideRequest): OutsideRequest {
  const json = JSON.parse(textOf(request))
  const target = Array.isArray(json) ? json[0] : json
  target.unknown = { unknown: 1 }
  return { ...request, body: JSON.stringify(json) }
}

function ofType(request: OutsideRequest, type: string): OutsideRequest {
  const bare = withoutHeader((name) => name === 'content-type')(request) as OutsideRequest
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

/** An outside that gives every request the fault, and says whether there was one to give it to. */
export function bentOutside(outside: Outside, bend: Bend): Outside & { bent(): boolean } {
  let bent = false
  return {
    ...outside,
    bent: () => bent,
    send(request) {
      const changed = bend(request)
      if (changed !== null) bent = true
      return outside.send(changed ?? request)
    },
  }
}
