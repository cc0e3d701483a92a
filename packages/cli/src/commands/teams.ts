import type { Answer } from '@skerry/contract/endpoint'
import { isNamed } from '@skerry/contract/prefixes'
import type { teams } from '@skerry/contract/teams/endpoints'
import type { Command } from 'commander'
import { usage } from '../failure.ts'
import { findTeam } from '../find-team.ts'
import { type InOrg, inOrg } from '../frame.ts'
import { noMember } from '../grants.ts'
import { checkHolder } from '../known-holders.ts'
import { forgetName, noteName, noteNew } from '../known-names.ts'
import { forgetReader } from '../known-readers.ts'
import { checkApps, findPlaces, type Places, wholeApps } from '../many-places.ts'
import { offerToComplete } from '../missing-grants.ts'
import { accepting, confirmable, explained, leaf } from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { ReaderFlags } from '../reader-names.ts'
import { rekeyCommand } from '../rekey-steps.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { count } from '../units.ts'

type Lost = Answer<typeof teams.removeMember>['lost']
type Adding = Flags & ReaderFlags

export function register(command: Command): void {
  explained(
    command,
    'A team lists people and the environments that they should read. A team has no key: an admin who can read the environments grants the keys with `skerry access complete`.',
  )
  leaf(command, 'ls', 'List teams').action(inOrg(list))
  leaf(command, 'create <name>', 'Create a team').action(inOrg(create))
  leaf(command, 'show <team>', 'Show a team, its people and its environments').action(inOrg(show))
  leaf(command, 'rename <team> <name>', 'Rename a team').action(inOrg(rename))
  confirmable(leaf(command, 'rm <team>', 'Delete a team; its people lose the keys that only this team gave')).action(
    inOrg(remove),
  )
  accepting(leaf(command, 'include <team> <members...>', 'Add people to a team')).action(inOrg(include))
  confirmable(
    leaf(
      command,
      'exclude <team> <members...>',
      'Remove people from a team; they lose the keys that only this team gave',
    ),
  ).action(inOrg(exclude))
  withPlaces(
    accepting(leaf(command, 'grant <team> [environments...]', 'Let the people of a team read environments')),
  ).action(inOrg(grant, checkPlaces))
  withPlaces(
    confirmable(leaf(command, 'revoke <team> [environments...]', 'End the access of a team to environments')),
  ).action(inOrg(revoke, checkPlaces))
}

const withPlaces = (command: Command): Command =>
  wholeApps(explained(command, 'Name environments as app/env or group:env, or whole applications with --app.'))

function checkPlaces({ app, env, allButProduction }: Flags & Places, _team: string, environments: string[]): void {
  if (environments.length === 0 && app === undefined && env === undefined)
    throw usage('no environment is named', 'name environments as app/env, or use --app')
  checkApps({ app, env, allButProduction })
}

async function list({ session, orgId }: InOrg): Promise<Output> {
  const { teams } = await session.client.teams.list({ params: { orgId } })
  return {
    json: { teams },
    text: () =>
      writeTable(
        ['name', 'people', 'environments', 'id'],
        teams.map(({ name, members, environments, id }) => [name, String(members), String(environments), id]),
        'no teams yet; create one with `skerry teams create <name>`',
      ),
  }
}

async function create(name: string, { session, orgId }: InOrg): Promise<Output> {
  const { team } = await session.client.teams.create({ params: { orgId }, body: { name } })
  noteNew(session, orgId, { kind: 'team', id: team.id, name })
  note(
    `created the team ${team.name}; add people with \`skerry teams include\` and environments with \`skerry teams grant\``,
  )
  return { json: { team }, text: () => writeLine(team.id) }
}

async function show(wanted: string, { session, orgId }: InOrg): Promise<Output> {
  const { id: teamId } = await findTeam(session, orgId, wanted)
  const detail = await session.client.teams.get({ params: { orgId, teamId } })
  const emails = new Map(detail.members.map(({ userId, email }) => [userId, email ?? userId]))
  return {
    json: detail,
    text: () => {
      writeLine(`${detail.team.name}, ${detail.team.id}`)
      writeTable(
        ['person', 'name', 'id'],
        detail.members.map(({ userId, email, name }) => [email ?? '', name ?? '', userId]),
      )
      writeTable(
        ['environment', 'you can read it', 'waiting', 'locked out'],
        detail.environments.map(({ label, held, missing, lockedOut }) => [
          label,
          held ? 'yes' : 'no',
          // A server of an earlier release does not count the missing keys.
          missing ? count(missing, 'key') : '',
          lockedOut.map((id) => emails.get(id) ?? id).join(', '),
        ]),
      )
    },
  }
}

