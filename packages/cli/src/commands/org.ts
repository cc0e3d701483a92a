import type { Command } from 'commander'
import { registerExport } from '../export/command.ts'
import { usage } from '../failure.ts'
import { checkSlug, slugFrom } from '../names.ts'
import { leaf } from '../options.ts'
import { note, writeJson, writeLine, writeTable } from '../output.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'

export function register(command: Command): void {
  leaf(command, 'create <name>', 'Create an organization; you become its owner')
    .option('--slug <slug>', 'its fixed short name; made from the name unless given')
    .action(create)
  leaf(command, 'list', 'Organizations that you are in').action(list)
  leaf(command, 'mfa [on|off]', 'Whether every member needs a second factor, or change that')
    .usage('[options] [on|off]')
    .action(mfa)
  leaf(command, 'rename <name>', 'Give the organization another name; its slug stays').action(rename)
  registerExport(command)
}

async function create(name: string, flags: Flags & { slug?: string }): Promise<void> {
  const slug = flags.slug ?? slugFrom(name)
  if (slug === undefined) throw usage('no slug can be made from that name', 'add --slug <slug>')
  checkSlug(slug, 'an organization')
  const session = await openSession(flags)
  const { org } = await session.client.orgs.create({ body: { name, slug } })
  note(`created organization ${org.slug}; commands work there with --org ${org.slug}, or after \`skerry init\``)
  if (flags.json) writeJson({ org })
  else writeLine(org.id)
}

async function list(flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { orgs } = await session.client.orgs.list()
  if (flags.json) return writeJson({ orgs })
  writeTable(
    ['slug', 'name', 'role', 'id'],
    orgs.map(({ slug, name, role, id }) => [slug, name, role, id]),
  )
}

async function rename(name: string, flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const { org } = await session.client.orgs.update({ params: { orgId }, body: { name } })
  note(`${org.slug} is called ${org.name} now`)
  if (flags.json) writeJson({ org })
}

async function mfa(wanted: string | undefined, flags: Flags): Promise<void> {
  if (wanted !== undefined && wanted !== 'on' && wanted !== 'off') throw usage('say on or off, or nothing to be told')
  const session = await openSession(flags)
  const { id: orgId, slug } = await session.org()
  const params = { orgId }
  const { required, configured } =
    wanted === undefined
      ? await session.client.mfaPolicy.get({ params })
      : await session.client.mfaPolicy.update({ params, body: { required: wanted === 'on' } })
  if (flags.json) return writeJson({ required, configured })
  const text = required ? `${slug} asks every member for a second factor` : `${slug} asks nobody for a second factor`
  if (wanted === undefined) writeLine(text)
  else note(`${text} now`)
}
