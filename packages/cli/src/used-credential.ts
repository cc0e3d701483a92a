// Facts about this command that the hints of its errors name.

/** The credential of this command, for the hint of a refusal. */
interface UsedCredential {
  /** The id of a service token, by which an admin finds it. Undefined for a person. */
  tokenId: string | undefined
  /** True if the credential comes from SKERRY_TOKEN. */
  isFromVariable: boolean
}

let used: UsedCredential | undefined

export function noteUsedCredential(credential: UsedCredential): void {
  used = credential
}

/** Whether this command has opened a session. */
export const usesCredential = (): boolean => used !== undefined

/**
 * Returns the hint for a credential that the server refuses; undefined if this command has opened no session. The
 * server answers an expired token like an unknown one, so that nobody can probe for tokens.
 */
export function hintOfRefusal(): string | undefined {
  if (used === undefined) return undefined
  const { tokenId, isFromVariable } = used
  if (tokenId === undefined) return isFromVariable ? 'set SKERRY_TOKEN to another credential, or unset it' : undefined
  const why = `the token ${tokenId} may have expired or been revoked: an admin can look it up with \`skerry token show ${tokenId}\``
  if (!isFromVariable) return `${why}; sign in again with \`skerry login\``
  const where = process.env.CI ? 'store it as SKERRY_TOKEN in your pipeline' : 'set SKERRY_TOKEN to it'
  return `${why}; create another with \`skerry token create\`, and ${where}`
}

let origin: string | undefined

/** @param from where the address of the server comes from: `SKERRY_URL`, `the profile acme@localhost`. */
export function noteUsedServer(from: string): void {
  origin = from
}

/** Returns where the address of the server comes from; undefined before it is known. */
export const originOfServer = (): string | undefined => origin

/** Returns the hint for a server that cannot be reached. It says where the wrong address may be set. */
export const hintOfUnreachable = (): string =>
  `check that the server runs, and set its address with --url or SKERRY_URL${origin === undefined ? '' : ` (this one is from ${origin})`}; \`skerry doctor\` shows what fails`
