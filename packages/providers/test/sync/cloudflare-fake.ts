import type { FakeAnswer, FakeRules } from '../http-fake.ts'

// The common parts of Cloudflare’s services, from the OpenAPI document of its API: an envelope around each answer,
// error codes.

/** The error codes of a service for a missing object and for a refused name. */
interface EdgeCodes {
  missing: number
  refused: number
}

export const edgeOk = (result: unknown, more: object = {}, status = 200): FakeAnswer => ({
  status,
  body: { success: true, errors: [], messages: [], result, ...more },
})

export const edgeFailure = (status: number, code: number, message: string): FakeAnswer => ({
  status,
  ...(status === 429 ? { headers: { 'retry-after': '7' } } : {}),
  body: { success: false, errors: [{ code, message }], messages: [], result: null },
})

export function edgeRules(token: string, codes: EdgeCodes): Pick<FakeRules, 'headers' | 'refuse'> {
  return {
    headers: { authorization: `Bearer ${token}` },
    refuse(status, words) {
      if (status === 401) return edgeFailure(400, 6003, 'Invalid request headers')
      if (status === 404) return edgeFailure(404, codes.missing, words)
      return edgeFailure(status === 422 ? 400 : status, codes.refused, words)
    },
  }
}
