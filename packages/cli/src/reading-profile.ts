import { isReplaced, type Profile, readCredentials } from './credentials.ts'
import { isTerminal } from './output.ts'
import { listPlaces } from './places.ts'
import { openSession, type Session } from './session.ts'

/**
 * Finds another credential of this machine that has the keys of all these environments. Only credentials of the same
 * server and organization are asked about. A script with a token gets none, because nobody there can decide to use it.
 *
 * @param holders the ids of those who have all these keys. Without them, the server is asked with each credential for the
 *   environments that it can decrypt. It does not say this of branches.
 */
export async function readingProfile(
  session: Session,
  labels: readonly string[],
  holders?: readonly string[],
): Promise<string | undefined> {
  const { url, credential } = session.settings
  const isSignedIn = session.principal.type === 'user' && credential.from === 'profile'
  if (!isTerminal.stderr() && !isSignedIn) return undefined
  const used = 'name' in credential ? credential.name : undefined
  const { slug } = await session.org()
  for (const [name, profile] of Object.entries(readCredentials().profiles)) {
    const isHere = profile.url === url && (profile.session !== undefined || profile.org?.slug === slug)
    if (name === used || !isHere || isReplaced(name)) continue
    const reads = holders ? holders.includes(ownerId(profile)) : await decryptsAll(name, { url, org: slug }, labels)
    if (reads) return name
  }
  return undefined
}

const ownerId = ({ token = '', session }: Profile) => session?.userId ?? /^skt_[0-9A-Za-z]+/.exec(token)?.[0] ?? ''

async function decryptsAll(profile: string, at: { url: string; org: string }, labels: readonly string[]) {
  try {
    const places = await listPlaces(await openSession({ profile, ...at }))
    return labels.every((label) => places.some((place) => place.label === label && place.canDecrypt === true))
  } catch {
    return false
  }
}
