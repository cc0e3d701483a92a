import { checkNewProfile, isReplaced, type Profile, profileName, readCredentials } from './credentials.ts'
import { Failure, usage } from './failure.ts'
import { readIfThere } from './files.ts'
import { autoBranch, findGitBranch, type GitBranch } from './git-branch.ts'
import { orNearest } from './nearest.ts'
import { type FoundProject, findProject } from './project.ts'
import { checkServerUrl } from './server-url.ts'
import { noteUsedServer } from './used-credential.ts'
import { checkVariables } from './variables.ts'

const defaultUrl = 'http://127.0.0.1:4700'

/** Options that every command understands; undefined where they were not given. */
export interface Flags {
  json?: boolean
  debug?: boolean
  url?: string
  org?: string
  profile?: string
  app?: string
  group?: string
  env?: string
  branch?: string
}

/** Options of a command that asks before it acts. */
export interface Confirmable extends Flags {
  yes?: boolean
}

/** The source of the credential, most explicit first: `--profile`, the environment, the credentials file. */
type CredentialSource =
  | { from: 'environment'; token: string }
  | { from: 'machine'; clientId: string; clientSecret: string; name: string; cached: Profile | undefined }
  | { from: 'profile'; name: string; profile: Profile }
  | { from: 'none' }

export interface Settings {
  url: string
  allowInsecure: boolean
  org: string | undefined
  app: string | undefined
  env: string | undefined
  branch: string | undefined
  /** The git branch that `branch` was made from, with `--branch auto`. */
  gitBranch: GitBranch | undefined
  group: string | undefined
  /** Whether an option or a variable names the application or environment, and not the project's file alone. */
  scopeIsExplicit: boolean
  /** True if an option or a variable names the application. */
  isAppNamed: boolean
  /** The names that `skerry.json` allows. */
  allowNames: readonly string[]
  found: FoundProject | null
  credential: CredentialSource
  /** `--profile`, if it was given. A hint about the next command repeats it. */
  profile: string | undefined
}

/**
 * Reads each setting from the first source that has it: options, variables, `skerry.json`, the profile, the default.
 */
export function readSettings(flags: Flags): Settings {
  checkVariables(process.env)
  const variable = (name: string) => process.env[name] || undefined
  const found = findProject(currentFolder())
  const url = flags.url ?? variable('SKERRY_URL') ?? found?.project.url
  const org = flags.org ?? variable('SKERRY_ORG') ?? found?.project.org
  const allowInsecure = variable('SKERRY_ALLOW_INSECURE') === '1'
  const wantedUrl = url === undefined ? undefined : checkServerUrl(url, { allowInsecure })
  const credential = pickCredential(flags, wantedUrl, org)
  const profile = credential.from === 'profile' ? credential.profile : undefined
  noteUsedServer(originOfUrl(flags, found, credential))
  const app = flags.app ?? variable('SKERRY_APP')
  const env = flags.env ?? variable('SKERRY_ENV')
  const branch = flags.branch ?? variable('SKERRY_BRANCH')
  const gitBranch = branch === autoBranch ? findGitBranch(currentFolder(), process.env) : undefined
  return {
    url: wantedUrl ?? profile?.url ?? defaultUrl,
    allowInsecure,
    org: org ?? profile?.org?.slug,
    app: app ?? found?.scope.app,
    env: env ?? found?.scope.env,
    branch: gitBranch ? gitBranch.slug : branch,
    gitBranch,
    group: flags.group,
    scopeIsExplicit: app !== undefined || env !== undefined,
    isAppNamed: app !== undefined,
    allowNames: found?.project.allowNames ?? [],
    found,
    credential,
    profile: flags.profile,
  }
}

/** Says where the address of the server comes from, in the order of `readSettings`. */
function originOfUrl({ url }: Flags, found: Settings['found'], credential: CredentialSource): string {
  if (url !== undefined) return '--url'
  if (process.env.SKERRY_URL) return 'SKERRY_URL'
  if (found?.project.url !== undefined) return found.file
  return credential.from === 'profile' ? `the profile ${credential.name}` : 'the default'
}

/**
 * Reads the settings of a command that stores a credential. Its `--profile` may name a profile that does not exist yet.
 */
export function readSettingsToStore(flags: Flags, isPerson: boolean): Settings {
  const { profile, ...rest } = flags
  const isNew = profile !== undefined && !Object.hasOwn(readCredentials().profiles, profile)
  const settings = readSettings(isNew ? rest : flags)
  checkNewProfile(profile, settings.url, isPerson)
  return settings
}

function currentFolder(): string {
  try {
    return process.cwd()
  } catch {
    throw new Failure('failure', 'the current folder no longer exists', 'change to another folder')
  }
}

