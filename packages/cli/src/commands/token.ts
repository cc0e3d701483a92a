import { createServiceToken } from '@skerry/sdk/tokens'
import { type Command, Option } from 'commander'
import { openDirectory } from '../directory.ts'
import { parseDuration } from '../duration.ts'
import { Failure, toFailure, usage } from '../failure.ts'
import { type InOrg, inOrg, type SignedIn, signedIn, withoutSession } from '../frame.ts'
import { grantAll, type OpenPlace, openWithGroups } from '../grants.ts'
import { heldByIfKnown, hintRekey } from '../holdings.ts'
import { forgetReader } from '../known-readers.ts'
import { placeOptions } from '../labels.ts'
import { type EndLeases, endingLeases, leasesInQuestion, liveLeasesOf, settleLeases } from '../leases/outliving.ts'
import { confirmable, leaf } from '../options.ts'
import { note, type Output, warn, writeLine, writeTable } from '../output.ts'
import { isPinnedAs, pin, renamePin } from '../pins.ts'
import { findPlace, namedPlace } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { findToken, wantedTokenName } from '../tokens/find.ts'
import { registerAgain } from '../tokens/register.ts'

interface CreateOptions extends Flags {
  name: string
  admin?: boolean
  unbound?: boolean
  provisioner?: boolean
  format: 'skerry' | 'classic'
  expires?: string
}

export function register(command: Command): void {
  leaf(command, 'create', 'Make a service token; it is shown once, on stdout')
    .requiredOption('--name <name>', 'what it is for')
    .option('--app <slug>', 'application of the environment that it reads and writes')
    .option('--env <slug>', 'environment that it reads and writes, with its groups')
    .option('--admin', 'it administers the organization; has the environment’s keys only when --env is given')
    .option('--unbound', 'it can be given the keys of other environments, too')
    .option('--provisioner', 'it is for `skerry provisioner`, and reads no environment')
    .addOption(
      new Option(
        '--format <format>',
        'skerry keeps its key at home; classic is for published clients, which send it whole',
      )
        .choices(['skerry', 'classic'])
        .default('skerry'),
    )
    .option('--expires <duration>', 'for example 12h or 30d; never unless given')
    .action(inOrg(create, parseCreate))
  command.addHelpText('after', '\nA token is named by its id, or by a name that only one token has.')
  leaf(command, 'list', 'List tokens, revoked ones too').action(inOrg(list))
  leaf(command, 'show <token>', 'One token').action(signedIn(show))
  leaf(command, 'rename <token> <name>', 'Give a token another name; everything else about it is fixed').action(
    signedIn(rename),
  )
  leaf(command, 'register', 'Register a token again after its organization was restored; it is read from stdin')
    .option('--request', 'print what an admin needs for that, without any server; nothing of it is secret')
    .option('--from <path>', 'what `--request` has printed, instead of the token; - for stdin')
    .action(withoutSession(registerAgain))
  endingLeases(confirmable(leaf(command, 'revoke <token>', 'End a token; its next request is refused'))).action(
    signedIn(revoke),
  )
  endingLeases(confirmable(leaf(command, 'delete <token>', 'Revoke a token and remove it with its grants'))).action(
    signedIn(remove),
  )
}

async function create({
  session,
  flags,
  orgId,
  input: { expiresAt },
}: InOrg<CreateOptions, typeof parseCreate>): Promise<Output> {
  // All keys are opened before the token is created, because a token that lacks one of the keys cannot read the
  // environment.
  const reads = !flags.provisioner && (flags.admin !== true || flags.env !== undefined)
  const place = reads ? await findPlace(session, { ...namedPlace(session, flags), branch: undefined }) : undefined
  const places = place ? await openWithGroups(session, place) : []
  const bound = place !== undefined && !flags.admin && !flags.unbound
  const { token, serviceToken, parsed } = await createServiceToken(session.client, {
    orgId,
    name: flags.name,
    role: flags.admin ? 'admin' : 'member',
    environmentId: bound ? place.envId : null,
    expiresAt: expiresAt?.toISOString() ?? null,
    format: flags.format,
  })
  // The token was made here, so any public key that the server shows for it later is compared with this one.
  pin(session, orgId, { principalId: serviceToken.id, name: flags.name, publicKeyJwk: parsed.publicKeyJwk })
  const problem = await grantTo(session, places, serviceToken.id, parsed.publicKeyJwk)
  const granted = problem ? [] : places.map(({ label }) => label)
  return {
    json: { token, serviceToken, granted },
    text: () => writeLine(token),
    after: () => {
      if (problem) {
        warn('the token exists, but not every key was granted to it')
        throw new Failure(
          problem.kind,
          problem.message,
          `run \`skerry grant --token ${serviceToken.id} ${placeOptions(place!.label)}\``,
        )
      }
      note(`made token ${serviceToken.id}; it is shown this once`)
      note(useOf(granted, flags, serviceToken.id))
      if (flags.format === 'skerry')
        note(
          'it is for skerry and its SDK: a published client would send it whole, key and all, and needs --format classic',
        )
    },
  }
}

