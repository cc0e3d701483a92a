import { createHoneyToken } from '@skerry/sdk/tokens'
import { type Command, Option } from 'commander'
import { usage } from '../failure.ts'
import { findOne } from '../find-one.ts'
import { type InOrg, inOrg } from '../frame.ts'
import { checkTokenId } from '../names.ts'
import { confirmable, leaf } from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Confirmable, Flags } from '../settings.ts'

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
    .action(inOrg(create))
  leaf(command, 'list', 'List decoys, with how often and from where they were tried').action(inOrg(list))
  confirmable(leaf(command, 'rm <decoy>', 'Delete a decoy, named by its id or its placement')).action(
    inOrg(remove, checkRemove),
  )
}

async function create({ session, flags, orgId }: InOrg<CreateOptions>): Promise<Output> {
  const { placement, format } = flags
  if (placement === '') throw usage('--placement takes a few words')
  const { token, honeyToken } = await createHoneyToken(session.client, {
    orgId,
    format,
    ...(placement === undefined ? {} : { placement }),
  })
  return {
    json: { token, honeyToken },
    text: () => writeLine(token),
    after: () => {
      note(`made decoy ${honeyToken.id}; it is shown this once, and never works`)
      note('plant it where only someone who looks for secrets finds it; its finder is told nothing unusual')
    },
  }
}

async function list({ session, orgId }: InOrg): Promise<Output> {
  const { honeyTokens } = await session.client.honeyTokens.list({ params: { orgId } })
  return {
    json: { honeyTokens },
    text: () =>
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
      ),
  }
}

async function remove(id: string, { session, flags, orgId }: InOrg<Confirmable>): Promise<Output> {
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
  return { json: { deleted: found.id } }
}

const checkRemove = (_flags: Confirmable, id: string): void => void checkTokenId(id)
