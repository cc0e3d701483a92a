import type { Command } from 'commander'
import { registerExport } from '../export/command.ts'
import { usage } from '../failure.ts'
import { type InOrg, inOrg, type SignedIn, signedIn } from '../frame.ts'
import { checkSlug, slugFrom } from '../names.ts'
import { leaf } from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import type { Flags } from '../settings.ts'

export function register(command: Command): void {
  leaf(command, 'ls', 'List your organizations').action(signedIn(list))
  leaf(command, 'create <name>', 'Create an organization, which you own')
    .option('--slug <slug>', 'short name, which never changes (default: made from the name)')
    .action(signedIn(create, parseCreate))
  leaf(command, 'rename <name>', 'Change the display name of an organization; the slug stays').action(inOrg(rename))
  leaf(command, 'mfa [on|off]', 'Show or change whether members need a second factor')
    .usage('[on|off]')
    .action(inOrg(mfa, checkMfa))
  registerExport(command)
}

async function create(
  name: string,
  { session, input: { slug } }: SignedIn<Flags & { slug?: string }, typeof parseCreate>,
): Promise<Output> {
  const { org } = await session.client.orgs.create({ body: { name, slug } })
  note(`created organization ${org.slug}; commands work there with --org ${org.slug}, or after \`skerry init\``)
  return { json: { org }, text: () => writeLine(org.id) }
}

function parseCreate(flags: Flags & { slug?: string }, name: string) {
  const slug = flags.slug ?? slugFrom(name)
  if (slug === undefined) throw usage('no slug can be made from that name', 'add --slug <slug>')
  checkSlug(slug, 'an organization')
  return { slug }
}

async function list({ session }: SignedIn): Promise<Output> {
  const { orgs } = await session.client.orgs.list()
  return {
    json: { orgs },
    text: () =>
      writeTable(
        ['slug', 'name', 'role', 'id'],
        orgs.map(({ slug, name, role, id }) => [slug, name, role, id]),
        'you are in no organization; create one with `skerry org create <name>`, or see `skerry invite mine`',
      ),
  }
}

async function rename(name: string, { session, orgId }: InOrg): Promise<Output> {
  const { org } = await session.client.orgs.update({ params: { orgId }, body: { name } })
  note(`${org.slug} is called ${org.name} now`)
  return { json: { org } }
}

async function mfa(wanted: string | undefined, { session, orgId, org: { slug } }: InOrg): Promise<Output> {
  const params = { orgId }
  const { required, configured } =
    wanted === undefined
      ? await session.client.mfaPolicy.get({ params })
      : await session.client.mfaPolicy.update({ params, body: { required: wanted === 'on' } })
  return {
    json: { required, configured },
    text: () => {
      const text = required
        ? `${slug} asks every member for a second factor`
        : `${slug} asks nobody for a second factor`
      if (wanted === undefined) writeLine(text)
      else note(`${text} now`)
    },
  }
}

function checkMfa(_flags: Flags, wanted: string | undefined): void {
  if (wanted !== undefined && wanted !== 'on' && wanted !== 'off')
    throw usage(`'${wanted}' is neither on nor off`, 'leave it out to see the setting')
}
