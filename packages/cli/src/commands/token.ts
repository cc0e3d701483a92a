import { createServiceToken } from '@skerry/sdk/tokens'
import { type Command, Option } from 'commander'
import { tellOpenChanges } from '../changes/proposer.ts'
import { findCurrentParent } from '../current-place.ts'
import { openDirectory } from '../directory.ts'
import { parseEnd } from '../duration.ts'
import { Failure, toFailure, usage } from '../failure.ts'
import { checkNew, withNewFile, writeOrTell } from '../files.ts'
import { type InOrg, inOrg, type SignedIn, signedIn, withoutSession } from '../frame.ts'
import { grantAll, type OpenPlace, openWithGroups } from '../grants.ts'
import { heldByIfKnown, heldLabel, hintRekey, listAccess } from '../holdings.ts'
import { mustVerifyIn } from '../known-directories.ts'
import { checkHolder } from '../known-holders.ts'
import { forgetReader } from '../known-readers.ts'
import { placeOptions, shellWord } from '../labels.ts'
import { type EndLeases, endingLeases, leasesInQuestion, liveLeasesOf, settleLeases } from '../leases/outliving.ts'
import { branchesOption, hintOlderBranches, listBranchesOf, openBranches } from '../older-branches.ts'
import { alias, argumentOr, confirmable, explained, formerly, leaf } from '../options.ts'
import { note, type Output, warn, writeLine, writeTable } from '../output.ts'
import { isPinnedAs, pin, renamePin } from '../pins.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { findToken, isLive, listTokens, tokenState, wantedTokenName } from '../tokens/find.ts'
import { openMakers } from '../tokens/made-by.ts'
import { registerAgain } from '../tokens/register.ts'
import { typedHolder } from '../typed-names.ts'

interface CreateOptions extends Flags {
  name?: string
  admin?: boolean
  unbound?: boolean
  provisioner?: boolean
  format: 'skerry' | 'classic'
  expires?: string
  withoutPin?: boolean
  file?: string
  branches?: boolean
}

export function register(command: Command): void {
  command.description('Manage service tokens. A token is named by its name, or by its id if several have the name.')
  leaf(command, 'ls', 'List service tokens, revoked ones too').action(inOrg(list))
  explained(
    alias(
      formerly(leaf(command, 'create [name]', 'Create a service token'), '--name <name>').usage('<name>'),
      '--ttl',
      'expires',
    ),
    'It is printed once, to stdout. Put it in SKERRY_TOKEN, and the address of the server in SKERRY_URL. A token writes what it can read. In a protected environment its writes wait for approval.',
  )
    .option('--app <slug>', 'application of the environment that the token reads and writes')
    .option('--env <slug>', 'environment that the token reads and writes, with its groups')
    .option('--admin', 'the token administers the organization; it reads an environment only with --env')
    .option('--unbound', 'the token may be granted other environments, too')
    .option('--provisioner', 'the token is for `skerry provisioner` and reads no environment')
    .addOption(
      new Option(
        '--format <format>',
        'skerry keeps the key on the client; classic is for programs without skerry or its SDK',
      )
        .choices(['skerry', 'classic'])
        .default('skerry'),
    )
    .option('--expires <when>', 'for example 12h, 30d or 2030-01-31 (default: never)')
    .option('--file <path>', 'write the token to this new file, which only you can read, instead of showing it')
    .option(...branchesOption)
    .option('--without-pin', 'print the token without the pin of the signed directory')
    .action(inOrg(create, parseCreate))
  leaf(command, 'show <token>', 'Show a service token, and the environments that it can read').action(signedIn(show))
  leaf(command, 'rename <token> <name>', 'Change the name of a service token').action(signedIn(rename))
  endingLeases(confirmable(leaf(command, 'revoke <token>', 'Make a service token invalid; the list keeps it'))).action(
    signedIn(revoke),
  )
  endingLeases(confirmable(leaf(command, 'rm <token>', 'Revoke a token and delete it with its grants'))).action(
    signedIn(remove),
  )
  explained(
    leaf(command, 'register', 'Make a token work again after its organization was restored'),
    'The token is read from stdin.',
  )
    .option('--request', 'print what an admin needs to register the token, without a server; it contains no secret')
    .option('--from <path>', 'file with the output of `--request`, to use instead of the token; use - for stdin')
    .action(withoutSession(registerAgain))
}

