import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { limits } from '@skerry/contract/limits'
import { isLoopbackAddress } from '@skerry/contract/loopback'
import type { WebAuthnChallenge, WebAuthnResponse } from '@skerry/contract/sign-in/schemas'
import type { Static } from 'typebox'
import type { Config } from '../config.ts'
import type { Tx } from '../db/database.ts'
import { newId } from '../kernel/context.ts'
import { useSignInPasskey } from '../model/people/sign-in-passkeys.ts'
import type { IdentityContext } from './context.ts'
import {
  type ChallengePurpose,
  findPasskey,
  insertChallenge,
  listCredentialIds,
  type StoredPasskey,
  takeChallenge,
} from './passkey-store.ts'
import { after, issuerOf } from './sessions.ts'

interface Work {
  db: Tx
  context: IdentityContext
  now: string
}

/** A browser's answer to a challenge. */
export interface Answer {
  challengeId: string
  response: Static<typeof WebAuthnResponse>
}

/** Loaded for the first passkey, because it is large and most requests need no passkey. */
const webAuthn = () => import('@simplewebauthn/server')

/** EdDSA, ES256, RS256: every passkey supports one of them. */
const supportedAlgorithmIDs = [-8, -7, -257]

/**
 * The relying party of WebAuthn: a host name and an origin. Browsers have no passkeys for an IP address, so a server
 * without a base URL, on a loopback address, uses `localhost`.
 */
function relyingParty({ baseUrl }: Config): { rpID: string; origin: string } {
  const url = new URL(baseUrl ?? '')
  if (isLoopbackAddress(url.hostname)) url.hostname = 'localhost'
  return { rpID: url.hostname, origin: url.origin }
}

/**
 * Creates a challenge to register a passkey. It must be discoverable, so that it identifies its user, and require a
 * fingerprint, face or PIN.
 */
export async function enrollmentOptions(
  work: Work,
  user: { id: string; email: string | null; name: string | null },
): Promise<Static<typeof WebAuthnChallenge>> {
  const { generateRegistrationOptions } = await webAuthn()
  const options = await generateRegistrationOptions({
    rpName: 'Skerry',
    rpID: relyingParty(work.context.config).rpID,
    userID: new TextEncoder().encode(user.id),
    userName: user.email ?? user.id,
    userDisplayName: user.name ?? user.email ?? user.id,
    attestationType: 'none',
    supportedAlgorithmIDs,
    excludeCredentials: (await listCredentialIds(work.db, user.id)).map((id) => ({ id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  return keepChallenge(work, 'enroll', user.id, options)
}

/** Creates a challenge for a passkey of this person, or of any person, to find out who it is. */
export async function assertionOptions(work: Work, userId: string | null): Promise<Static<typeof WebAuthnChallenge>> {
  const { generateAuthenticationOptions } = await webAuthn()
  const ids = userId === null ? [] : await listCredentialIds(work.db, userId)
  const options = await generateAuthenticationOptions({
    rpID: relyingParty(work.context.config).rpID,
    allowCredentials: ids.map((id) => ({ id })),
    userVerification: 'required',
  })
  return keepChallenge(work, userId === null ? 'sign_in' : 'step_up', userId, options)
}

async function keepChallenge(
  { db, now }: Work,
  purpose: ChallengePurpose,
  userId: string | null,
  options: { challenge: string },
): Promise<Static<typeof WebAuthnChallenge>> {
  const challengeId = newId('challenge')
  const expiresAt = after(now, limits.challengeTtlSeconds)
  await insertChallenge(db, { id: challengeId, purpose, userId, challenge: options.challenge, expiresAt })
  return { challengeId, options: { ...options } }
}

/** Returns the new passkey, or undefined if the answer is not valid. The challenge is used up either way. */
export async function verifyEnrollment(
  { db, context, now }: Work,
  userId: string,
  { challengeId, response }: Answer,
): Promise<Pick<StoredPasskey, 'credentialId' | 'publicKey' | 'signCount'> | undefined> {
  const challenge = await takeChallenge(db, challengeId, 'enroll', userId, now)
  if (challenge === undefined) return undefined
  const { verifyRegistrationResponse } = await webAuthn()
  const { rpID, origin } = relyingParty(context.config)
  const verified = await verifyRegistrationResponse({
    response: withRawId(response) as RegistrationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpID,
    requireUserVerification: true,
    supportedAlgorithmIDs,
  }).catch(() => undefined)
  const credential = verified?.registrationInfo?.credential
  if (!verified?.verified || !credential) return undefined
  const publicKey = Buffer.from(credential.publicKey).toString('base64url')
  return { credentialId: credential.id, publicKey, signCount: credential.counter }
}

/**
 * Returns the passkey that answered, or undefined. The challenge is used up either way. Without `userId`, a passkey
 * signs in only people of the configured identity provider. With `userId`, the passkey is a second factor of that
 * person, whatever their identity provider.
 */
export async function verifyAssertion(
  { db, context, now }: Work,
  userId: string | null,
  { challengeId, response }: Answer,
): Promise<(StoredPasskey & { email: string | null }) | undefined> {
  const challenge = await takeChallenge(db, challengeId, userId === null ? 'sign_in' : 'step_up', userId, now)
  const passkey = await findPasskey(db, response.id, userId === null ? issuerOf(context) : null)
  if (challenge === undefined || !passkey || (userId !== null && passkey.userId !== userId)) return undefined
  const { verifyAuthenticationResponse } = await webAuthn()
  const { rpID, origin } = relyingParty(context.config)
  const verified = await verifyAuthenticationResponse({
    response: withRawId(response) as AuthenticationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpID,
    credential: {
      id: passkey.credentialId,
      publicKey: Buffer.from(passkey.publicKey, 'base64url'),
      counter: passkey.signCount,
    },
    requireUserVerification: true,
  }).catch(() => undefined)
  if (!verified?.verified) return undefined
  await useSignInPasskey(db, passkey.id, verified.authenticationInfo.newCounter, now)
  return passkey
}

/** Adds `rawId`, which the library requires. It equals `id` in the JSON encoding. */
const withRawId = (response: Answer['response']): unknown => ({
  clientExtensionResults: {},
  ...response,
  rawId: response.id,
})