async function rename(wanted: string, name: string, { session, orgId }: InOrg): Promise<Output> {
  const { id: teamId, name: before } = await findTeam(session, orgId, wanted)
  const { team } = await session.client.teams.update({ params: { orgId, teamId }, body: { name } })
  noteName(session, orgId, { kind: 'team', id: teamId, name })
  note(`renamed the team ${before} to ${team.name}`)
  return { json: { team } }
}

async function remove(wanted: string, { session, flags, orgId }: InOrg<Flags & Confirmable>): Promise<Output> {
  const { id: teamId, name } = await findTeam(session, orgId, wanted)
  await confirmOrRefuse(`deletes the team ${name}; its people lose the keys that only this team gave them`, flags)
  const { lost } = await session.client.teams.delete({ params: { orgId, teamId } })
  forgetName(session, orgId, teamId)
  note(`deleted the team ${name}`)
  noteLost(session, orgId, lost)
  return { json: { deleted: teamId, lost } }
}

async function findMembers(session: Session, orgId: string, wanted: readonly string[]) {
  const { members } = await session.client.orgs.members({ params: { orgId } })
  const people = wanted.map((who) => {
    const found = members.find(({ userId: id, email: name }) => isNamed(who, 'user', { id, name }))
    if (!found) throw noMember(who, members)
    return { who, userId: found.userId, label: found.email ?? found.userId }
  })
  for (const { userId, who } of people) await checkHolder(session, orgId, userId, who)
  return people
}

async function include(wanted: string, who: string[], { session, flags, orgId }: InOrg<Adding>): Promise<Output> {
  const { id: teamId, name } = await findTeam(session, orgId, wanted)
  const people = await findMembers(session, orgId, who)
  const userIds = [...new Set(people.map(({ userId }) => userId))]
  const { team } = await session.client.teams.addMembers({ params: { orgId, teamId }, body: { userIds } })
  note(`${people.map(({ label }) => label).join(', ')} ${people.length === 1 ? 'is' : 'are'} in the team ${name}`)
  await offerToComplete(session, orgId, teamId, flags)
  return { json: { team } }
}

async function exclude(
  wanted: string,
  who: string[],
  { session, flags, orgId }: InOrg<Flags & Confirmable>,
): Promise<Output> {
  const { id: teamId, name } = await findTeam(session, orgId, wanted)
  const people = await findMembers(session, orgId, who)
  const labels = people.map(({ label }) => label).join(', ')
  await confirmOrRefuse(`removes ${labels} from the team ${name}, with the keys that only this team gave`, flags)
  const lost: Lost = []
  for (const { userId, label } of people) {
    lost.push(...(await session.client.teams.removeMember({ params: { orgId, teamId, userId } })).lost)
    note(`removed ${label} from the team ${name}`)
  }
  noteLost(session, orgId, lost)
  return { json: { removed: people.map(({ userId }) => userId), lost } }
}

async function grant(
  wanted: string,
  named: string[],
  { session, flags, orgId }: InOrg<Adding & Places>,
): Promise<Output> {
  const { id: teamId, name } = await findTeam(session, orgId, wanted)
  const places = await findPlaces(session, named, flags)
  const body = { environmentIds: places.map(({ envId }) => envId) }
  const { team } = await session.client.teams.addEnvironments({ params: { orgId, teamId }, body })
  note(`gave ${places.map(({ label }) => label).join(', ')} to the team ${name}`)
  await offerToComplete(session, orgId, teamId, flags)
  return { json: { team } }
}

async function revoke(
  wanted: string,
  named: string[],
  { session, flags, orgId }: InOrg<Flags & Confirmable & Places>,
): Promise<Output> {
  const { id: teamId, name } = await findTeam(session, orgId, wanted)
  const places = await findPlaces(session, named, flags)
  const labels = places.map(({ label }) => label).join(', ')
  await confirmOrRefuse(`takes ${labels} from the team ${name}, with the keys that only this team gave`, flags)
  const lost: Lost = []
  for (const { envId, label } of places) {
    lost.push(...(await session.client.teams.removeEnvironment({ params: { orgId, teamId, envId } })).lost)
    note(`took ${label} from the team ${name}`)
  }
  noteLost(session, orgId, lost)
  return { json: { taken: places.map(({ envId }) => envId), lost } }
}

/** Names the environments to re-key, and forgets that this machine gave their keys to these people. */
function noteLost(session: Session, orgId: string, lost: Lost): void {
  for (const { environmentId, userIds } of lost)
    for (const userId of userIds) forgetReader(session, orgId, userId, environmentId)
  const labels = [...new Set(lost.map(({ label }) => label))]
  if (labels.length === 0) return
  note('people lost access to these environments, and may have kept the keys; re-key each environment:')
  for (const label of labels) note(`  ${rekeyCommand(label, session.settings.profile)}`)
}