async function create(
  _name: string | undefined,
  { session, flags, orgId, input: { name, expiresAt } }: InOrg<CreateOptions, typeof parseCreate>,
): Promise<Output> {
  // All keys are opened before the token is created, because a token that lacks one of the keys cannot read the
  // environment.
  const reads = !flags.provisioner && (flags.admin !== true || flags.env !== undefined)
  const place = reads ? await findCurrentParent(session, flags) : undefined
  const branches = await listBranchesOf(session, place)
  const places = [
    ...(place ? await openWithGroups(session, place) : []),
    ...(flags.branches ? await openBranches(session, orgId, branches) : []),
  ]
  const bound = place !== undefined && !flags.admin && !flags.unbound
  await warnOfNamesake(session, name)
  const { serviceToken, token, problem } = await withNewFile(flags.file, async (write) => {
    const made = await createServiceToken(session.client, {
      orgId,
      name,
      role: flags.admin ? 'admin' : 'member',
      environmentId: bound ? place.envId : null,
      expiresAt: expiresAt?.toISOString() ?? null,
      format: flags.format,
    })
    const { serviceToken, parsed } = made
    // The token was made here, so any public key that the server shows for it later is compared with this one.
    pin(session, orgId, { principalId: serviceToken.id, name, publicKeyJwk: parsed.publicKeyJwk })
    const problem = await grantTo(session, places, serviceToken.id, parsed.publicKeyJwk)
    const token = await pinnedToken(session, orgId, made.token, { bound: bound ? place : undefined, flags })
    // A token that was not written is still valid.
    const { id } = serviceToken
    writeOrTell(
      () => write(`${token}\n`),
      `the token ${id} exists, and is lost`,
      `run \`skerry token revoke ${shellWord(id)}\``,
    )
    return { serviceToken, token, problem }
  })
  const granted = problem ? [] : places.map(({ label }) => label)
  return {
    json: { ...(flags.file === undefined ? { token } : { tokenFile: flags.file }), serviceToken, granted },
    text: () => (flags.file === undefined ? writeLine(token) : undefined),
    after: () => {
      if (problem) {
        warn('the token exists, but not every key was granted to it')
        throw new Failure(
          problem.kind,
          problem.message,
          `run \`skerry grant ${serviceToken.id} ${placeOptions(place!.label)}\``,
        )
      }
      // The name could be one that a shell takes apart, or the address of a member.
      const holder = /^[\w.-]+$/.test(name) ? name : serviceToken.id
      noteMade(name, serviceToken.id, flags)
      note(useOf(granted, flags, holder))
      hintOlderBranches(
        branches.filter(({ label }) => !granted.includes(label)),
        holder,
      )
      if (flags.format === 'skerry')
        note(
          'use this token only with skerry and its SDK: another program would send the private key with it, so the server refuses the request. For such a program, make a token with --format classic, whose key the server can see',
        )
      if (granted.length > 0) note(`for a program: set SKERRY_TOKEN to it, and SKERRY_URL to ${session.settings.url}`)
    },
  }
}

function noteMade(name: string, id: string, { admin, file }: CreateOptions): void {
  const where = file === undefined ? 'it is shown only once' : `it is in ${file}, and shown nowhere else`
  note(`created ${admin ? 'admin ' : ''}token ${name} (${id}); ${where}`)
  if (admin) note('administers the organization: members, tokens, leases and protection')
}

/** The token with the pin, and with the environment that it is bound to. Without a directory it has no pin. */
async function pinnedToken(
  session: Session,
  orgId: string,
  token: string,
  {
    bound,
    flags: { format, withoutPin },
  }: { bound: { kind: string; label: string } | undefined; flags: CreateOptions },
): Promise<string> {
  if (withoutPin || format === 'classic' || !mustVerifyIn(session, orgId)) return token
  const { withPin } = await import('../trust/pinned.ts')
  return withPin(session, orgId, token, bound?.kind === 'app' ? bound.label : null)
}

/** Commands refuse a name that several tokens have. */
async function warnOfNamesake(session: Session, name: string): Promise<void> {
  const tokens = await listTokens(session).catch(() => [])
  if (tokens.some((one) => one.name === name && one.revokedAt === null))
    warn(`another token is called ${name}, too; name this one by its id, or rename it with \`skerry token rename\``)
}

function parseCreate(flags: CreateOptions, argument: string | undefined) {
  const name = argumentOr(argument, flags.name, 'name of the token')
  const expiresAt =
    flags.expires === undefined ? null : new Date(Date.now() + parseEnd(flags.expires, '--expires') * 1000)
  checkNew(flags.file)
  if (flags.branches && (flags.provisioner || (flags.admin && flags.env === undefined)))
    throw usage('--branches needs an environment that the token reads', 'name it with --env')
  if (flags.provisioner && (flags.admin || flags.unbound || flags.app !== undefined || flags.env !== undefined))
    throw usage('--provisioner cannot be used with --admin, --unbound, --app or --env')
  return { name, expiresAt }
}

