import { teams } from '@skerry/contract/teams/endpoints'
import { route } from '../../http/route.ts'
import { admin, member, unbound } from '../orgs/scope.ts'
import { addEnvironments, removeEnvironment } from './environments.ts'
import { addMembers, removeMember } from './members.ts'
import { team } from './scope.ts'
import { create, get, list, remove, update } from './teams.ts'

export const routes = [
  route(teams.list, unbound(member), list),
  route(teams.create, unbound(admin), create),
  route(teams.get, team(unbound(member)), get, { heavy: 'search' }),
  route(teams.update, team(unbound(admin)), update),
  route(teams.delete, team(unbound(admin)), remove),
  route(teams.addMembers, team(unbound(admin)), addMembers),
  route(teams.removeMember, team(unbound(admin)), removeMember),
  route(teams.addEnvironments, team(unbound(admin)), addEnvironments),
  route(teams.removeEnvironment, team(unbound(admin)), removeEnvironment),
]
