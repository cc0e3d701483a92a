import { createHoneyToken } from '@skerry/sdk/tokens'
import { type Command, Option } from 'commander'
import { usage } from '../failure.ts'
import { findOne } from '../find-one.ts'
import { checkTokenId } from '../names.ts'
import { confirmable, leaf } from '../options.ts'
import { note, writeJson, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'

interface CreateOptions extends Flags {
  placement?: string
  format: 'skerry' | 'classic'
}

export function register(command: Command): void {
  leaf(command, 'create', 'Make a decoy to plant; it is shown once, on stdout')
    .option('--placement <text>', 'where it will lie')
    .addOption(
      new Option('--format <format>', 'which tokens it looks like').choices(['skerry', 'classic']).default('skerry'),
    )
    .action(create)
  leaf(command, 'list', 'List decoys, with how often and from where they were tried').action(list)
  confirmable(leaf(command, 'rm <decoy>', 'Delete a decoy, named by its id or its placement')).action(remove)
}

async function create(flags: CreateOptions): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const { placement, format } = flags
  if (placement === '') throw usage('--placement takes a few words')
  const { token, honeyToken } = await createHoneyToken(session.client, {
    orgId,
    format,
    ...(placement === undefined ? {} : { placement }),
  })
  if (flags.json) writeJson({ token, honeyToken })
  else writeLine(token)
  note(`made decoy ${honeyToken.id}; it is shown this once, and never works`)
  note('plant it where only someone who looks for secrets finds it; its finder is told nothing unusual')
}

async function list(flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const { honeyTokens } = await session.client.honeyTokens.list({ params: { orgId } })
  if (flags.json) return writeJson({ honeyTokens })
  writeTable(
    ['id', 'token', 'placement', 'trips', 'last', 'from', 'with'],
    honeyTokens.map((one) => [
      one.id,
      one.tokenId,
      one.placement ?? '',
      String(one.tripCount),
      one.lastTripAt ?? 'never',
      one.lastTripIp ?? '',
      one.lastTripUserAgent ?? '',
    ]),
  )
}

async function remove(id: string, flags: Flags & { yes?: boolean }): Promise<void> {
  checkTokenId(id)
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const { honeyTokens } = await session.client.honeyTokens.list({ params: { orgId } })
  const found =
    honeyTokens.find((one) => one.tokenId === id) ??
    findOne(honeyTokens, id, {
      kind: 'honeyToken',
      noun: 'decoy',
      list: 'skerry honey list',
      nameOf: ({ placement }) => placement,
    })
  const where = found.placement === null ? '' : ` (${found.placement})`
  await confirmOrRefuse(`deletes decoy ${found.id}${where} and its count of uses`, flags)
  await session.client.honeyTokens.delete({ params: { orgId, honeyTokenId: found.id } })
  note(`deleted decoy ${found.id}; also remove the text from the place where you planted it`)
  if (flags.json) writeJson({ deleted: found.id })
}