function parseCreate(flags: CreateOptions) {
  const expiresAt =
    flags.expires === undefined ? null : new Date(Date.now() + parseDuration(flags.expires, '--expires') * 1000)
  if (flags.provisioner && (flags.admin || flags.unbound || flags.app !== undefined || flags.env !== undefined))
    throw usage('--provisioner excludes --admin, --unbound, --app and --env')
  return { expiresAt }
}

function useOf(granted: string[], { provisioner }: CreateOptions, tokenId: string): string {
  if (granted.length > 0) return `reads and writes ${granted.join(', ')}`
  return provisioner
    ? `name it for targets with \`skerry lease target add --provisioner ${tokenId}\``
    : 'it holds no key: grant it environments with `skerry grant`'
}

async function grantTo(session: Session, places: OpenPlace[], principalId: string, publicKeyJwk: string) {
  try {
    await grantAll(session, places, { principalType: 'service_token', principalId, publicKeyJwk })
  } catch (error) {
    return toFailure(error)
  }
}

async function list({ session, orgId }: InOrg): Promise<Output> {
  const { tokens } = await session.client.tokens.list({ params: { orgId } })
  return {
    json: { tokens },
    text: async () => {
      const nameOf = await openDirectory(
        session,
        tokens.map(({ environmentId }) => environmentId),
      )
      writeTable(
        ['id', 'name', 'role', 'state', 'bound to', 'id', 'last used'],
        tokens.map((one) => [
          one.id,
          one.name,
          one.role,
          stateOf(one),
          nameOf(one.environmentId) ?? '',
          one.environmentId ?? '',
          one.lastUsedAt ?? 'never',
        ]),
      )
    },
  }
}

function stateOf({ revokedAt, expiresAt }: { revokedAt: string | null; expiresAt: string | null }): string {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt === null) return 'active'
  return Date.parse(expiresAt) <= Date.now() ? 'expired' : `until ${expiresAt}`
}

async function show(id: string, { session }: SignedIn): Promise<Output> {
  const token = await findToken(session, id)
  return {
    json: { token },
    text: async () => {
      writeLine(`${token.id} (${token.name})`)
      writeLine(`${token.role}, ${stateOf(token)}, made ${token.createdAt}, last used ${token.lastUsedAt ?? 'never'}`)
      const { environmentId } = token
      if (environmentId === null) return writeLine('not bound to an environment')
      const label = (await openDirectory(session, [environmentId]))(environmentId)
      writeLine(`bound to ${label === undefined ? environmentId : `${label} (${environmentId})`}`)
    },
  }
}

async function rename(id: string, name: string, { session }: SignedIn): Promise<Output> {
  const { orgId, id: tokenId } = await findToken(session, id)
  const { token } = await session.client.tokens.update({ params: { orgId, tokenId }, body: { name } })
  const wantedName = wantedTokenName(id)
  // The server could have shown another token under the old name, and that token must not get the new name.
  const isKnown = wantedName === undefined || isPinnedAs(session, orgId, wantedName, tokenId)
  renamePin(session, orgId, tokenId, isKnown ? name : null)
  note(`token ${token.id} is called ${token.name} now`)
  return { json: { token } }
}

interface EndOptions extends Flags, EndLeases {
  yes?: boolean
}

async function revoke(id: string, { session, flags }: SignedIn<EndOptions>): Promise<Output> {
  const token = await findToken(session, id)
  const leases = leasesInQuestion(await liveLeasesOf(session, token.id), flags)
  await confirmOrRefuse(`revokes token ${token.name} (${token.id})${leases}`, flags)
  await session.client.tokens.revoke({ params: { orgId: token.orgId, tokenId: token.id } })
  forgetToken(session, token)
  note(`revoked token ${token.id}; what it has read, it has read: change values that it must not know`)
  hintRekey(token.id, await heldByIfKnown(session, token.id))
  const live = await settleLeases(session, { id: token.id, label: token.name }, flags)
  return { json: { revoked: token.id, leases: live } }
}

/** Forgets the token under its name, because the server could still show a revoked token under that name. */
function forgetToken(session: Session, { orgId, id }: { orgId: string; id: string }): void {
  forgetReader(session, orgId, id)
  renamePin(session, orgId, id, null)
}

async function remove(id: string, { session, flags }: SignedIn<EndOptions>): Promise<Output> {
  const token = await findToken(session, id)
  const leases = leasesInQuestion(await liveLeasesOf(session, token.id), flags)
  await confirmOrRefuse(`revokes and deletes token ${token.name} (${token.id}) with its grants${leases}`, flags)
  const params = { orgId: token.orgId, tokenId: token.id }
  if (token.revokedAt === null) await session.client.tokens.revoke({ params })
  // Read between the two requests, when the token no longer works and its grants still exist.
  const held = await heldByIfKnown(session, token.id)
  await session.client.tokens.delete({ params })
  forgetToken(session, token)
  note(`deleted token ${token.id}`)
  hintRekey(token.id, held)
  const live = await settleLeases(session, { id: token.id, label: token.name }, flags)
  return { json: { deleted: token.id, leases: live } }
}
