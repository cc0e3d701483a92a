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
import { PrfMissing } from './prf-missing.ts'

type Challenge = Answer<typeof signInPasskeys.options>
type Assertion = Body<typeof signInPasskeys.create>['response']
type KeyringPasskey = Answer<typeof passkeys.list>['passkeys'][number]

/**
 * The secret that a passkey derives from an input (WebAuthn level 3, extension `prf`). Only the passkey can derive it.
 */
export interface PrfResult {
  credentialId: string
  prfOutput: Uint8Array<ArrayBuffer>
}

/**
 * Returns the passkey's response without extension results. They include the PRF's output, which unlocks the keyring,
 * so the server must not receive them.
 */
function forServer<R extends { clientExtensionResults: unknown }>(response: R): Assertion {
  // The browser helper and the contract each have their own types for WebAuthn's JSON, so this needs a cast.
  return { ...response, clientExtensionResults: {} } as never
}

/** Signs in, or enters the second factor, with a passkey. */
export async function assertPasskey({ options }: Challenge): Promise<Assertion> {
  // The same cast: the server's options have the contract's type.
  return forServer(await startAuthentication({ optionsJSON: options as never }))
}

/**
 * Returns the options for a passkey that unlocks the keyring but does not sign in. The challenge is made here, because
 * the PRF's output matters and not the signature. The user handle is random: a device keeps one passkey per handle, and
 * would otherwise overwrite the passkey for signing in.
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

/** Creates a passkey. With `prfInput`, the result also has the PRF's output for it, if the device computes it. */
export async function makePasskey({ options }: Pick<Challenge, 'options'>, prfInput?: string) {
  const extensions = prfInput === undefined ? {} : { prf: { eval: { first: base64URLStringToBuffer(prfInput) } } }
  // The same cast.
  const made = await startRegistration({ optionsJSON: { ...options, extensions } as never })
  return { response: forServer(made), credentialId: made.id, prfOutput: prfInput ? resultOf(made) : undefined }
}

/**
 * Gets the PRF's output of a new passkey. Some devices compute none while they create a passkey, so this asks them
 * again.
 */
export async function prfOfNew(credentialId: string, prfInput: string): Promise<PrfResult> {
  return evaluate([{ credentialId, prfInput }])
}

/**
 * Asks one of these passkeys for its PRF's output. The challenge is made here, because the output matters and not the
 * signature.
 */
export async function evaluate(among: Pick<KeyringPasskey, 'credentialId' | 'prfInput'>[]): Promise<PrfResult> {
  const evalByCredential = Object.fromEntries(
    among.map(({ credentialId, prfInput }) => [credentialId, { first: base64URLStringToBuffer(prfInput) }]),
  )
  const response = await startAuthentication({
    optionsJSON: {
      challenge: randomBase64url(),
      allowCredentials: among.map(({ credentialId }) => ({ id: credentialId, type: 'public-key' as const })),
      userVerification: 'required',
      // The helper's types lack `prf`, but it passes extensions on unchanged.
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
