import { hostname } from 'node:os'
import type { Command } from 'commander'
import { credentialsPath, profileName, saveProfile, updateCredentials } from '../credentials.ts'
import { usage } from '../failure.ts'
import { checkSlug, slugFrom } from '../names.ts'
import { common } from '../options.ts'
import { note, writeJson } from '../output.ts'
import { connect, makeAdminToken } from '../session.ts'
import { type Flags, readSettingsToStore } from '../settings.ts'

export function register(command: Command): void {
  common(command)
    .argument('<organization>', 'its name, for people')
    .option('--slug <slug>', 'its fixed short name; made from the name unless given')
    .addHelpText('after', '\nWith --profile, the credential is stored under that name, which may be new.')
    .action(signup)
}

async function signup(orgName: string, flags: Flags & { slug?: string }): Promise<void> {
  const orgSlug = flags.slug ?? slugFrom(orgName)
  if (orgSlug === undefined) throw usage('no slug can be made from that name', 'add --slug <slug>')
  checkSlug(orgSlug, 'an organization')
  // The organization is new, so the one that the project or the environment names does not matter.
  const settings = { ...readSettingsToStore(flags, false), org: undefined }
  // The client's secret is returned once, so an unwritable file must fail before the request and not after it.
  updateCredentials(() => {})
  const body = { orgName, orgSlug, clientName: `CLI on ${hostname()}`.slice(0, 200) }
  const { org, m2m } = await connect(settings).signup.create({ body })

  // Stored before anything else, because the secret is shown once and the next steps can fail.
  const name = flags.profile ?? profileName(settings.url, org.slug)
  const machine = { id: m2m.clientId, secret: m2m.clientSecret }
  saveProfile(name, { url: settings.url, org: { id: org.id, slug: org.slug }, client: machine })
  const { token } = await makeAdminToken({ ...settings, org: org.id }, { ...machine, keepSecret: true }, name)

  const tokenId = token.slice(0, token.indexOf('_', 'skt_'.length))
  note(`signed up ${org.name} (${org.slug}) at ${settings.url}`)
  note(`credentials: ${credentialsPath()}, readable by you alone; keep a copy of it in a safe place,`)
  note('  because the key in it is the only one until you grant others, and the server has none')
  note('next: `skerry init` in a project folder')
  if (flags.json) {
    writeJson({
      url: settings.url,
      org: { id: org.id, slug: org.slug, name: org.name },
      profile: name,
      clientId: m2m.clientId,
      tokenId,
      credentialsFile: credentialsPath(),
    })
  }
}