function useOf(granted: string[], { provisioner }: CreateOptions, token: string): string {
  if (granted.length > 0) return `reads and writes ${granted.join(', ')}`
  return provisioner
    ? `use it with \`skerry lease target create --provisioner ${token}\``
    : `it has no key yet: grant it an environment with \`skerry grant ${token}\``
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
      const makerOf = await openMakers(
        session,
        tokens.map(({ createdById }) => createdById),
      )
      writeTable(
        ['name', 'role', 'state', 'bound to', 'last used', 'made by', 'id'],
        tokens.map((one) => [
          one.name,
          one.role,
          tokenState(one),
          nameOf(one.environmentId) ?? one.environmentId ?? '',
          shownTime(one.lastUsedAt),
          makerOf(one.createdById),
          one.id,
        ]),
        'no tokens yet; create one with `skerry token create <name>`',
      )
    },
  }
}

async function show(id: string, { session }: SignedIn): Promise<Output> {
  const token = await findToken(session, id)
  const access = (await listAccess(session, token.orgId, { branches: true })).filter(
    ({ principalId }) => principalId === token.id,
  )
  return {
    json: { token, access },
    text: async () => {
      writeLine(`${token.id} (${token.name})`)
      writeLine(
        `${token.role}, ${tokenState(token)}, created ${shownTime(token.createdAt)}, last used ${shownTime(token.lastUsedAt)}`,
      )
      const maker = (await openMakers(session, [token.createdById]))(token.createdById)
      if (maker !== '') writeLine(`made by ${maker}`)
      writeLine(await boundTo(session, token.environmentId))
      const isRead = isLive(token)
      const labels = access.map((one) => (isRead ? heldLabel(one) : one.label)).sort()
      if (labels.length === 0) writeLine('can read no environment')
      else writeLine(`${isRead ? 'can read' : 'had the key of'} ${labels.join(', ')}`)
    },
  }
}

async function boundTo(session: Session, environmentId: string | null): Promise<string> {
  if (environmentId === null) return 'not bound to an environment'
  const label = (await openDirectory(session, [environmentId]))(environmentId)
  return `bound to ${label ?? environmentId}`
}

async function rename(id: string, name: string, { session }: SignedIn): Promise<Output> {
  const { orgId, id: tokenId } = await findToken(session, id)
  await checkHolder(session, orgId, tokenId, id)
  const { token } = await session.client.tokens.update({ params: { orgId, tokenId }, body: { name } }, typedHolder(id))
  const wantedName = wantedTokenName(id)
  // To a machine that knows neither, the server could have shown another token under the old name.
  const isKnown = wantedName === undefined || isPinnedAs(session, orgId, wantedName, tokenId)
  renamePin(session, orgId, tokenId, isKnown ? name : null)
  note(`renamed the token to ${token.name}`)
  return { json: { token } }
}

interface EndOptions extends Flags, EndLeases {
  yes?: boolean
}

async function revoke(id: string, { session, flags }: SignedIn<EndOptions>): Promise<Output> {
  const token = await findToken(session, id)
  await checkHolder(session, token.orgId, token.id, id)
  const leases = leasesInQuestion(await liveLeasesOf(session, token.id), flags)
  await confirmOrRefuse(`revokes token ${token.name}${leases}. Every program that uses it loses access`, flags)
  await session.client.tokens.revoke({ params: { orgId: token.orgId, tokenId: token.id } }, typedHolder(id))
  forgetToken(session, token)
  note(`revoked token ${token.name}; its holder may have kept values that it read`)
  hintRekey(session, token.name, await heldByIfKnown(session, token.id))
  const changes = await tellOpenChanges(session, { id: token.id, label: token.name })
  const live = await settleLeases(session, { id: token.id, label: token.name }, flags)
  return { json: { revoked: token.id, leases: live, changes } }
}

/** Forgets the token under its name, because the server could still show a revoked token under that name. */
function forgetToken(session: Session, { orgId, id }: { orgId: string; id: string }): void {
  forgetReader(session, orgId, id)
  renamePin(session, orgId, id, null)
}

async function remove(id: string, { session, flags }: SignedIn<EndOptions>): Promise<Output> {
  const token = await findToken(session, id)
  await checkHolder(session, token.orgId, token.id, id)
  const leases = leasesInQuestion(await liveLeasesOf(session, token.id), flags)
  await confirmOrRefuse(
    `revokes and deletes token ${token.name} with its grants${leases}. Every program that uses it loses access`,
    flags,
  )
  const params = { orgId: token.orgId, tokenId: token.id }
  if (token.revokedAt === null) await session.client.tokens.revoke({ params }, typedHolder(id))
  // Read between the two requests, when the token no longer works and its grants still exist.
  const holdings = await heldByIfKnown(session, token.id)
  await session.client.tokens.delete({ params }, typedHolder(id))
  forgetToken(session, token)
  note(`deleted token ${token.name}`)
  hintRekey(session, token.name, holdings)
  const changes = await tellOpenChanges(session, { id: token.id, label: token.name })
  const live = await settleLeases(session, { id: token.id, label: token.name }, flags)
  return { json: { deleted: token.id, leases: live, changes } }
}
