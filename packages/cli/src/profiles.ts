import { isReplaced, type Profile, readCredentials } from './credentials.ts'
import { describe, Failure } from './failure.ts'
import { warn } from './output.ts'
import { projectFileName } from './project.ts'
import { type Flags, readSettings, type Settings } from './settings.ts'

/** A stored credential, as `skerry profile` describes it. It contains no token and no secret. */
export interface DescribedProfile {
  name: string
  kind: 'person' | 'machine' | 'token'
  /** An e-mail address, or the name of a token; the id if the name is not known. */
  who: string
  id: string
  url: string
  /** The slug. Null for a person, whose session reaches every organization that they are in. */
  organization: string | null
  /** The end of a person’s session. */
  expiresAt: string | null
  isDefault: boolean
  /** A replaced token is kept as the only key to older secrets, and used only with `--profile`. */
  isReplaced: boolean
  isUsed: boolean
}

/** The credential that a command in this folder would use. `name` is null if it is not a stored one. */
export interface UsedCredential {
  name: string | null
  /** The end of a sentence that begins with the credential and "is used here,". */
  why: string
}

export function describeProfiles(used: UsedCredential): DescribedProfile[] {
  const { profiles, current } = readCredentials()
  return Object.entries(profiles)
    .map(([name, profile]) => describeProfile(name, profile, { current, used }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

export function describeProfile(
  name: string,
  profile: Profile,
  { current, used }: { current: string | null; used: UsedCredential },
): DescribedProfile {
  const { url, org, session } = profile
  return {
    name,
    ...ownerOf(profile),
    url,
    organization: session ? null : (org?.slug ?? null),
    expiresAt: session?.expiresAt ?? null,
    isDefault: name === current,
    isReplaced: isReplaced(name),
    isUsed: name === used.name,
  }
}

function ownerOf({ session, client, token, tokenName }: Profile): Pick<DescribedProfile, 'kind' | 'who' | 'id'> {
  if (session) return { kind: 'person', who: session.email ?? session.userId, id: session.userId }
  // Commands use the token that a machine client made. Without one yet, the client itself is shown.
  const id = /^skt_[0-9A-Za-z]+/.exec(token ?? '')?.[0] ?? client?.id ?? 'unknown'
  return { kind: client ? 'machine' : 'token', who: tokenName ?? id, id }
}

/**
 * Finds the credential that a command would use here. Wrong settings are only warned of, so that `skerry profile` can
 * show and mend the credentials.
 */
export function findUsed(flags: Flags): UsedCredential {
  readCredentials()
  try {
    return usedBy(readSettings(flags), flags)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const why = describe(error)
    warn(why)
    return { name: null, why: `no credential is used here: ${why}` }
  }
}

function usedBy(settings: Settings, flags: Flags): UsedCredential {
  const { credential } = settings
  if (credential.from === 'environment') {
    return { name: null, why: 'SKERRY_TOKEN is used here, and no stored credential' }
  }
  if (credential.from === 'machine') {
    const why = 'SKERRY_CLIENT_ID and SKERRY_CLIENT_SECRET are used here'
    return { name: credential.cached ? credential.name : null, why }
  }
  const limits = limitsOf(settings, flags)
  if (credential.from === 'none') {
    const why = Object.keys(readCredentials().profiles).length === 0 ? 'nothing is stored' : `none fits ${limits}`
    return { name: null, why: `no credential is used here: ${why}` }
  }
  return { name: credential.name, why: `${credential.name} is used here: ${reasonFor(credential.name, limits, flags)}` }
}

function reasonFor(name: string, limits: string, flags: Flags): string {
  if (flags.profile !== undefined) return '--profile names it'
  if (process.env.SKERRY_PROFILE) return 'SKERRY_PROFILE names it'
  const { current } = readCredentials()
  if (name === current) return 'it is the default'
  return limits === '' ? 'it is the first one, and none is the default' : `it fits ${limits}`
}

/** Names the settings that say which server and organization a credential must be for. */
function limitsOf({ found }: Settings, flags: Flags): string {
  const sourceOf = (flag: 'url' | 'org', variable: string) => {
    if (flags[flag] !== undefined) return `--${flag}`
    if (process.env[variable]) return variable
    return found?.project[flag] === undefined ? undefined : projectFileName
  }
  const sources = [sourceOf('url', 'SKERRY_URL'), sourceOf('org', 'SKERRY_ORG')].filter((one) => one !== undefined)
  return [...new Set(sources)].join(' and ')
}
