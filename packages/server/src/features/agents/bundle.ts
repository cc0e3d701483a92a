import { verify } from 'node:crypto'
import { isPolicyBody, type PolicyBody, policyBodyProblem } from '@skerry/contract/agents/policy-body'
import { importPublicKey } from '../../http/public-key.ts'
import { sha256 } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'

/**
 * Reads a bundle that is being published. Refuses one that no proxy would accept, or that this key did not sign. The
 * signature covers the bytes of the body as they arrived, which are stored and served unchanged.
 */
export function readBundle(bundle: string, publicKeyJwk: string): PolicyBody {
  const [, bodyText = '', signatureText = ''] = bundle.split('.')
  const bytes = decode(bodyText)
  const signature = decode(signatureText)
  const body = parse(bytes)
  const { kid, jwk } = body.signer
  if (kid !== thumbprintOf(JSON.stringify(jwk))) throw refused('signer.kid is not the thumbprint of signer.jwk')
  if (kid !== thumbprintOf(publicKeyJwk)) throw refused('is not signed with your key')
  const key = importPublicKey(publicKeyJwk)
  if (!key) throw fail('conflict', 'your public key is not on the curve: nothing that you sign can be verified')
  if (signature.length !== 64 || !verify('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }, signature))
    throw refused('the signature is not of these bytes')
  if (body.v !== 1) throw refused('v is not 1')
  const problem = policyBodyProblem(body)
  if (problem !== null) throw refused(problem)
  return body
}

export const refused = (what: string) => fail('invalid_request', `body.bundle: ${what}`)

/** RFC 7638: only the required members, in lexicographic order. */
export function thumbprintOf(publicKeyJwk: string): string {
  const { crv, kty, x, y } = JSON.parse(publicKeyJwk)
  return sha256(JSON.stringify({ crv, kty, x, y }))
}

function decode(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.toString('base64url') !== text) throw refused('is not base64url in its one spelling')
  return bytes
}

function parse(bytes: Buffer): PolicyBody {
  let body: unknown
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw refused('its body is not JSON')
  }
  if (!isPolicyBody(body)) throw refused('its body is not that of a policy')
  return body
}
