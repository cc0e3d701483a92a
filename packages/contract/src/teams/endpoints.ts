import { Type } from 'typebox'
import { del, get, patch, post } from '../endpoint.ts'
import { DisplayName, NextCursor, Page, Strict } from '../schema.ts'
import { LostKeys, Team, TeamEnvironment, TeamEnvironmentIds, TeamMember, TeamUserIds } from './schemas.ts'

const One = Strict({ team: Team })
const Lost = Strict({
  lost: Type.Array(LostKeys, {
    description: 'Keys that people have lost with this call, because no other team gives them these keys',
  }),
})

/**
 * Teams say who shall hold which keys. The server cannot give anyone a key: `grants.missing` lists the keys that are still
 * missing, and an admin who holds them grants them with `grants.createMany`.
 */
export const teams = {
  list: get('/v1/orgs/:orgId/teams', {
    summary: 'List teams',
    query: Page,
    responses: { 200: Strict({ teams: Type.Array(Team), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/teams', {
    summary:
      'Create a team: a list of people and a list of environments. Each of the people should get the key of each of the environments. An admin then grants the missing keys (`grants.missing`)',
    body: Strict({ name: DisplayName }),
    responses: { 201: One },
    refuses: ['conflict'],
    audits: ['team.created'],
  }),
  get: get('/v1/orgs/:orgId/teams/:teamId', {
    summary: 'Get a team with its people and environments',
    responses: {
      200: Strict({ team: Team, members: Type.Array(TeamMember), environments: Type.Array(TeamEnvironment) }),
    },
  }),
  update: patch('/v1/orgs/:orgId/teams/:teamId', {
    summary: 'Rename a team',
    body: Strict({ name: DisplayName }),
    responses: { 200: One },
    refuses: ['conflict'],
    audits: ['team.renamed'],
  }),
  delete: del('/v1/orgs/:orgId/teams/:teamId', {
    summary: 'Delete a team. Its people lose the keys that only this team gave them',
    responses: { 200: Lost },
    audits: ['team.deleted'],
  }),
  addMembers: post('/v1/orgs/:orgId/teams/:teamId/members', {
    summary:
      'Add people to a team. If an admin has locked a person out of an environment, this person does not get the key of the environment from the team',
    body: Strict({ userIds: TeamUserIds }),
    responses: { 200: One },
    refuses: ['conflict'],
    audits: ['team.member_added'],
  }),
  removeMember: del('/v1/orgs/:orgId/teams/:teamId/members/:userId', {
    summary: 'Remove a person from a team. The person loses the keys that only this team gave them',
    responses: { 200: Lost },
    audits: ['team.member_removed'],
  }),
  addEnvironments: post('/v1/orgs/:orgId/teams/:teamId/environments', {
    summary: 'Add environments to a team. You cannot add a branch to a team',
    body: Strict({ environmentIds: TeamEnvironmentIds }),
    responses: { 200: One },
    refuses: ['conflict'],
    audits: ['team.environment_added'],
  }),
  removeEnvironment: del('/v1/orgs/:orgId/teams/:teamId/environments/:envId', {
    summary: 'Remove an environment from a team. The team’s people lose the keys that only this team gave them',
    responses: { 200: Lost },
    audits: ['team.environment_removed'],
  }),
}
