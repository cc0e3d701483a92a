import { createHoneyToken } from '@skerry/sdk/tokens'
import { type Command, Option } from 'commander'
import { Failure, usage } from '../failure.ts'
import { findOne } from '../find-one.ts'
import { type InOrg, inOrg } from '../frame.ts'
import { signedNameOf } from '../known-holders.ts'
import { findPin } from '../known-keys.ts'
import { forgetName, knownNameOf, noteNew } from '../known-names.ts'
import { checkTokenId } from '../names.ts'
import { argumentOr, confirmable, explained, formerly, leaf } from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { shownTime } from '../times.ts'

interface CreateOptions extends Flags {
  placement?: string
  format: 'skerry' | 'classic'
}

export function register(command: Command): void {
  leaf(command, 'ls', 'List decoy tokens, how often each was used, and the last IP address').action(inOrg(list))
  explained(
    formerly(
      leaf(command, 'create [placement]', 'Create a decoy token, which never works and reports each use'),
      '--placement <text>',
    ),
    'It is printed once, to stdout, and never works. The placement says where you put it, for the warning.',
  )
    .addOption(
      new Option('--format <format>', 'kind of token that it looks like')
        .choices(['skerry', 'classic'])
        .default('skerry'),
    )
    .action(inOrg(create, parsePlacement))
  confirmable(leaf(command, 'rm <decoy>', 'Delete a decoy token, named by its placement or id')).action(
    inOrg(remove, checkRemove),
  )
}

function parsePlacement(flags: CreateOptions, placement: string | undefined): string | undefined {
  const given =
    placement === undefined && flags.placement === undefined
      ? undefined
      : argumentOr(placement, flags.placement, 'placement')
  if (given === '') throw usage('the placement is empty', 'write a few words, such as "wiki page of the database"')
  return given
}

async function create(
  _placement: string | undefined,
  { session, flags: { format }, orgId, input: placement }: InOrg<CreateOptions, typeof parsePlacement>,
): Promise<Output> {
  const { token, honeyToken } = await createHoneyToken(session.client, {
    orgId,
    format,
    ...(placement === undefined ? {} : { placement }),
  })
  noteNew(session, orgId, { kind: 'honeyToken', id: honeyToken.id, name: honeyToken.tokenId })
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
          shownTime(one.lastTripAt),
          one.lastTripIp ?? '',
          one.lastTripUserAgent ?? '',
        ]),
        'no decoys yet; create one with `skerry honey create`',
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
      list: 'skerry honey ls',
      nameOf: ({ placement }) => placement,
    })
  const called = await checkDecoy(session, orgId, found, id)
  const where = found.placement === null ? '' : ` (${found.placement})`
  await confirmOrRefuse(`deletes decoy ${found.id}${where}${called} and its count of uses`, flags)
  await session.client.honeyTokens.delete(
    { params: { orgId, honeyTokenId: found.id } },
    { typed: { holderId: found.tokenId } },
  )
  forgetName(session, orgId, found.id)
  note(`deleted decoy ${found.id}; also remove the text from the place where you planted it`)
  return { json: { deleted: found.id } }
}

/**
 * Refuses a decoy whose token is another one than this machine knows. The server could show the token of a program as a decoy,
 * to have its end signed.
 *
 * @returns the words for the question: the name of the token in the signed directory, if it has one.
 */
async function checkDecoy(
  session: Session,
  orgId: string,
  { id, tokenId }: { id: string; tokenId: string },
  wanted: string,
): Promise<string> {
  const known = findPin(session, orgId, tokenId)?.name
  const isOther = knownNameOf(session, orgId, id) !== undefined && knownNameOf(session, orgId, id) !== tokenId
  if (wanted !== tokenId && (isOther || known !== undefined))
    throw new Failure(
      'refused',
      `the server shows the token ${known ?? tokenId} as the decoy ${id}; nothing was changed`,
      `do not trust the server. If ${tokenId} is the decoy, use this id`,
    )
  const signed = await signedNameOf(session, orgId, tokenId)
  return signed === undefined ? '' : `, which the signed directory calls ${signed},`
}

const checkRemove = (_flags: Confirmable, id: string): void => void checkTokenId(id)
