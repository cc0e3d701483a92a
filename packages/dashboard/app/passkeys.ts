import {
  base64URLStringToBuffer,
  bufferToBase64URLString,
  type RegistrationResponseJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser'
import type { Answer, Body } from '@skerry/contract/endpoint'
import type { passkeys } from '@skerry/contract/passkeys/endpoints'
import type { signInPasskeys } from '@skerry/contract/sign-in-passkeys/endpoints'

type Challenge = Answer<typeof signInPasskeys.options>
type Assertion = Body<typeof signInPasskeys.create>['response']
type KeyringPasskey = Answer<typeof passkeys.list>['passkeys'][number]

/** What a passkey computes from an input and never tells otherwise (WebAuthn level 3, extension `prf`). */
export interface PrfResult {
  credentialId: string
  prfOutput: Uint8Array<ArrayBuffer>
}

export class PrfMissing extends Error {}

/**
 * What goes to the server: the answer without the results of extensions. Among them is the PRF's output, which opens the
 * keyring.
 */
function forServer<R extends { clientExtensionResults: unknown }>(response: R): Assertion {
  // Two packages describe WebAuthn's JSON here, the browser's helper and the contract, each in its own words.
  return { ...response, clientExtensionResults: {} } as never
}

/** Signs in, or enters the second factor, with a passkey. */
export async function assertPasskey({ options }: Challenge): Promise<Assertion> {
  // As above: the server's options in the helper's words.
  return forServer(await startAuthentication({ optionsJSON: options as never }))
}

/**
 * For a passkey that unlocks and does not sign in. No server is asked: what counts is the output, not the signature. Its
 * user handle is a new one, since a device keeps one passkey for each, and would give up that for signing in.
 */
export function unlockingOnly(
  email: string,
  known: Pick<KeyringPasskey, 'credentialId'>[],
): Pick<Challenge, 'options'> {
  return {
    options: {
      challenge: randomBase64url(),
      rp: { name: 'Skerry', id: location.hostname },
      user: { id: randomBase64url(), name: email, displayName: email },
      pubKeyCredParams: [-8, -7, -257].map((alg) => ({ alg, type: 'public-key' })),
      excludeCredentials: known.map(({ credentialId }) => ({ id: credentialId, type: 'public-key' })),
      authenticatorSelection: { residentKey: 'discouraged', userVerification: 'required' },
      attestation: 'none',
    },
  }
}

/** Makes a passkey; with `prfInput`, its PRF's output for it too. */
export async function makePasskey({ options }: Pick<Challenge, 'options'>, prfInput?: string) {
  const extensions = prfInput === undefined ? {} : { prf: { eval: { first: base64URLStringToBuffer(prfInput) } } }
  // As above.
  const made = await startRegistration({ optionsJSON: { ...options, extensions } as never })
  return { response: forServer(made), credentialId: made.id, prfOutput: prfInput ? resultOf(made) : undefined }
}

/** Some devices compute nothing while they create a passkey, so they are asked again. */
export async function prfOfNew(credentialId: string, prfInput: string): Promise<PrfResult> {
  return evaluate([{ credentialId, prfInput }])
}

/** Has one of these passkeys compute its PRF. No server is asked: what counts is the output, not the signature. */
export async function evaluate(among: Pick<KeyringPasskey, 'credentialId' | 'prfInput'>[]): Promise<PrfResult> {
  const evalByCredential = Object.fromEntries(
    among.map(({ credentialId, prfInput }) => [credentialId, { first: base64URLStringToBuffer(prfInput) }]),
  )
  const response = await startAuthentication({
    optionsJSON: {
      challenge: randomBase64url(),
      allowCredentials: among.map(({ credentialId }) => ({ id: credentialId, type: 'public-key' as const })),
      userVerification: 'required',
      // The helper's types know no `prf`; it hands extensions on as they are.
      extensions: { prf: { evalByCredential } } as never,
    },
  })
  const prfOutput = resultOf(response)
  if (!prfOutput) throw new PrfMissing('this passkey has no PRF')
  return { credentialId: response.id, prfOutput }
}

export function randomBase64url(): string {
  return bufferToBase64URLString(crypto.getRandomValues(new Uint8Array(32)).buffer)
}

function resultOf(
  response: Pick<RegistrationResponseJSON, 'clientExtensionResults'>,
): PrfResult['prfOutput'] | undefined {
  const { prf } = response.clientExtensionResults as { prf?: { results?: { first?: ArrayBuffer | Uint8Array } } }
  const first = prf?.results?.first
  if (first === undefined) return undefined
  return new Uint8Array(first instanceof ArrayBuffer ? first : new Uint8Array(first).buffer)
}
