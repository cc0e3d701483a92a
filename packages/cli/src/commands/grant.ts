import type { Command } from 'commander'
import { openDirectory, principalIdOf } from '../directory.ts'
import { Failure, usage } from '../failure.ts'
import { type AtPlace, atPlace, type SignedIn, signedIn, withOptionsAbove } from '../frame.ts'
import { everyOpenPlace, grantAll, lookUpGrantee, type OpenPlace, openWithGroups } from '../grants.ts'
import { forgetReader } from '../known-readers.ts'
import { accepting, addressed, common, confirmable, leaf } from '../options.ts'
import { note, type Output, writeTable } from '../output.ts'
import { findPlace, namedPlace } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { acceptGrantees, type ReaderFlags } from '../readers.ts'
import type { Confirmable, Flags } from '../settings.ts'

interface Options extends Flags, ReaderFlags {
  token?: string
  user?: string
  all?: boolean
  yes?: boolean
}

export function register(command: Command): void {
  accepting(confirmable(addressed(common(command))))
    .option('--token <id or name>', 'to this service token')
    .option('--user <id or e-mail>', 'to this member')
    .option('--all', 'every environment that this credential can read')
    .action(signedIn(grant, checkGrant))
  addressed(leaf(command, 'list', 'Who holds the key of an environment')).action(withOptionsAbove(atPlace(list)))
  confirmable(
    addressed(leaf(command, 'revoke <grant>', 'Revoke a key grant, by its id or its holder’s id, name or e-mail')),
  ).action(withOptionsAbove(atPlace(revoke)))
}

async function grant({ session, flags }: SignedIn<Options>): Promise<Output> {
  const { name, wantedName, ...grantee } = await lookUpGrantee(session, flags)
  const places = flags.all
    ? await everyOpenPlace(session)
    : await openWithGroups(session, await findPlace(session, namedPlace(session, flags)))
  if (places.length === 0) throw new Failure('refused', 'this credential holds no key, so it can grant none')
  const grantees = [{ ...grantee, name, wantedName }]
  const keep = await acceptGrantees(session, { what: keysOf(places), grantees }, flags)
  if (flags.all) {
    // The user has not named these environments, so the question names them.
    await confirmOrRefuse(`grants ${places.map(({ label }) => label).join(', ')} to ${grantee.principalId}`, flags)
  }
  keep()
  const { granted, held } = await grantAll(session, places, grantee)
  for (const label of granted) note(`granted ${label} to ${grantee.principalId}`)
  for (const label of held) note(`${grantee.principalId} holds ${label} already`)
  return { json: { grantee: grantee.principalId, granted, alreadyHeld: held } }
}

function checkGrant(flags: Options): void {
  if ((flags.token === undefined) === (flags.user === undefined)) {
    throw usage('name the person or token that gets the key', 'use --token <id or name> or --user <id or e-mail>')
  }
}

const keysOf = (places: readonly OpenPlace[]): string =>
  places.length === 1 ? `the key of ${places[0]!.label}` : `the keys of ${places.length} environments`

async function list({ session, place: { orgId, envId, label } }: AtPlace): Promise<Output> {
  const { grants } = await session.client.grants.list({ params: { orgId, envId } })
  // The wrapped key is left out, because only its holder can use it.
  const rows = grants.map(({ id, principalType, principalId, createdAt }) => ({
    id,
    principalType,
    principalId,
    createdAt,
  }))
  return {
    json: { environment: { id: envId, label }, grants: rows },
    text: async () => {
      const nameOf = await openDirectory(
        session,
        rows.map(({ principalId }) => principalId),
      )
      writeTable(
        ['grant', 'type', 'holder', 'id', 'since'],
        rows.map((row) => [row.id, row.principalType, nameOf(row.principalId) ?? '', row.principalId, row.createdAt]),
      )
    },
  }
}

async function revoke(
  wanted: string,
  { session, flags, place: { orgId, envId, label } }: AtPlace<Confirmable>,
): Promise<Output> {
  const { grants } = await session.client.grants.list({ params: { orgId, envId } })
  const isId = /^[a-z0-9]{2,3}_[0-9A-Za-z]{22}$/.test(wanted)
  const holderId = isId ? wanted : await principalIdOf(session, wanted, 'the holder')
  const found = grants.find(({ id, principalId }) => id === wanted || principalId === holderId)
  if (!found) throw new Failure('notFound', `${label} has no grant of ${wanted}`, 'see `skerry grant list`')
  await confirmOrRefuse(`takes the key of ${label} from ${found.principalId}`, flags)
  await session.client.grants.delete({ params: { orgId, envId, grantId: found.id } })
  forgetReader(session, orgId, found.principalId, envId)
  note(`${found.principalId} no longer gets the key of ${label}; change values that it must not know from now on`)
  return { json: { revoked: found.id } }
}
