import { readCredentials } from './credentials.ts'
import { readSealed } from './keyring/sealed.ts'
import { canonical, isSameName, type PinnedGrantee } from './pins.ts'
import { openToken, type Session } from './session.ts'

/**
 * Whether a key belongs to another profile of this machine. This machine made the key, or opened it with the passphrase,
 * so nobody needs to compare its words. A name that the user wrote must be the e-mail address, or the name of the token, of
 * that profile.
 */
export async function isOwnKey({ settings: { url } }: Session, grantee: PinnedGrantee): Promise<boolean> {
  const { principalId, publicKeyJwk, wantedName } = grantee
  for (const profile of Object.values(readCredentials().profiles).filter((one) => one.url === url)) {
    const { session, token, tokenName } = profile
    const isPerson = session?.userId === principalId
    if (isPerson && (wantedName === undefined || isSameName(principalId, session.email ?? '', wantedName))) {
      const sealed = readSealed(url, principalId)
      if (sealed && canonical(sealed.publicKeyJwk) === canonical(publicKeyJwk)) return true
    }
    if (token?.startsWith(`${principalId}_`) && (wantedName === undefined || wantedName === tokenName)) {
      const own = await openToken(token).catch(() => undefined)
      if (own?.publicKeyJwk === canonical(publicKeyJwk)) return true
    }
  }
  return false
}
