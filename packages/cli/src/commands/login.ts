import { parseToken } from '@skerry/crypto/token'
import type { Command } from 'commander'
import { profileName, saveProfile } from '../credentials.ts'
import { usage } from '../failure.ts'
import { readCredential, whyNotArguments } from '../input.ts'
import { nextToSetUp } from '../next-step.ts'
import { common } from '../options.ts'
import { note, writeJson } from '../output.ts'
import { checkOrg, connect, makeAdminToken } from '../session.ts'
import { type Flags, readSettingsToStore, type Settings } from '../settings.ts'

interface Options extends Flags {
  clientId?: string
  token?: boolean
  browser: boolean
}

export function register(command: Command): void {
  common(command)
    .argument('[value...]')
    .usage('[options]')
    .option('--client-id <id>', 'sign in as a machine client; its secret comes from stdin or a hidden question')
    .option('--token', 'sign in with a service token, from stdin or a hidden question')
    .option('--no-browser', 'only print the address')
    .addHelpText('after', '\nWithout --client-id and --token, a person signs in, in a browser on any machine.')
    .addHelpText('after', '\nSKERRY_CLIENT_SECRET and SKERRY_TOKEN are taken when they are set.')
    .addHelpText('after', '\nWith --profile, the credential is stored under that name, which may be new.')
    .action(login)
}

async function login(values: string[], flags: Options): Promise<void> {
  if (values.length > 0) throw usage(whyNotArguments, 'pipe the secret in, or type it when asked')
  if (flags.clientId !== undefined && flags.token) throw usage('--client-id and --token exclude each other')
  const isPerson = flags.clientId === undefined && !flags.token
  const settings = readSettingsToStore(flags, isPerson)
  if (isPerson) return asPerson(settings, flags)
  const result = flags.token ? await withToken(settings, flags) : await asMachine(settings, flags)
  note(`signed in to ${result.org.slug} at ${settings.url}`)
  note(nextToSetUp)
  if (flags.json) writeJson({ url: settings.url, ...result })
}

async function asPerson(settings: Settings, flags: Options): Promise<void> {
  const { signInPerson } = await import('../sign-in.ts')
  const { user, sayNext, kept, ...session } = await signInPerson(settings, flags)
  note(`signed in as ${user.email ?? user.id} at ${settings.url}, until ${session.expiresAt}; kept ${kept}`)
  await sayNext()
  if (flags.json) writeJson({ url: settings.url, userId: user.id, email: user.email, ...session })
}

async function withToken(settings: Settings, flags: Options) {
  const token = process.env.SKERRY_TOKEN?.trim() || (await readCredential('Service token'))
  const { bearer, tokenId } = await parseToken(token)
  const { orgs } = await connect(settings, { bearer }).me.get()
  const org = orgs[0]
  if (!org) throw usage('this token belongs to no organization')
  checkOrg(org, flags)
  const name = flags.profile ?? profileName(settings.url, org.slug)
  saveProfile(name, { url: settings.url, org: { id: org.id, slug: org.slug }, token })
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
  const { tokenId } = await parseToken(token)
  note('the new admin token holds no key yet: environments that exist stay closed to it until someone who')
  note(`  can read them runs \`skerry grant --token ${tokenId} --all\``)
  return { profile: name, org: { id: org.id, slug: org.slug }, clientId: id, tokenId }
}