/**
 * Refuses half a machine client, which is a mistake. The command would use the stored credential instead, which may
 * belong to somebody else.
 */
export function refuseHalfClient({ profile }: Flags): void {
  const { SKERRY_TOKEN, SKERRY_TOKEN_FILE, SKERRY_CLIENT_ID, SKERRY_CLIENT_SECRET } = process.env
  if (profile !== undefined || SKERRY_TOKEN || SKERRY_TOKEN_FILE || !SKERRY_CLIENT_ID === !SKERRY_CLIENT_SECRET) return
  const names = ['SKERRY_CLIENT_ID', 'SKERRY_CLIENT_SECRET']
  const [set, other] = SKERRY_CLIENT_ID ? names : names.reverse()
  throw usage(`${set} is set, but ${other} is not`, 'set both, or neither')
}

/**
 * Refuses an empty SKERRY_TOKEN, such as an unset secret of a pipeline. The command would use the stored credential
 * instead, which may belong to somebody else. `--profile` is more explicit, so it goes first.
 */
function refuseEmptyToken({ profile }: Flags): void {
  const { SKERRY_TOKEN } = process.env
  if (profile !== undefined || SKERRY_TOKEN === undefined || SKERRY_TOKEN.trim() !== '') return
  throw usage('SKERRY_TOKEN is empty', 'set it to a service token, or unset it to use a stored credential')
}

/** The token in SKERRY_TOKEN, or in the file that SKERRY_TOKEN_FILE names, such as a mounted secret of a container. */
export function tokenOfEnvironment(): string | undefined {
  const { SKERRY_TOKEN: token, SKERRY_TOKEN_FILE: file } = process.env
  if (!file) return token?.trim()
  if (token) throw usage('SKERRY_TOKEN and SKERRY_TOKEN_FILE are both set', 'unset one of them')
  const text = readIfThere(file)?.trim()
  if (text) return text
  const problem = text === undefined ? 'does not exist' : 'is empty'
  throw usage(`${file} ${problem}`, 'SKERRY_TOKEN_FILE must name a file with a service token')
}

function pickCredential(flags: Flags, url: string | undefined, org: string | undefined): CredentialSource {
  refuseEmptyToken(flags)
  const { SKERRY_CLIENT_ID, SKERRY_CLIENT_SECRET } = process.env
  const token = flags.profile === undefined ? tokenOfEnvironment() : undefined
  const wanted = flags.profile ?? (token || SKERRY_CLIENT_SECRET ? undefined : process.env.SKERRY_PROFILE)
  if (flags.profile !== undefined || wanted) return { from: 'profile', ...namedProfile(wanted ?? '') }
  if (token) return { from: 'environment', token }
  if (SKERRY_CLIENT_ID && SKERRY_CLIENT_SECRET) {
    const name = profileName(url ?? defaultUrl, SKERRY_CLIENT_ID)
    const cached = readCredentials().profiles[name]
    return { from: 'machine', clientId: SKERRY_CLIENT_ID, clientSecret: SKERRY_CLIENT_SECRET, name, cached }
  }
  const { current, profiles } = readCredentials()
  // A person's session reaches every organization that the person is in.
  const fits = ([name, profile]: [string, Profile]) =>
    !isReplaced(name) &&
    (url === undefined || profile.url === url) &&
    (org === undefined || profile.session !== undefined || isOrg(profile, org))
  const candidates = Object.entries(profiles).filter(fits)
  const named = ([, profile]: [string, Profile]) => org === undefined || isOrg(profile, org)
  const chosen = candidates.find(([name]) => name === current) ?? candidates.find(named) ?? candidates[0]
  return chosen ? { from: 'profile', name: chosen[0], profile: chosen[1] } : { from: 'none' }
}

const isOrg = ({ org }: Profile, wanted: string) => org?.slug === wanted || org?.id === wanted

/** Finds a profile by its name, or by the slug of its organization if only one token has it, or else only one profile. */
export function namedProfile(wanted: string): { name: string; profile: Profile } {
  const { profiles } = readCredentials()
  const exact = Object.hasOwn(profiles, wanted) ? profiles[wanted] : undefined
  if (exact) return { name: wanted, profile: exact }
  const bySlug = Object.entries(profiles).filter(([name, { org }]) => org?.slug === wanted && !isReplaced(name))
  // A person's session reaches other organizations, too, so a token is meant.
  const tokens = bySlug.filter(([, { session }]) => session === undefined)
  for (const found of [tokens, bySlug]) if (found.length === 1) return { name: found[0]![0], profile: found[0]![1] }
  const known = Object.keys(profiles).join(', ') || 'none'
  const next = orNearest(wanted, Object.keys(profiles), `use one of the known profiles: ${known}`)
  throw new Failure('notFound', `there is no profile '${wanted}'`, next)
}
