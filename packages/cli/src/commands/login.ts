import type { Command } from 'commander'
import { profileName, readCredentials, saveProfile } from '../credentials.ts'
import { unlessRefused } from '../directory.ts'
import { usage } from '../failure.ts'
import { readCredential, whyNotArguments } from '../input.ts'
import { shellWord } from '../labels.ts'
import { nextToSetUp } from '../next-step.ts'
import { common, explained } from '../options.ts'
import { note, writeJson } from '../output.ts'
import { checkOrg, connect, makeAdminToken, openToken } from '../session.ts'
import { type Flags, readSettingsToStore, type Settings, tokenOfEnvironment } from '../settings.ts'
import { notedTime } from '../times.ts'
import { listTokens } from '../tokens/find.ts'

interface Options extends Flags {
  clientId?: string
  token?: boolean
  browser: boolean
}

export function register(command: Command): void {
  explained(common(command), help)
    .argument('[value...]')
    .usage('')
    .option('--client-id <id>', 'sign in as a machine client; its secret is read from stdin or a hidden prompt')
    .option('--token', 'sign in with a service token, read from stdin or a hidden prompt')
    .option('--no-browser', 'print the address and do not open it')
    .action(login)
}

const help =
  'Without options, you sign in as a person: confirm the code in a browser, on this machine or another one. --profile stores the credential under a name of your choice. SKERRY_CLIENT_SECRET and SKERRY_TOKEN are used if they are set.'

async function login(values: string[], flags: Options): Promise<void> {
  if (values.length > 0) throw usage(whyNotArguments, 'pipe the secret in, or type it when asked')
  if (flags.clientId !== undefined && flags.token) throw usage('--client-id and --token cannot be used together')
  const isPerson = flags.clientId === undefined && !flags.token
  const settings = readSettingsToStore(flags, isPerson)
  if (isPerson) return asPerson(settings, flags)
  const before = readCredentials().current
  const result = flags.token ? await withToken(settings, flags) : await asMachine(settings, flags)
  note(`signed in to ${result.org.slug} at ${settings.url}`)
  if (before !== null && before !== result.profile)
    note(
      `commands now act as the token in profile ${result.profile}; to go back, run \`skerry profile use ${shellWord(before)}\``,
    )
  note(nextToSetUp)
  if (flags.json) writeJson({ url: settings.url, ...result })
}

async function asPerson(settings: Settings, flags: Options): Promise<void> {
  const { signInPerson } = await import('../sign-in.ts')
  const { user, orgs, sayNext, kept, ...session } = await signInPerson(settings, flags)
  note(
    `signed in as ${user.email ?? user.id} at ${settings.url}, until ${notedTime(session.expiresAt)}; stored ${kept}`,
  )
  const { tellWhichWins } = await import('../first-run/person.ts')
  tellWhichWins(settings.url, user.email ?? user.id, orgs)
  await sayNext()
  if (flags.json) writeJson({ url: settings.url, userId: user.id, email: user.email, ...session })
}

async function withToken(settings: Settings, flags: Options) {
  const token = tokenOfEnvironment() || (await readCredential('Service token'))
  const { bearer, tokenId } = await openToken(token)
  const client = connect(settings, { bearer })
  const { orgs } = await client.me.get()
  const org = orgs[0]
  if (!org) throw usage('this token belongs to no organization')
  checkOrg(org, flags)
  const name = flags.profile ?? profileName(settings.url, org.slug)
  const tokens = await unlessRefused(() => listTokens({ client, org: async () => org }))
  const tokenName = tokens.find(({ id }) => id === tokenId)?.name
  saveProfile(name, {
    url: settings.url,
    org: { id: org.id, slug: org.slug },
    token,
    ...(tokenName === undefined ? {} : { tokenName }),
  })
  return { profile: name, org: { id: org.id, slug: org.slug }, tokenId }
}

async function asMachine(settings: Settings, flags: Options) {
  const id = flags.clientId!
  const secret = process.env.SKERRY_CLIENT_SECRET?.trim() || (await readCredential('Client secret'))
  const { orgs } = await connect(settings, { clientId: id, clientSecret: secret }).me.get()
  const org = orgs[0]
  if (!org) throw usage('this machine client belongs to no organization')
  checkOrg(org, flags)
  const name = flags.profile ?? profileName(settings.url, org.slug)
  const { token } = await makeAdminToken({ ...settings, org: org.id }, { id, secret, keepSecret: true }, name)
  const { tokenId } = await openToken(token)
  note('the new admin token holds no key yet: environments that exist stay closed to it until someone who')
  note(`  can read them runs \`skerry grant ${tokenId} --all\``)
  return { profile: name, org: { id: org.id, slug: org.slug }, clientId: id, tokenId }
}
