import { hostname } from 'node:os'
import { parseToken } from '@skerry/crypto/token'
import type { Command } from 'commander'
import { credentialsPath, profileName, saveProfile, updateCredentials } from '../credentials.ts'
import { hasDesktop, openBrowser } from '../desktop.ts'
import { usage } from '../failure.ts'
import { openOnce } from '../first-run/open-once.ts'
import { emailOf, inviteCommand, inviteOneself } from '../first-run/own-invitation.ts'
import { checkSlug, slugFrom } from '../names.ts'
import { common, explained } from '../options.ts'
import { isTerminal, note, writeJson, writeLine } from '../output.ts'
import { connect, makeAdminToken } from '../session.ts'
import { type Flags, readSettingsToStore, type Settings } from '../settings.ts'

export function register(command: Command): void {
  explained(
    common(command),
    'This machine gets a service token, which gets the keys of the environments that you make with it. --profile stores the token under a name of your choice.',
  )
    .argument('<organization>', 'display name of the organization')
    .option('--slug <slug>', 'short name, which never changes (default: made from the name)')
    .option(
      '--email <address>',
      'your e-mail address: you are invited and can open the dashboard (default: ask on a terminal; a script invites nobody)',
    )
    .option('--no-browser', 'only print the link that signs you in, and do not open it in a browser')
    .action(signup)
}

interface Options extends Flags {
  slug?: string
  email?: string
  browser: boolean
}

async function signup(orgName: string, flags: Options): Promise<void> {
  if (flags.org !== undefined)
    throw usage('--org names an organization that exists', 'choose its short name with --slug')
  const orgSlug = flags.slug ?? slugFrom(orgName)
  if (orgSlug === undefined) throw usage('no slug can be made from that name', 'add --slug <slug>')
  checkSlug(orgSlug, 'an organization')
  // The organization is new, so the one that the project or SKERRY_ORG names does not matter.
  const settings = { ...readSettingsToStore(flags, false), org: undefined }
  // The client's secret is returned once, so an unwritable file must fail before the request and not after it.
  updateCredentials(() => {})
  const email = await emailOf(flags.email, orgName)
  const { org, profile, clientId, token } = await createOrganization(settings, { orgName, orgSlug }, flags.profile)
  note(`signed up ${org.name} (${org.slug}) at ${settings.url}`)
  note(`credentials: ${credentialsPath()}, readable by you alone; keep a copy of it in a safe place,`)
  note('  because the key in it is the only one until you grant others, and the server has none')
  const { bearer, tokenId } = await parseToken(token)
  const client = connect(settings, { bearer })
  const invitation = email === undefined ? null : await inviteOneself(client, org, email)
  const link = invitation?.link ?? null
  const opens = link !== null && opensLink(flags)
  if (link !== null && !flags.json) {
    const what = opens ? 'opening this link in your browser' : 'open this link in a browser'
    note(`${what}; it works once, until the invitation expires:`)
    writeLine(link)
  }
  if (email === undefined) note(`to open it in the dashboard, invite yourself: \`${inviteCommand('<your e-mail>')}\``)
  note('next: `skerry init` in a project folder')
  if (flags.json) {
    const { id, slug, name } = org
    const credentialsFile = credentialsPath()
    writeJson({ url: settings.url, org: { id, slug, name }, profile, clientId, tokenId, invitation, credentialsFile })
  }
  if (opens && !(await openOnce(link, openBrowser))) note('no browser opened the link: open it yourself')
}

/** Only on a terminal: a script that reads the link uses it itself, and the link works once. */
const opensLink = ({ json, browser }: Options): boolean => !json && browser && isTerminal.stdout() && hasDesktop()

/** Stores the credential before anything else, because its secret is shown once and the next steps can fail. */
async function createOrganization(settings: Settings, wanted: { orgName: string; orgSlug: string }, name?: string) {
  const clientName = `CLI on ${hostname()}`.slice(0, 200)
  const { org, m2m } = await connect(settings).signup.create({ body: { ...wanted, clientName } })
  const profile = name ?? profileName(settings.url, org.slug)
  const machine = { id: m2m.clientId, secret: m2m.clientSecret }
  saveProfile(profile, { url: settings.url, org: { id: org.id, slug: org.slug }, client: machine })
  const { token } = await makeAdminToken({ ...settings, org: org.id }, { ...machine, keepSecret: true }, profile)
  return { org, profile, clientId: machine.id, token }
}
